/**
 * What the page reads Markdown with, as api/page/vendor/markdown.js: CommonMark with GitHub's tables, tasks and
 * strikethrough, emphasis beside Chinese, Japanese and Korean as their readers expect it, and formulas.
 *
 * Left out is what a quote of a document would be mistaken for: HTML, character references and definitions of links stay
 * as they are written, an indented line is no code, and a line under a text is a rule.
 */

import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTaskListItemFromMarkdown } from "mdast-util-gfm-task-list-item";
import { list } from "micromark-core-commonmark";
import { cjkFriendlyExtension } from "micromark-extension-cjk-friendly";
import { gfmStrikethroughCjkFriendly } from "micromark-extension-cjk-friendly-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { gfmTaskListItem } from "micromark-extension-gfm-task-list-item";
import remend from "remend";
import { formulas, formulasFromMarkdown } from "./formulas.js";

const OFF = ["characterReference", "codeIndented", "definition", "htmlFlow", "htmlText", "setextUnderline"];
const LATE = { linkMode: "text-only", images: false, htmlTags: false, comparisonOperators: false, setextHeadings: false, katex: false };

const ADDRESS = "streamdown:";

const MOST_IN_A_LINE = 40; // lists within lists; deeper than the page shows them as lists

// The time for lists that begin in one line grows with the square of their number.
const begin = list.tokenize;
let [line, column, begun] = [0, 0, 0];
list.tokenize = function (effects, ok, nok) {
  const here = this.now();
  if (here.line !== line) begun = 0;
  if (here.line !== line || here.column !== column) begun += 1;
  ({ line, column } = here);
  return begun > MOST_IN_A_LINE ? nok : begin.call(this, effects, ok, nok);
};

const MOST_SIGNS = 500; // of emphasis in one paragraph; where there are more, all of them are shown as they are written

const emphasis = cjkFriendlyExtension();
const deletion = gfmStrikethroughCjkFriendly({ singleTilde: false });
bound(emphasis.insideSpan.null[0], "attentionSequence");
bound(deletion.insideSpan.null[0], "strikethroughSequenceTemporary");

/** Bound the signs that are paired: the time for those that pair with none grows with the square of their number. */
function bound(construct, type) {
  const pair = construct.resolveAll;
  construct.resolveAll = (events, context) => {
    const signs = events.filter(([event, token]) => event === "enter" && token.type === type);
    if (signs.length > MOST_SIGNS) for (const [, token] of signs) token.type = "data";
    return pair(events, context);
  };
}

export function parse(text, growing = false) {
  [line, column, begun] = [0, 0, 0];
  return fromMarkdown(text, {
    extensions: [
      gfmTable(),
      gfmTaskListItem(),
      emphasis,
      deletion,
      formulas(text, growing),
      { disable: { null: OFF } },
    ],
    mdastExtensions: [gfmTableFromMarkdown(), gfmTaskListItemFromMarkdown(), gfmStrikethroughFromMarkdown(), formulasFromMarkdown()],
  });
}

export function close(text) {
  const closed = remend(text, LATE);
  return closed.includes(ADDRESS) ? text : closed; // of an image within an image, it makes up an address
}
