/** The one renderer: what it gives a form, what it leaves as it is written, and that it stays quick. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { written } from "./elements.mjs";

const { render } = await import("../../../api/page/text/markup.js");
const shown = (text, options) => written(render(text, options));

const FORMS = {
  "paragraphs and the ends of short lines": ["One\ntwo\n\nthree", "p(Onebrtwo)p(three)"],
  "a line that was wrapped": [`${"word ".repeat(12)}\nand more`, `p(${"word ".repeat(12)}and more)`],
  "bold, italics and both": ["**a** *b* ***c*** __d__ _e_", "p(strong(a) em(b) em(strong(c)) strong(d) em(e))"],
  "emphasis within emphasis": ["**a *b* c** d", "p(strong(a em(b) c) d)"],
  "emphasis beside Chinese": ["他说**是。**然后走了", "p(他说strong(是。)然后走了)"],
  "signs that are none": ["2 * 3 * 4, 2*3*4, snake_case_name, ____", "p(2 * 3 * 4, 2*3*4, snake_case_name, ____)"],
  "emphasis that crosses": ["*a **b* c**", "p(em(a em(em(b) c)))"],
  "emphasis over lines": ["**a\nb**", "p(strong(abrb))"],
  "escaped signs": ["\\*a\\* \\[b\\](c) \\d", "p(*a* [b](c) \\d)"],
  "code, where nothing else counts": ["`**a** [b](https://c.d)` `` ` `` `x", "p(code(**a** [b](https://c.d)) code(`) `x)"],
  "fenced code": ["```js\na **b**\n\n  c\n```\nd", "pre(code(a **b**\n\n  c))p(d)"],
  "a fence that never closes": ["~~~\na\n```\nb", "pre(code(a\n```\nb))"],
  "headings": ["# One #\n## **Two**\ntext\n#three", "h3.heading(One)h4.heading(strong(Two))p(textbr#three)"],
  "a rule": ["a\n\n---\n\nb", "p(a)hrp(b)"],
  "lists": ["- a\n- b\n\n* c\n1. d\n2. e", "ul(li(p(a))li(p(b)))ul(li(p(c)))ol(li(p(d))li(p(e)))"],
  "lists within lists": ["1. a\n   - b\n   - c\n\n   d\n2. e", "ol(li(p(a)ul(li(p(b))li(p(c)))p(d))li(p(e)))"],
  "a list that does not begin with one": ["3. a", "ol.3(li(p(a)))"],
  "text that goes on in an item": ["- a\nb\n\nc", "ul(li(p(abrb)))p(c)"],
  "a number that ends a sentence": ["It was built in\n1984. It fell.", "p(It was built inbr1984. It fell.)"],
  "a link": ['[a **b**](https://c.d/e_(f) "g") h', "p(a.<https://c.d/e_(f)>(a strong(b)) h)"],
  "an address": ["See https://c.d/e_(f)?g=h. **https://i.j**", "p(See a.<https://c.d/e_(f)?g=h>(https://c.d/e_(f)?g=h). strong(a.<https://i.j/>(https://i.j)))"],
  "an address in Chinese": ["见https://c.d/e。然后（https://f.g）", "p(见https://c.d/e。然后（a.<https://f.g/>(https://f.g)）)"],
  "a table": ["| a | b |\n|:-:|--:|\n| **c** | d |", "div.table(table(thead(tr(th.center(a)th.right(b)))tbody(tr(td.center(strong(c))td.right(d)))))"],
  "a quotation": ["> a\n> b\n\nc", "blockquote(p(abrb))p(c)"],
  "what is struck out": ["~~a~~ ~b~ 是~~错~~的", "p(s(a) ~b~ 是s(错)的)"],
  "tasks": ["- [x] a\n- [ ] b", "ul(li.task(inputp(a))li.task(inputp(b)))"],
  "line ends of Windows": ["a\r\nb\r\n\r\n- c\r\n", "p(abrb)ul(li(p(c)))"],
};

describe("gives a form to", () => {
  for (const [name, [text, form]] of Object.entries(FORMS)) test(name, () => assert.equal(shown(text), form));
});

const PLAIN = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '<a href="//evil.example" onclick="x()">x</a> &lt;b&gt; &amp;',
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](data:text/html,x)",
  "[a](//evil.example)",
  "[a](/relative)",
  "[a](https:evil)",
  "[a](ftp://evil.example)",
  "[a](vbscript:x) [a](file:///etc/passwd) [a](blob:https://x)",
  "![a](https://evil.example/pixel.png)",
  "![a [b](https://evil.example)](https://evil.example/pixel.png)",
  "[a][b]",
  "[b]: javascript:alert(1)",
  "javascript:alert(1) data:text/html,x",
  "<javascript:alert(1)>",
];

describe("leaves as it is written", () => {
  for (const text of PLAIN) test(text, () => assert.equal(shown(text), `p(${text})`));
});

test("an address is only ever one of the web, with no way back to the page", () => {
  const [paragraph] = render("[a](https://c.d) https://e.f");
  const links = paragraph.childNodes.filter((node) => node.name === "a");
  assert.equal(links.length, 2);
  for (const { attributes } of links) {
    assert.deepEqual([attributes.rel, attributes.target], ["noopener noreferrer nofollow", "_blank"]);
  }
});

describe("shows no signs of what is still being written:", () => {
  const growing = {
    "**bold te": "p(strong(bold te))",
    "a **": "p(a)",
    "a **b*": "p(a strong(b))",
    "a `co": "p(a code(co))",
    "a ~~b": "p(a s(b))",
    "a [label](https://c.d/e": "p(a label)",
    "- ": "ul(li)",
    "**a** b": "p(strong(a) b)",
    "**never closed\n\nnext": "p(**never closed)p(next)",
    "```\ncode **b": "pre(code(code **b))",
  };
  for (const [text, form] of Object.entries(growing)) {
    test(JSON.stringify(text), () => assert.equal(shown(text, { growing: true }), form));
  }
});

/** Dress claims, given by their texts, as `<…>` with `{number}` behind each. */
function dressed(text, ...claims) {
  let from = 0;
  const spans = claims.map((claim) => {
    const start = text.indexOf(claim, from);
    from = start + claim.length;
    return { start: [...text.slice(0, start)].length, end: [...text.slice(0, from)].length };
  });
  const wrap = (index) => Object.assign(document.createElement("q"), { attributes: { class: String(index) } });
  return shown(text, { dress: { spans, wrap, behind: (index) => [`{${index}}`] } });
}

describe("puts what is said of a claim", () => {
  test("right behind it", () => assert.equal(dressed("One. Two.", "One.", "Two."), "p(q.0(One.){0} q.1(Two.){1})"));
  test("by code points", () =>
    assert.equal(dressed("🏖️ 👨‍👩‍👧 𠮷. One 😀. Two.", "One 😀.", "Two."), "p(🏖️ 👨‍👩‍👧 𠮷. q.0(One 😀.){0} q.1(Two.){1})"));
  test("behind the emphasis that ends with it", () => {
    assert.equal(dressed("**One.** Two.", "One.", "Two."), "p(strong(q.0(One.)){0} q.1(Two.){1})");
    assert.equal(dressed("**One.** Two.", "**One.**", "Two."), "p(strong(q.0(One.)){0} q.1(Two.){1})");
    assert.equal(dressed("***One.***", "One."), "p(em(strong(q.0(One.))){0})");
  });
  test("where it begins or ends in emphasis", () =>
    assert.equal(dressed("One **two. Three** four.", "One **two.", "Three** four."),
      "p(q.0(One )strong(q.0(two.){0} q.1(Three))q.1( four.){1})"));
  test("never within a link or code", () => {
    assert.equal(dressed("[One. Two](https://c.d).", "One.", "Two](https://c.d)."),
      "p(a.<https://c.d/>(q.0(One.) q.1(Two)){0}q.1(.){1})");
    assert.equal(dressed("`One. Two`.", "One.", "Two`."), "p(code(q.0(One.) q.1(Two)){0}q.1(.){1})");
  });
  test("once, where it spans items and blocks", () => {
    assert.equal(dressed("- One\n- two\n\nThree.", "- One\n- two", "Three."),
      "ul(li(p(q.0(One)))li(p(q.0(two){0})))p(q.1(Three.){1})");
    assert.equal(dressed("One:\n\n```\ntwo\n```\nThree.", "One:\n\n```\ntwo\n```", "Three."),
      "p(q.0(One:))div.code(pre(code(q.0(two)))p({0}))p(q.1(Three.){1})");
  });
  test("where nothing of it is shown", () => {
    assert.equal(dressed("One.\n\n---", "One.", "---"), "p(q.0(One.){0})hrp({1})");
    assert.equal(dressed("---\n\nOne.", "---", "One."), "hrp({0}q.1(One.){1})");
  });
  test("over the ends of lines", () => assert.equal(dressed("One\ntwo. Three.", "One\ntwo.", "Three."),
    "p(q.0(One)brq.0(two.){0} q.1(Three.){1})"));
});

test("signs of Markdown in a claim are none of it", () => {
  assert.equal(dressed("A \\*b\\* c. D.", "A \\*b\\* c.", "D."), "p(q.0(A )q.0(*b)q.0(* c.){0} q.1(D.){1})");
  assert.equal(dressed("> One\n> two. Three.", "One\n> two.", "Three."), "blockquote(p(q.0(One)brq.0(two.){0} q.1(Three.){1}))");
});

test("what is said of a row follows in its last cell", () =>
  assert.equal(dressed("| a |\n|---|\n| One | two |\n| Three |", "| One | two |", "| Three |"),
    "div.table(table(thead(tr(th(a)))tbody(tr(td(q.0(One))td(q.0(two){0}))tr(td(q.1(Three){1})))))"));

test("a block of code has its tools", () => {
  const tools = (code) => [Object.assign(document.createElement("button"), { attributes: { class: code.textContent } })];
  assert.equal(shown("```\na\n```", { tools }), "div.code(button.apre(code(a)))");
});

test("more signs of emphasis than a reader could tell apart are shown as they are written", () => {
  for (const [signed, name] of [["**a**", "strong"], ["~~a~~", "s"]]) {
    const text = (times) => Array(times).fill(signed).join(" ");
    assert.equal(shown(text(250)), `p(${Array(250).fill(`${name}(a)`).join(" ")})`);
    assert.equal(shown(text(251)), `p(${text(251)})`);
    assert.equal(shown(`${text(251)}\n\n${signed}`), `p(${text(251)})p(${name}(a))`, "in another paragraph they count anew");
  }
});

describe("comes to an end, soon, with nothing but", () => {
  const pieces = [
    "*", "_", "`", "[", "]", "![", "](", "[a](", "**a ", "*a _b ", "`a``b```c", '[a](b "', "](a(", "- ", "1. ", "#", "> ", "\\",
    "https://", "https://a)", "***a***", "_a__b_", "\n", "\n\n- a", "  ", "a\n  - b\n", "~~~\n", "<a href=", "|", "*a*_b_`c`",
    "[[a](https://b.c)", "a ", "*a **b ***c ", "![a](", "[a](https://b.c(", "\t- ", "[a](<", "😀*",
    "**a_", "*a_", "_a*", "~~a_",
  ];
  // Where a step looked at all that is still to come, this many would take minutes. What grows is closed first, which is
  // only done to what is short enough to be parsed whole.
  const [whole, parsed, growing] = [300_000, 19_000, 2_000];
  for (const piece of pieces) {
    test(JSON.stringify(piece), () => {
      const text = (length) => `a${piece.repeat(length / piece.length)}`;
      assert.match(render(text(whole))[0].textContent, /^a/);
      assert.match(render(text(parsed))[0].textContent, /^a/);
      assert.match(render(text(growing), { growing: true })[0].textContent, /^a/);
    });
  }
});
