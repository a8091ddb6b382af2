/** What is taken along: a session, an answer or a note as a file, shared, printed. */

import { h } from "../dom.js";
import { language, words } from "../words/index.js";
import { later } from "./later.js";
import { menuButton } from "./menu.js";

/** @typedef {"md" | "docx" | "html"} Format */

const FREED_MS = 60_000; // until then the browser has begun to write the file

/** Fetch what a path exports in a format, in the reader's language, and hand it to the browser to save.
 * @param {App} app @param {string} path @param {Format} format @param {URLSearchParams} [asked] */
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

/**
 * Make the button of the menu.
 * @param {App} app
 * @param {string} label
 * @param {() => string | null} answerId Names the answer; nothing for the session as a whole.
 */
export function takeMenu(app, label, answerId) {
  const { conversation } = app;
  const said = words.along;

  /** @param {Format} format */
  function save(format) {
    const asked = new URLSearchParams();
    const answer = answerId();
    const last = conversation.turns.value.findLast((turn) => turn.answerId)?.answerId;
    if (answer) asked.set("message", answer);
    else if (last && conversation.aside.value) asked.set("through", last);
    void saveFile(app, `api/sessions/${conversation.session.value?.session_id}/export`, format, asked);
  }

  function share() {
    const { value: session } = conversation.session;
    if (session) void later(app, () => import("./sharing.js"), (sharing) => sharing.share(app, session.session_id, answerId()));
  }

  return menuButton(label, "take", () => [
    ...savingActions(save),
    { text: said.share, icon: "out", act: share },
    ...(answerId() ? [] : [{ text: said.print, icon: /** @type {const} */ ("print"), act: () => print() }]),
  ]);
}

/** Name the formats of files, each to be saved by a press. @param {(format: Format) => void} save */
export function savingActions(save) {
  return /** @type {const} */ (["md", "docx", "html"]).map((format) => (
    { text: words.along[format], icon: /** @type {const} */ ("page"), act: () => save(format) }));
}

/** Make the menu of the session on show, which is there once it has an answer. @param {App} app */
export function sessionMenu(app) {
  const menu = takeMenu(app, words.along.session, () => null);
  app.conversation.turns.watch((turns) => (menu.hidden = !turns.some((turn) => turn.answerId)));
  return menu;
}
