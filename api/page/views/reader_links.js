/** What a document is, and where else it can be read. */

import { fill, h } from "../dom.js";
import { originalAddress } from "../text/addresses.js";
import { omissionsOf } from "../text/omissions.js";
import { partOf } from "../text/places.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../state/document.js").Content} Content */

/** Make the line that says it. @param {import("../state/app.js").App} app */
export function readerLinks(app) {
  const element = h("p", { class: "about", hidden: true });
  return {
    element,

    /** @param {Content} content @param {number} segment The one that is looked at. */
    show({ document: { document_id: id, page_count: pages, media_type, url, left_out }, raw: { segments } }, segment) {
      const size = [
        pages ? words.reader[`${partOf(media_type)}s`](pages, number(pages)) : "",
        words.reader.segments(segments.length, number(segments.length)),
      ];
      const original = originalAddress(url, app.client.home);
      // The browser sends no key with a link.
      const own = app.key.value === "" && app.client.url(`documents/${id}#segment-${segment}`).href;
      fill(
        element,
        h("span", null, size.filter(Boolean).join(" · ")),
        original && link(original, words.reader.original),
        own && link(own, words.reader.tab),
        omissionsOf(left_out).map((omission) => h("span", { class: "omission" }, omission)),
      );
      element.hidden = false;
    },

    hide() {
      element.hidden = true;
    },
  };
}

/** @param {string} href @param {string} name */
function link(href, name) {
  return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, name, icon("out"));
}
