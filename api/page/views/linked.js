/** What a signed link opens: its document in the viewer, for whoever has the link and needs no credentials for it. */

import { Client } from "../api/client.js";
import { Problem } from "../api/problem.js";
import { h } from "../dom.js";
import { Cell } from "../state/cell.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { reader } from "./reader.js";

/** Show it. @param {URL} home The link, below which all is read. */
export async function linked(home) {
  addEventListener("hashchange", () => location.reload());
  const client = new Client(home, () => "");
  const place = h("main", { class: "linked" });
  document.body.append(place);
  try {
    const { document_id: documentId, title, segment_index: segment, start, end, quote } = await client.json("api/link");
    document.title = `${title} · ${words.page.name}`;
    place.append(h("h1", { class: "seen-by-readers-only" }, words.page.name));
    const reading = new Cell(/** @type {Reading | null} */ (null));
    reader({ client, reading, read: (next) => reading.set(next), pressed: () => null, refused: () => undefined, ask: null, page: null }, place);
    // A quote that is no longer there has a checksum that no text has.
    const check = quote === null ? -1 : null;
    reading.set({ documentId, title, citations: [], at: 0, linked: { documentId, start, end, check, segment } });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const gone = error.status === 404;
    place.append(h("div", { class: "shut" },
      h("h1", null, gone ? words.viewer.shut : said(error)),
      h("p", null, gone ? words.viewer.shutWhy : error.suggestion),
    ));
  }
}
