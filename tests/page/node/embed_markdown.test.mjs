/** The small parser of the window in other people's pages: for the common part of Markdown its tree is that of the page's own. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { close, parse } from "../../../api/page/embed/markdown.js";

const { parse: whole } = await import("../../../api/page/vendor/markdown.js");
const MANUAL = new URL("../../../docs/", import.meta.url);

/** Write a tree as a line, with the places of what is shown; cells of a table begin at their words in one, at their bars in the other. */
function form({ type, children = [], position, ...own }) {
  const of = ["depth", "ordered", "start", "checked", "align", "value"].flatMap((name) => (own[name] == null ? [] : [`${name}=${own[name]}`]));
  const joined = children.reduce((parts, child) => {
    const last = parts.at(-1);
    if (child.type === "text" && last?.type === "text") return [...parts.slice(0, -1), { ...last, value: last.value + child.value }];
    return [...parts, child];
  }, []);
  const place = type === "text" || type === "tableCell" ? "" : `@${position.start.offset}-${position.end.offset}`;
  return `${type}${place}[${of}](${joined.map(form).join(" ")})`;
}

const TEXTS = {
  emphasis: "**a** *b* ***c*** __d__ _e_ **a *b* c** snake_case_name 2 * 3 * 4 ~~a~~ ~b~ 他说**是。**然后走了",
  code: "`**a** [b](https://c.d)` `` ` `` `x\n\n```js\na **b**\n\n  c\n```\nd\n\n~~~\nan end that is missing",
  lists: "1. a\n   - b\n   - c\n\n   d\n2. e\n\n- [x] f\n- [ ] g\nh\n\n* i\n3. j",
  "a table": "| a | b |\n|:-:|--:|\n| **c** | d \\| e |\nnot|a|row?\n\na | b\n--|--\nc |",
  quotations: "> a\n> b\nc\n\n> > d\n> e\n>\n> **f**",
  headings: "# One #\n## **Two**\ntext\n#three\n\n---\n***",
  links: '[a **b**](https://c.d/e_(f) "g") ![h](https://i.j/k.png) <https://p.q> <r> [l][m] [n]: o',
  escapes: "\\*a\\* \\[b\\](c) \\d a\\\nb <b>&amp;</b>",
};

describe("gives the tree of the page's own parser for", () => {
  for (const [name, text] of Object.entries(TEXTS)) test(name, () => assert.equal(form(parse(text)), form(whole(text))));
});

test("differs in few blocks of the manual", () => {
  const files = readdirSync(MANUAL).filter((name) => name.endsWith(".md"));
  const blocks = files.flatMap((name) => {
    const text = readFileSync(new URL(name, MANUAL), "utf8");
    const known = new Set(whole(text).children.map(form));
    return parse(text).children.map((block) => known.has(form(block)));
  });
  assert.ok(blocks.length > 1000);
  assert.ok(blocks.filter((same) => !same).length / blocks.length < 0.01);
});

test("ends soon, whatever a text does", () => {
  for (const part of ["*a ", "a*", "**a_", "[", "[a](", "> ", "- ", "`a``", "|a", "\\", "1. a\n", "- a\n\n", "*", " #"]) {
    assert.equal(parse(part.repeat(20_000 / part.length)).type, "root");
  }
});

test("closes what is still being written", () => {
  assert.equal(close("**a** and **b"), "**a** and **b**");
  assert.equal(close("`a\n\nb `c"), "`a\n\nb `c`");
});
