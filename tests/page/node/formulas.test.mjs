/** What of a text is a formula, what stays text, and where claims and markers stand beside it. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { written } from "./elements.mjs";

const { render } = await import("../../../api/page/text/markup.js");

/** Draw a formula as `i.<LaTeX>` in a line and `d.<LaTeX>` on one of its own; what is bad can't be read. */
function draw(latex, display) {
  if (latex.includes("bad")) return null;
  const element = document.createElement(display ? "d" : "i");
  element.attributes.href = latex.trim().replace(/\s*\n\s*/g, " | ");
  return element;
}

const shown = (text, options) => written(render(text, { draw, ...options }));

const FORMULAS = {
  "dollars": ["Energy is $E = mc^2$ here.", "p(Energy is i.<E = mc^2> here.)"],
  "brackets": ["where \\(r\\) is", "p(where i.<r> is)"],
  "two dollars in a line": ["a $$x$$ b", "p(a d.<x> b)"],
  "two dollars alone": ["$$x$$", "p.formula-line(d.<x>)"],
  "square brackets in a line": ["as \\[a = b\\].", "p(as d.<a = b>.)"],
  "lines that would be a list": ["so\n$$\nx\n- y\n+ z\n$$\nand", "p(so)p.formula-line(d.<x | - y | + z>)p(and)"],
  "an end of a line in it": ["\\[\na \\\\ b\n\\]", "p.formula-line(d.<a \\\\ b>)"],
  "line ends of Windows": ["a\r\n$$\r\nx\r\n$$\r\nb", "p(a)p.formula-line(d.<x>)p(b)"],
  "a quotation": ["> \\[\n> a=1\n> \\]\n\nb", "blockquote(p.formula-line(d.<a=1>))p(b)"],
  "an item": ["- a\n  $$\n  x\n  $$\n- b", "ul(li(p(a)p.formula-line(d.<x>))li(p(b)))"],
  "a cell": ["| a |\n|---|\n| $x$ |", "div.table(table(thead(tr(th(a)))tbody(tr(td(i.<x>)))))"],
  "a heading and emphasis": ["# On $x$\n\n**a $y_1$** *$z$*", "h3.heading(On i.<x>)p(strong(a i.<y_1>) em(i.<z>))"],
  "signs of emphasis": ["\\(a*b*c\\) and *d*", "p(i.<a*b*c> and em(d))"],
  "letters that follow": ["the $n$th of $k$-means", "p(the i.<n>th of i.<k>-means)"],
  "Chinese around it": ["设$x$为数。", "p(设i.<x>为数。)"],
  "what can't be read": ["$bad$ and\n\n$$\nbad\n$$", "p(code.formula($bad$) and)p(code.formula($$\nbad\n$$))"],
};

describe("is a formula:", () => {
  for (const [name, [text, form]] of Object.entries(FORMULAS)) test(name, () => assert.equal(shown(text), form));
});

const PLAIN = [
  "It costs $5 and $10.",
  "US$5 and HK$6, 5$ and 10$",
  "$5/$10, $5-$10, $20M–$30M",
  "$5 in 2019 (A$)",
  "paid $5 for each and 6$ for all",
  "$HOME/$USER and $PATH:$HOME",
  "$ x $, $x $, $ x$, $$ $$",
  "$$$ and $$$",
  "$$ never closed",
  "$a `$` b$",
];

describe("stays text:", () => {
  for (const text of PLAIN) test(text, () => assert.equal(shown(text).replace(/code\((.)\)/, "`$1`"), `p(${text})`));
  test("an escaped dollar", () => assert.equal(shown("\\$5 and \\$6$"), "p($5 and $6$)"));
  test("escaped brackets", () => assert.equal(shown("\\[b\\](c) \\[sic\\] \\(see there\\)"), "p([b](c) [sic] (see there))"));
  test("code", () => assert.equal(shown("`$x$`\n\n```\n$$x$$\n```"), "p(code($x$))pre(code($$x$$))"));
  test("what a cell cuts", () =>
    assert.equal(shown("| a | b |\n|---|---|\n| $x | y$ |"), "div.table(table(thead(tr(th(a)th(b)))tbody(tr(td($x)td(y$)))))"));
  test("a sign that never closes, and what follows it", () =>
    assert.equal(shown("$$ a\n\n- b\n- c"), "p($$ a)ul(li(p(b))li(p(c)))"));
  test("all, as long as nothing draws", () => assert.equal(written(render("a \\(x\\) $y$")), "p(a \\(x\\) $y$)"));
  test("one that is too long", () => assert.equal(shown(`$${"x".repeat(5000)}$`), `p($${"x".repeat(5000)}$)`));
});

describe("while it is written", () => {
  const growing = {
    "a $x": "p(a $x)",
    "$5 for **this": "p($5 for strong(this))",
    "a \\(x*y*z": "p(a \\(x*y*z)",
    "a\n\n$$\nx_1 * y **": "p(a)p($$brx_1 * y **)",
    "a **b $x*y$ c": "p(a strong(b i.<x*y> c))",
    "$x_{1}*2$ **b": "p(i.<x_{1}*2> strong(b))",
  };
  for (const [text, form] of Object.entries(growing)) {
    test(JSON.stringify(text), () => assert.equal(shown(text, { growing: true }), form));
  }
});

/** Dress claims, given by their texts, as `q` with `{number}` behind each. */
function dressed(text, ...claims) {
  const spans = claims.map((claim) => {
    const start = [...text.slice(0, text.indexOf(claim))].length;
    return { start, end: start + [...claim].length };
  });
  const wrap = (index) => Object.assign(document.createElement("q"), { attributes: { class: String(index) } });
  return shown(text, { dress: { spans, wrap, behind: (index) => [`{${index}}`] } });
}

describe("in claims,", () => {
  test("it is marked whole, and what follows it stays in its place", () =>
    assert.equal(dressed("😀 A is $r^2$ here. B.", "A is $r^2$ here.", "B."),
      "p(😀 q.0(A is )q.0(i.<r^2>)q.0( here.){0} q.1(B.){1})"));
  test("it may end one", () => assert.equal(dressed("A is $r^2$. B.", "A is $r^2$", "B."), "p(q.0(A is )q.0(i.<r^2>){0}. q.1(B.){1})"));
  test("it belongs to the first that has a part in it", () =>
    assert.equal(dressed("A $x. y$ B", "A $x.", "y$ B"), "p(q.0(A )q.0(i.<x. y>){0}q.1( B){1})"));
  test("it is a block", () => assert.equal(dressed("A:\n\n$$\nx\n$$\n\nB.", "$$\nx\n$$", "B."), "p(A:)p.formula-line(q.0(d.<x>){0})p(q.1(B.){1})"));
  test("unread, it is marked too", () => assert.equal(dressed("A $bad$.", "A $bad$."), "p(q.0(A )code.formula(q.0($bad$))q.0(.){0})"));
});

test("comes to an end soon, whatever the signs are", () => {
  for (const sign of ["$", "$$", "\\(", "\\[", "$x", "$$x ", "\\(x", "$x$", "\\(\\)", "$$\n", "\\[\n", "> $$\n", "- \\[\n"]) {
    for (const growing of [true, false]) render(sign.repeat(1000), { draw, growing });
  }
});
