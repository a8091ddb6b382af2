/** Saving as a file what the server gives. It is fetched, not linked to, since a link sends no key. */

import { h } from "../dom.js";
import { language } from "../words/index.js";

/** @typedef {"md" | "docx" | "html"} Format */

const FREED_MS = 60_000; // until then the browser has begun to write the file

/**
 * Fetch what a path exports in a format, in the reader's language, and hand it to the browser to save.
 * @param {App} app
 * @param {string} path
 * @param {Format} format
 * @param {URLSearchParams} [asked]
 */
export async function saveFile(app, path, format, asked = new URLSearchParams()) {
  await app.attempt(async () => {
    asked.set("format", format);
    asked.set("language", language);
    const response = await app.client.send(`${path}?${asked}`);
    await keep(response, nameOf(response.headers.get("Content-Disposition")) || `citewell.${format}`);
  });
}

/** Hand what was fetched to the browser to save. @param {Response} response @param {string} name */
export async function keep(response, name) {
  const address = URL.createObjectURL(await response.blob());
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), FREED_MS);
}

/** Read the name of a file that a server sends, in any script. @param {string | null} header */
function nameOf(header) {
  const [, encoded = ""] = /filename\*=UTF-8''([^;]+)/i.exec(header ?? "") ?? [];
  try {
    return decodeURIComponent(encoded);
  } catch {
    return "";
  }
}
