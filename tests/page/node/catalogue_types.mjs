/** Writes the types of the page's words from the English catalogues: their keys, and the places of each message. */

import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

import { parsed } from "../../../api/page/words/messages.js";

const WORDS = new URL("../../../api/page/words/", import.meta.url);
const HEAD = "/** The words of the page by their keys, made from the English ones by `make page`. */\n";
export const FOLDERS = [WORDS, new URL("embed/", WORDS)];

/** Give the module of types for the catalogue of a folder. @param {URL} folder */
export async function typesOf(folder) {
  const english = JSON.parse(await readFile(new URL("en.json", folder), "utf8"));
  return `${HEAD}export interface Words ${typed(english)}\n`;
}

function typed(part, indent = "") {
  if (typeof part === "string") return typedMessage(part);
  const keys = Object.entries(part).map(([key, value]) => {
    const name = /^\w+$/.test(key) ? key : JSON.stringify(key);
    return `${indent}  ${name}: ${typed(value, `${indent}  `)};\n`;
  });
  return `{\n${keys.join("")}${indent}}`;
}

function typedMessage(text) {
  const places = new Map();
  placed(parsed(text), places);
  const types = [...places].map(([name, isNumber]) => `${name}: ${isNumber ? "number" : "string | number"}`);
  return types.length ? `(values: { ${types.join("; ")} }) => string` : "string";
}

/** Gather the places of a message; one that has forms is a number. @param {Map<string, boolean>} places */
export function placed(message, places) {
  for (const { name, kind, forms } of message.filter((part) => typeof part !== "string")) {
    places.set(name, Boolean(kind) || places.get(name) === true);
    for (const form of forms.values()) placed(form, places);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const folder of FOLDERS) await writeFile(new URL("catalogue.d.ts", folder), await typesOf(folder));
}
