/** What is to be said of a document though it is in the library: that it was there, or that another is like it. */

import { orNull } from "../api/problem.js";

/** `same`: it was there with these very bytes, by the name of now or, where it was another, `renamed`. `twin`: another
 * of its name has another text, `alike`: one of another name much the same. `site`: how many pages came of it.
 * @typedef {{kind: "same" | "renamed"} | {kind: "twin" | "alike", title: string, documentId: string}
 *   | {kind: "site", count: number} | {kind: "warning" | "left", said: string[]}} Note */

const NAMES_AT_A_TIME = 50;

/** Tell whether something of it is to be read: what of a file is not in its text stands with the document. @param {import("./incoming.js").Item} item */
export function isNotable({ problem, notes }) {
  return problem !== null || notes.some(({ kind }) => kind !== "left");
}

/** Say what the server has noticed. @param {Wire.Ingested} ingested */
export function describedBy({ status, left_out, warnings, similar_to }) {
  /** @type {Note[]} */
  const notes = [];
  if (status === "unchanged") notes.push({ kind: "same" });
  if (status === "updated") notes.push({ kind: "renamed" });
  if (warnings?.length) notes.push({ kind: "warning", said: warnings });
  if (left_out?.length) notes.push({ kind: "left", said: left_out });
  const [alike] = similar_to ?? [];
  if (alike) notes.push({ kind: "alike", title: alike.title, documentId: alike.document_id });
  return notes;
}

/**
 * Find documents that have the name of files which came in, in the same folder, and other content.
 * @param {Client} client
 * @param {import("./incoming.js").Item[]} items
 * @returns {Promise<Map<number, Note>>} By the item that each is like.
 */
export async function twinsOf(client, items) {
  /** @type {Map<number, Note>} */
  const found = new Map();
  const files = items.filter(({ parcel }) => parcel?.kind === "file");
  for (let at = 0; at < files.length; at += NAMES_AT_A_TIME) {
    const some = files.slice(at, at + NAMES_AT_A_TIME);
    const name = [...new Set(some.map((item) => nameOf(item)))];
    const { documents } = (await orNull(client.documents({ name, lasting: true, limit: 200 }))) ?? { documents: [] };
    for (const item of some) {
      const twin = documents.find((each) => each.document_id !== item.documentId && pathOf(each) === item.name);
      if (twin) found.set(item.id, { kind: "twin", title: twin.title, documentId: twin.document_id });
    }
  }
  return found;
}

/** @param {{name: string}} item */
function nameOf({ name }) {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** @param {{folder: string, file_name: string}} document */
function pathOf({ folder, file_name }) {
  return folder ? `${folder}/${file_name}` : file_name;
}
