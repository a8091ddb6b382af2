/** The catalogues of words: every language says all that English says, of the same, and in the syntax that is read. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { parsed, spoken } from "../../../api/page/words/messages.js";
import { FOLDERS, placed, typesOf } from "./catalogue_types.mjs";

const NAMES = /^page\.name$|^shelf\.formats\./; // the same everywhere
const BY_CODE = /^(?:problems|suggestions)\./; // English has those alone that it says better than the server; a test in Python counts the others

/** List the messages of a catalogue by their paths, however deep. */
function* messagesOf(part, path = "") {
  for (const [name, value] of Object.entries(part)) {
    const at = path ? `${path}.${name}` : name;
    if (typeof value === "string") yield [at, value];
    else yield* messagesOf(value, at);
  }
}

async function catalogueOf(folder, language) {
  const catalogue = JSON.parse(await readFile(new URL(`${language}.json`, folder), "utf8"));
  return new Map([...messagesOf(catalogue)].filter(([path]) => !BY_CODE.test(path)));
}

const placesOf = (message) => {
  const places = new Map();
  placed(parsed(message), places);
  return [...places.keys()].sort();
};

/** Give the forms of a message, however deep, with the kind of each. */
function* formsOf(message) {
  for (const { kind, forms } of message.filter((part) => typeof part !== "string")) {
    for (const [name, form] of forms) {
      yield [kind, name];
      yield* formsOf(form);
    }
  }
}

for (const folder of FOLDERS) {
  for (const language of ["en", "vi", "zh", "ar"]) {
    test(`every message of ${language} of ${folder.pathname.split("/").at(-2)} is said for every number, in forms that the language has`, async () => {
      const catalogue = JSON.parse(await readFile(new URL(`${language}.json`, folder), "utf8"));
      for (const [path, message] of messagesOf(catalogue)) {
        const read = parsed(message);
        for (const [kind, name] of formsOf(read)) {
          const type = kind === "plural" ? "cardinal" : "ordinal";
          const { pluralCategories } = new Intl.PluralRules(language, { type }).resolvedOptions();
          assert.ok(/^\d+$/.test(name) || pluralCategories.includes(name), `${path}: ${name}`);
        }
        const places = placesOf(message);
        const { said } = spoken({ said: message }, language);
        for (const number of places.length ? [0, 1, 2, 3, 11, 100] : []) {
          const text = said(Object.fromEntries(places.map((name) => [name, number])));
          assert.ok(text.trim() && !/[{}#]/.test(text), `${path}: ${text}`);
        }
      }
    });
  }

  const english = await catalogueOf(folder, "en");

  for (const language of ["vi", "zh", "ar"]) {
    test(`${language} says all that English says of ${folder.pathname.split("/").at(-2)}, each of the same`, async () => {
      const messages = await catalogueOf(folder, language);
      assert.deepEqual([...messages.keys()], [...english.keys()]);
      for (const [path, message] of messages) {
        assert.notEqual(message.trim(), "", path);
        assert.equal(message, message.normalize("NFC"), path);
        assert.deepEqual(placesOf(message), placesOf(english.get(path)), path);
      }
      const alike = [...messages].filter(([path, message]) => /\p{L}{4}/u.test(message.replace(/\{.*?\}/g, "")) && message === english.get(path));
      assert.deepEqual(alike.map(([path]) => path).filter((path) => !NAMES.test(path)), []);
    });
  }

  test(`the types of ${folder.pathname.split("/").at(-2)} are those of its English`, async () => {
    assert.equal(await readFile(new URL("catalogue.d.ts", folder), "utf8"), await typesOf(folder), "`make page` writes them anew");
  });
}

test("a message is said with what stands in its places, numbers as the language writes them", () => {
  const { told, plain } = spoken({ told: "“{title}”: {read} of {of}", plain: "Nothing # here" }, "vi");
  assert.equal(told({ title: "{a}", read: 1200, of: "all" }), "“{a}”: 1.200 of all");
  assert.equal(plain, "Nothing # here");
});

test("a message has a form for a number, its category or all others, in which # is the number", () => {
  const { pages } = spoken({ pages: "{count, plural, =0 {No page} one {# page of {title}} other {# pages}}." }, "en");
  assert.deepEqual([0, 1, 2, 1200].map((count) => pages({ count, title: "#" })), ["No page.", "1 page of #.", "2 pages.", "1,200 pages."]);
  const { place } = spoken({ place: "{at, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}" }, "en");
  assert.deepEqual([1, 22, 3, 11].map((at) => place({ at })), ["1st", "22nd", "3rd", "11th"]);
  const { words } = spoken({ words: "{count, plural, one {كلمة} two {كلمتان} few {# كلمات} other {# كلمة}}" }, "ar-u-nu-latn");
  assert.deepEqual([1, 2, 3, 100].map((count) => words({ count })), ["كلمة", "كلمتان", "3 كلمات", "100 كلمة"]);
});

test("forms may stand within forms", () => {
  const { kept } = spoken({ kept: "{of, plural, =0 {nothing} other {kept {kept, plural, =0 {none} other {#}} of #}}" }, "en");
  assert.deepEqual([kept({ kept: 0, of: 0 }), kept({ kept: 0, of: 3 }), kept({ kept: 2, of: 3 })], ["nothing", "kept none of 3", "kept 2 of 3"]);
});

test("a message may be written over several lines, and without spaces", () => {
  for (const written of ["{count,plural,one{# page}other{# pages}}", "{ count , plural ,\r\n  one {# page}\n  other\n{# pages}\n}"]) {
    const { pages } = spoken({ pages: written }, "en");
    assert.deepEqual([pages({ count: 1 }), pages({ count: 2 })], ["1 page", "2 pages"]);
  }
});

test("what is not understood of a message is an error", () => {
  const unclosed = "{count, plural, one {page}";
  const withoutOther = "{count, plural, one {page}}";
  for (const written of [unclosed, withoutOther, "{}", "{count, number}", "{count, plural, offset:1 other {#}}", "{count, plural, other {#} and}"]) {
    assert.throws(() => parsed(written), SyntaxError, written);
  }
});
