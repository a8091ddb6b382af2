import assert from "node:assert/strict";
import { test } from "node:test";

import { ar } from "../../../api/page/words/ar.js";
import { en } from "../../../api/page/words/en.js";
import { vi } from "../../../api/page/words/vi.js";
import { zh } from "../../../api/page/words/zh.js";

const OTHERS = { vi, zh, ar };
const NAMES = /^page\.name$|^shelf\.formats\./; // the same everywhere
const BY_CODE = /^problems\./; // English has those alone that it says better than the server; a test in Python counts the others
const GIVEN = [7, 11, 13]; // numbers that no text holds by itself

/** List the texts of a language by their paths, however deep. */
function* textsOf(part, path = "") {
  for (const [name, value] of Object.entries(part)) {
    const at = path ? `${path}.${name}` : name;
    if (value !== null && typeof value === "object") yield* textsOf(value, at);
    else yield [at, value];
  }
}

const ENGLISH = new Map(textsOf(en));
const LIST = GIVEN.map(String);
const ARGUMENTS = [GIVEN, LIST, [LIST, LIST, LIST]];

/** Say a text; one that takes something is given numbers, words or lists, whichever it takes in English. */
function said(value, path) {
  if (typeof value !== "function") return value;
  const taken = ARGUMENTS.find((each) => {
    try {
      return ENGLISH.get(path)(...each) !== undefined;
    } catch {
      return false;
    }
  });
  return value(...taken);
}

const given = (text) => GIVEN.filter((number) => String(text).includes(String(number)));

for (const [language, table] of Object.entries(OTHERS)) {
  const texts = new Map(textsOf(table));

  test(`${language} says all that English says, and nothing more`, () => {
    const all = (keys) => [...keys].filter((path) => !BY_CODE.test(path)).sort();
    assert.deepEqual(all(texts.keys()), all(ENGLISH.keys()));
  });

  test(`${language} says each with what it is given`, () => {
    for (const [path, value] of texts) {
      if (BY_CODE.test(path)) continue;
      const english = ENGLISH.get(path);
      assert.equal(typeof value, typeof english, path);
      const [text, original] = [said(value, path), said(english, path)];
      assert.equal(typeof text, typeof original, path);
      if (typeof text !== "string") continue;
      assert.notEqual(text.trim(), "", path);
      assert.equal(text, text.normalize("NFC"), path);
      assert.deepEqual(given(text), given(original), path);
      assert.doesNotMatch(text, /undefined|null|NaN|\[object/, path);
    }
  });

  test(`${language} is another language`, () => {
    const alike = [...texts].filter(([path]) => !BY_CODE.test(path)).filter(([path, value]) => /\p{L}{4}/u.test(said(value, path)) && said(value, path) === said(ENGLISH.get(path), path));
    assert.deepEqual(alike.map(([path]) => path).filter((path) => !NAMES.test(path)), []);
  });
}
