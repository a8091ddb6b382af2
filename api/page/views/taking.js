/** Saving a session or an answer as a file, in the reader's language. */

import { h } from "../dom.js";
import { language } from "../words/index.js";

const FREED_MS = 60_000; // until then the browser has begun to write the file

/**
 * Fetch a file and hand it to the browser to save. It is fetched, not linked to, since a link sends no key.
 * @param {App} app
 * @param {string} sessionId
 * @param {"md" | "docx" | "html"} format
 * @param {string | null} answerId
 */
export async function save(app, sessionId, format, answerId) {
  const asked = new URLSearchParams();
  const last = app.conversation.turns.value.findLast((turn) => turn.answerId)?.answerId;
  if (answerId) asked.set("message", answerId);
  else if (last && app.conversation.aside.value) asked.set("through", last);
  await saveFile(app, `api/sessions/${sessionId}/export`, format, asked);
}

/**
 * Fetch what a path exports in a format, in the reader's language, and hand it to the browser to save.
 * @param {App} app
 * @param {string} path
 * @param {"md" | "docx" | "html"} format
 * @param {URLSearchParams} [asked]
 */
export async function saveFile(app, path, format, asked = new URLSearchParams()) {
  await app.attempt(async () => {
    asked.set("format", format);
    asked.set("language", language);
    const response = await app.client.send(`${path}?${asked}`);
    const address = URL.createObjectURL(await response.blob());
    h("a", { href: address, download: nameOf(response.headers.get("Content-Disposition"), format) }).click();
    setTimeout(() => URL.revokeObjectURL(address), FREED_MS);
  });
}

/** Read the name of a file that a server sends, in any script. @param {string | null} header @param {string} format */
function nameOf(header, format) {
  const [, encoded = ""] = /filename\*=UTF-8''([^;]+)/i.exec(header ?? "") ?? [];
  try {
    return decodeURIComponent(encoded) || `citewell.${format}`;
  } catch {
    return `citewell.${format}`;
  }
}
