/**
 * The common part of Markdown, for the window in other people's pages: a tenth of the parser that the page itself has.
 *
 * It gives the same tree for headings, lists, quotations, tables, code, emphasis and links. What it does not know, such as
 * formulas, is text as it is written.
 */

/** @typedef {import("../vendor/markdown.js").Node} Node */
/** A stretch of the text without its line end and what its container puts before it. @typedef {{start: number, end: number}} Line */
/** Emphasis may begin or end at `node`. @typedef {{node: any, sign: string, opens: boolean, closes: boolean}} Signs */

const DEEPEST = 14; // containers within containers; deeper than the renderer shows them
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^( {0,3}(#{1,6})(?:[ \t]+|$))(.*?)(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])( {1,4}(?! )| |$)/;
const DELIMITERS = /^ {0,3}\|?(?:[ \t]*:?-+:?[ \t]*(?:\||$))+$/;
const LINK = /\[((?:\\.|[^[\]\\]|\[[^[\]]*\])*)\]\(\s*((?:[^\s()<>]|\([^\s()]*\))+)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y;
const SPACE = /^\s?$/;
const MARK = /[\p{P}\p{S}]/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u; // beside which a sign needs no space

/** @param {number} start @param {number} end */
const at = (start, end) => ({ position: { start: { offset: start }, end: { offset: end } } });

/** Parse a text. @param {string} text @returns {Node & {type: "root"}} */
export function parse(text) {
  /** @type {Line[]} */
  const lines = [];
  for (const { 0: line, index } of text.matchAll(/[^\r\n]*(?:\r\n?|\n|$)/g)) if (line) lines.push({ start: index, end: index + line.replace(/[\r\n]+$/, "").length });
  return { type: "root", children: blocksOf(text, lines, 0), ...at(0, text.length) };
}

/** Close what the end of a growing text leaves open. @param {string} text */
export function close(text) {
  const last = text.slice(text.lastIndexOf("\n\n") + 1);
  return ["`", "**"].reduce((closed, sign) => (last.split(sign).length % 2 ? closed : closed + sign), text);
}

/** @param {string} text @param {Line[]} lines @param {number} depth @returns {any[]} */
function blocksOf(text, lines, depth) {
  const found = [];
  const said = (/** @type {Line | undefined} */ line) => (line ? text.slice(line.start, line.end) : "");
  const begins = (/** @type {string} */ line) =>
    !line.trim() || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || /^ {0,3}(?:[-*+]|1[.)]) +\S/.test(line);
  for (let i = 0; i < lines.length; ) {
    const line = /** @type {Line} */ (lines[i]);
    const first = i;
    const text0 = said(line);
    const start = line.start + text0.length - text0.trimStart().length;
    const ended = () => /** @type {Line} */ (lines[i - 1]).end;
    const [fence, heading, item] = [FENCE.exec(text0), HEADING.exec(text0), ITEM.exec(text0)];
    i += 1;
    if (!text0.trim()) continue;
    if (fence) {
      const closing = new RegExp(`^ {0,3}\\${fence[2]?.[0]}{${fence[2]?.length},}[ \\t]*$`);
      while (i < lines.length && !closing.test(said(lines[i]))) i += 1;
      const value = lines.slice(first + 1, i).map((each) => said(each).replace(new RegExp(`^ {0,${fence[1]?.length}}`), "")).join("\n");
      i = Math.min(i + 1, lines.length);
      found.push({ type: "code", value, ...at(start, ended()) });
    } else if (heading) {
      const from = line.start + (heading[1]?.length ?? 0);
      found.push({ type: "heading", depth: heading[2]?.length, children: inlines(text, [{ start: from, end: from + (heading[3]?.length ?? 0) }]), ...at(start, line.end) });
    } else if (RULE.test(text0)) found.push({ type: "thematicBreak", ...at(start, line.end) });
    else if (QUOTE.test(text0) && depth < DEEPEST) {
      while (i < lines.length && (QUOTE.test(said(lines[i])) || !begins(said(lines[i])))) i += 1;
      const within = lines.slice(first, i).map((each) => ({ start: each.start + (QUOTE.exec(said(each))?.[0].length ?? 0), end: each.end }));
      found.push({ type: "blockquote", children: blocksOf(text, within, depth + 1), ...at(start, ended()) });
    } else if (item && depth < DEEPEST) {
      const kind = item[3] ? item[2]?.slice(-1) : item[2];
      const children = [];
      i = first;
      for (let next = ITEM.exec(said(lines[i])); next && (next[3] ? next[2]?.slice(-1) : next[2]) === kind; next = ITEM.exec(said(lines[i]))) {
        const begun = /** @type {Line} */ (lines[i]);
        const indent = (next[1]?.length ?? 0) + (next[2]?.length ?? 0) + (next[4]?.length || 1);
        const inner = [{ start: Math.min(begun.start + indent, begun.end), end: begun.end }];
        for (i += 1; i < lines.length; i += 1) {
          const now = said(lines[i]);
          const [isWithin, isBlank] = [now.search(/\S/) >= indent, !now.trim()];
          const goesOn = isWithin || (isBlank ? said(lines[i + 1]).search(/\S/) >= indent : said(lines[i - 1]).trim() && !begins(now) && !ITEM.test(now));
          if (!goesOn) break;
          const each = /** @type {Line} */ (lines[i]);
          inner.push({ start: Math.min(each.start + (isWithin ? indent : now.length - now.trimStart().length), each.end), end: each.end });
        }
        const task = /^\[([ xX])\] (?=\S)/.exec(said(inner[0]));
        if (task && inner[0]) inner[0].start += 4;
        children.push({ type: "listItem", checked: task ? task[1] !== " " : null, children: blocksOf(text, inner, depth + 1), ...at(begun.start + (next[1]?.length ?? 0), ended()) });
        for (let ahead = i; ahead < lines.length; ahead += 1) {
          if (!said(lines[ahead]).trim()) continue;
          if (ITEM.test(said(lines[ahead]))) i = ahead;
          break;
        }
      }
      found.push({ type: "list", ordered: Boolean(item[3]), start: item[3] ? Number(item[3]) : null, children, ...at(start, children.at(-1)?.position.end.offset ?? line.end) });
    } else if (text0.includes("|") && DELIMITERS.test(said(lines[i])) && cells(text, line).length === cells(text, /** @type {Line} */ (lines[i])).length) {
      const align = cells(text, /** @type {Line} */ (lines[i])).map((each) => ({ "::": "center", ":-": "left", "-:": "right" })[said(each)[0] + said(each).slice(-1)] ?? null);
      const rows = [line];
      for (i += 1; i < lines.length && !begins(said(lines[i])); i += 1) rows.push(/** @type {Line} */ (lines[i]));
      const children = rows.map((row) => ({ type: "tableRow", ...at(row.start, row.end), children: cells(text, row).map((cell) =>
        ({ type: "tableCell", children: inlines(text, [cell]), ...at(cell.start, cell.end) })) }));
      found.push({ type: "table", align, children, ...at(start, ended()) });
    } else {
      while (i < lines.length && !begins(said(lines[i])) && !(said(lines[i]).includes("|") && DELIMITERS.test(said(lines[i + 1])))) i += 1;
      const own = lines.slice(first, i).map((each) => ({ start: each.start + said(each).length - said(each).trimStart().length, end: each.end }));
      const end = ended() - (said(lines[i - 1]).length - said(lines[i - 1]).trimEnd().length);
      found.push({ type: "paragraph", children: inlines(text, own), ...at(start, end) });
    }
  }
  return found;
}

/** Cut a row of a table into cells. @param {string} text @param {Line} row @returns {Line[]} */
function cells(text, row) {
  const found = [];
  for (const { 0: whole, 1: cell = "", index } of text.slice(row.start, row.end).trimEnd().matchAll(/\s*\|?((?:\\.|[^|\\])*)(?=\||$)/g)) {
    if (!whole) continue;
    const start = row.start + index + whole.length - cell.trimStart().length;
    found.push({ start, end: start + cell.trim().length });
  }
  if (text.slice(row.start, row.end).trimEnd().endsWith("|")) found.splice(-1, found.at(-1)?.start === found.at(-1)?.end ? 1 : 0);
  return found;
}

/** Parse what is within the lines of a block. @param {string} text @param {Line[]} lines @returns {any[]} */
function inlines(text, lines) {
  const source = lines.map(({ start, end }) => text.slice(start, end)).join("\n");
  /** @type {number[]} */
  const places = lines.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, offset) => start + offset));
  return spans(source.trimEnd(), 0, (offset) => places[offset] ?? /** @type {Line} */ (lines.at(-1)).end, 0);
}

/** @param {string} source @param {number} from Where it begins in its block. @param {(offset: number) => number} place @param {number} depth @returns {any[]} */
function spans(source, from, place, depth) {
  /** @type {any[]} */
  const nodes = [];
  /** @type {Signs[]} */
  const signs = [];
  const put = (/** @type {any} */ node, /** @type {number} */ start, /** @type {number} */ end) => {
    const last = nodes.at(-1);
    if (node.type === "text" && last?.type === "text" && !last.signs) {
      last.value += node.value;
      last.position.end.offset = place(from + end - 1) + 1;
    } else nodes.push({ ...node, ...at(place(from + start), place(from + end - 1) + 1) });
    return nodes.at(-1);
  };
  for (let i = 0; i < source.length; ) {
    const sign = source.charAt(i);
    const run = /^([`*_~])\1*/.exec(source.slice(i, i + 99))?.[0] ?? "";
    let end = i + 1;
    LINK.lastIndex = i;
    const address = sign === "<" && /^<(https?:\/\/[^\s<>]+)>/i.exec(source.slice(i));
    if (address) {
      end = i + address[0].length;
      put({ type: "link", url: address[1], children: [{ type: "text", value: address[1], ...at(place(from + i + 1), place(from + end - 1)) }] }, i, end);
    } else if (sign === "\\" && source[end] === "\n") put({ type: "break" }, i, (end += 1));
    else if (sign === "\\" && MARK.test(source.charAt(end)) && source.charAt(end) < "\x7f") put({ type: "text", value: source.charAt(end) }, i, (end += 1));
    else if (sign === "`") {
      const closing = new RegExp(`(?<!\`)${run}(?!\`)`, "g");
      closing.lastIndex = i + run.length;
      const found = closing.exec(source);
      const value = found && source.slice(i + run.length, found.index);
      if (found && value) put({ type: "inlineCode", value: value.replace(/^ (.*[^ ].*) $/s, "$1") }, i, (end = found.index + run.length));
      else put({ type: "text", value: run }, i, (end = i + run.length));
    } else if (sign === "[" || (sign === "!" && source[end] === "[")) {
      if (sign === "!") LINK.lastIndex = end;
      const link = LINK.exec(source);
      if (!link || depth) put({ type: "text", value: sign }, i, end);
      else if (sign === "!") put({ type: "image" }, i, (end += link[0].length));
      else put({ type: "link", url: link[2], children: spans(link[1] ?? "", from + i + 1, place, 1) }, i, (end = i + link[0].length));
    } else if (run && (sign !== "~" || run.length === 2)) {
      end = i + run.length;
      const [before, after] = [source.charAt(i - 1), source.charAt(end)];
      const free = (/** @type {string} */ near, /** @type {string} */ far) =>
        !SPACE.test(near) && (!MARK.test(near) || SPACE.test(far) || MARK.test(far) || WIDE.test(far));
      const [left, right] = [free(after, before), free(before, after)];
      const alone = sign !== "_"; // an underline within a word is part of it
      for (let each = i; each < end; each += 1) {
        const node = { ...at(place(from + each), place(from + each) + 1), type: "text", value: sign, signs: true };
        nodes.push(node);
        signs.push({ node, sign, opens: left && (alone || !right || MARK.test(before)), closes: right && (alone || !left || MARK.test(after)) });
      }
    } else {
      while (end < source.length && !/[\\`*_~[!<]/.test(source.charAt(end))) end += 1;
      put({ type: "text", value: source.slice(i, end) }, i, end);
    }
    i = end;
  }
  return emphasised(nodes, signs);
}

/** Make emphasis of signs that belong together. @param {any[]} nodes @param {Signs[]} signs */
function emphasised(nodes, signs) {
  const beside = (/** @type {number} */ one, /** @type {number} */ other) =>
    signs[one] && signs[other]?.sign === signs[one].sign && Math.abs(nodes.indexOf(signs[one].node) - nodes.indexOf(signs[other].node)) === 1;
  for (let closer = 0; closer < signs.length; closer += 1) {
    const { sign, closes } = /** @type {Signs} */ (signs[closer]);
    let opener = closes ? closer - 1 : -1;
    while (opener >= 0 && !(signs[opener]?.sign === sign && signs[opener]?.opens && !beside(opener, closer))) opener -= 1;
    if (opener < 0) continue;
    const doubled = beside(opener - 1, opener) && signs[opener - 1]?.opens && beside(closer, closer + 1) && signs[closer + 1]?.closes ? 1 : 0;
    if (sign === "~" && !doubled) continue;
    const [first, last] = [nodes.indexOf(signs[opener - doubled]?.node), nodes.indexOf(signs[closer + doubled]?.node)];
    const within = nodes.slice(first + 1 + doubled, last - doubled);
    const type = sign === "~" ? "delete" : doubled ? "strong" : "emphasis";
    nodes.splice(first, last - first + 1, { type, children: within, ...at(nodes[first].position.start.offset, nodes[last].position.end.offset) });
    signs.splice(opener - doubled, closer - opener + 1 + 2 * doubled);
    closer = opener - doubled - 1;
  }
  return nodes;
}
