/** What is within the lines of a block of Markdown: code, links, emphasis and words. */

import { at } from "./markdown.js";

/** @typedef {import("./markdown.js").Line} Line */
/** A sign at which emphasis may begin or end.
 * @typedef {{node: any, sign: string, opens: boolean, closes: boolean}} Sign */

const LINK = /\[((?:\\.|[^[\]\\]|\[[^[\]]*\])*)\]\(\s*((?:[^\s()<>]|\([^\s()]*\))+)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/y;
const ADDRESS = /<(https?:\/\/[^\s<>]+)>/iy;
const PLAIN = /[^\\`*_~[!<]+/y;
const ESCAPE = /\\(?:\n|([!-/:-@[-`{-~]))/y;
const RUN = /([`*_~])\1*/y;
const SPACE = /^\s?$/;
const MARK = /[\p{P}\p{S}]/u;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u; // which need no space beside

/** Parse what is within lines. @param {string} text @param {Line[]} lines @returns {any[]} */
export function inlines(text, lines) {
  const source = lines.map(({ start, end }) => text.slice(start, end)).join("\n").trimEnd();
  const places = lines.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, by) => start + by));
  return new Inlines(source, (offset) => places[offset] ?? lines.at(-1)?.end ?? 0, false).all();
}

/** The words of a block, which are read one after another. */
class Inlines {
  /** @param {string} source @param {(offset: number) => number} place Of an offset, in the whole text.
   * @param {boolean} inLink */
  constructor(source, place, inLink) {
    this.source = source;
    this.place = place;
    this.inLink = inLink;
    /** @type {any[]} */
    this.nodes = [];
    /** @type {Sign[]} */
    this.signs = [];
  }

  all() {
    for (let next = 0; next < this.source.length; ) next = this.part(next);
    return this.emphasised();
  }

  /** Read what begins at an offset; give where it ends. @param {number} start */
  part(start) {
    const found = (/** @type {RegExp} */ pattern, from = start) => {
      pattern.lastIndex = from;
      return pattern.exec(this.source);
    };
    const [plain, escape, run] = [found(PLAIN), found(ESCAPE), found(RUN)];
    if (plain) return this.say(start, plain[0]);
    if (escape) return escape[1] ? this.say(start, escape[1], 2) : this.put({ type: "break" }, start, start + 2);
    if (run?.[1] === "`") return this.code(start, run[0]);
    if (run && (run[1] !== "~" || run[0].length === 2)) return this.signsOf(start, run[0]);
    const address = found(ADDRESS);
    if (address) return this.link(start, address[0], address[1] ?? "", address[1] ?? "");
    const image = this.source.startsWith("![", start) && found(LINK, start + 1);
    if (image) return this.put({ type: "image" }, start, start + 1 + image[0].length);
    const link = this.inLink ? null : found(LINK);
    if (link) return this.link(start, link[0], link[1] ?? "", link[2] ?? "");
    return this.say(start, run?.[0] ?? this.source.charAt(start));
  }

  /** @param {any} node @param {number} start @param {number} end */
  put(node, start, end) {
    this.nodes.push({ ...node, ...at(this.place(start), this.place(end - 1) + 1) });
    return end;
  }

  /** Say words, together with those before; `length` is that of how they are written.
   * @param {number} start @param {string} value */
  say(start, value, length = value.length) {
    const last = this.nodes.at(-1);
    if (last?.type !== "text" || last.signs) return this.put({ type: "text", value }, start, start + length);
    last.value += value;
    last.position.end.offset = this.place(start + length - 1) + 1;
    return start + length;
  }

  /** @param {number} start @param {string} ticks */
  code(start, ticks) {
    const closing = new RegExp(`(?<!\`)${ticks}(?!\`)`, "g");
    closing.lastIndex = start + ticks.length;
    const value = this.source.slice(closing.lastIndex, closing.exec(this.source)?.index ?? closing.lastIndex);
    if (!value) return this.say(start, ticks);
    const node = { type: "inlineCode", value: value.replace(/^ (.*[^ ].*) $/s, "$1") };
    return this.put(node, start, start + 2 * ticks.length + value.length);
  }

  /** @param {number} start @param {string} whole @param {string} words @param {string} url */
  link(start, whole, words, url) {
    const inner = new Inlines(words, (offset) => this.place(start + 1 + offset), true);
    const children = whole.startsWith("<") ? (inner.say(0, words), inner.nodes) : inner.all();
    return this.put({ type: "link", url, children }, start, start + whole.length);
  }

  /** Put down signs of emphasis, each by itself. @param {number} start @param {string} run */
  signsOf(start, run) {
    const [sign, end] = [run.charAt(0), start + run.length];
    const [before, after] = [this.source.charAt(start - 1), this.source.charAt(end)];
    const [left, right] = [isFree(after, before), isFree(before, after)];
    const alone = sign !== "_"; // an underline within a word is part of it
    const opens = left && (alone || !right || MARK.test(before));
    const closes = right && (alone || !left || MARK.test(after));
    for (let each = start; each < end; each += 1) {
      this.put({ type: "text", value: sign, signs: true }, each, each + 1);
      this.signs.push({ node: this.nodes.at(-1), sign, opens, closes });
    }
    return end;
  }

  /** Make emphasis of signs that belong together. */
  emphasised() {
    const { nodes, signs } = this;
    /** Before which nothing opens, by sign. @type {Record<string, Sign | undefined>} */
    const bottoms = {};
    for (let closer = 0; closer < signs.length; closer += 1) {
      const { sign } = /** @type {Sign} */ (signs[closer]);
      let opener = signs[closer]?.closes ? closer - 1 : -1;
      const fits = () => signs[opener]?.sign === sign && signs[opener]?.opens && !this.isPair(opener, closer);
      while (opener >= 0 && !fits()) opener = signs[opener] === bottoms[sign] ? -1 : opener - 1;
      if (opener < 0) {
        if (signs[closer]?.closes) bottoms[sign] = signs[closer];
        continue;
      }
      const doubled = this.isPair(opener - 1, opener) && this.isPair(closer, closer + 1) ? 1 : 0;
      if (sign === "~" && !doubled) continue;
      const first = nodes.indexOf(signs[opener - doubled]?.node);
      const last = nodes.indexOf(signs[closer + doubled]?.node, first);
      const type = sign === "~" ? "delete" : doubled ? "strong" : "emphasis";
      const children = nodes.slice(first + 1 + doubled, last - doubled);
      const position = { start: nodes[first].position.start, end: nodes[last].position.end };
      nodes.splice(first, last - first + 1, { type, children, position });
      signs.splice(opener - doubled, closer - opener + 1 + 2 * doubled);
      closer = opener - doubled - 1;
    }
    return nodes;
  }

  /** Whether two signs are the same and stand side by side. @param {number} one @param {number} other */
  isPair(one, other) {
    const [first, second] = [this.signs[one], this.signs[other]];
    if (!first || first.sign !== second?.sign) return false;
    return first.node.position.end.offset === second.node.position.start.offset;
  }
}

/** Whether a sign beside something belongs to it: to no space, and to a mark only where nothing else is there.
 * @param {string} near @param {string} far */
function isFree(near, far) {
  return !SPACE.test(near) && (!MARK.test(near) || SPACE.test(far) || MARK.test(far) || WIDE.test(far));
}
