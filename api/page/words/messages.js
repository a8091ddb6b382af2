/**
 * Messages in the syntax of ICU MessageFormat, as far as the catalogues need it: places (`{title}`), and forms by number
 * (`{count, plural, =0 {nothing} one {# page} other {# pages}}`, or `selectordinal`), which may hold both in turn.
 */

/** @typedef {Readonly<Record<string, string | number>>} Values What stands in each place; a number is written as the language does. */
/** @typedef {{name: string, kind: string, forms: Map<string, Message>}} Place `kind` is "" where it has no forms. */
/** @typedef {(string | Place)[]} Message */
/** @typedef {{[key: string]: string | Catalogue}} Catalogue */

const PLACE = /^\s*(\w+)\s*(?:,\s*(plural|selectordinal)\s*,)?/;
const FORM = /\s*(?:=(\d+)|(\w+))\s*\{/y;
/** The rules of plurals by locale and kind: making them takes longer than asking them. @type {Map<string, Intl.PluralRules>} */
const rules = new Map();

/**
 * Give a catalogue as it is said: a text as it is, and a message with places as a function of what stands in them.
 * @param {Catalogue} catalogue
 * @param {string} locale
 * @returns {any} In the shape of the catalogue.
 */
export function spoken(catalogue, locale) {
  /** @param {string | Catalogue} part */
  const said = (part) => {
    if (typeof part !== "string") return spoken(part, locale);
    if (!part.includes("{")) return part;
    /** @type {Message | undefined} */
    let message;
    return (/** @type {Values} */ values) => written((message ??= parsed(part)), values, locale);
  };
  return Object.fromEntries(Object.entries(catalogue).map(([key, part]) => [key, said(part)]));
}

/** Read a message. @param {string} text @throws {SyntaxError} Where it is written in no way that is known here. */
export function parsed(text) {
  /** @type {Message} */
  const message = [];
  let from = 0;
  for (let open = text.indexOf("{"); open >= 0; open = text.indexOf("{", from)) {
    const close = closing(text, open);
    message.push(text.slice(from, open), placeIn(text.slice(open + 1, close)));
    from = close + 1;
  }
  return [...message, text.slice(from)];
}

/** @param {string} text What stands between the braces. @returns {Place} */
function placeIn(text) {
  const [head, name = "", kind = ""] = PLACE.exec(text) ?? [""];
  const forms = new Map();
  let from = head.length;
  while (kind) {
    FORM.lastIndex = from;
    const found = FORM.exec(text);
    if (!found) break;
    const begin = FORM.lastIndex;
    const end = closing(text, begin - 1);
    forms.set(found[1] ?? found[2], parsed(text.slice(begin, end)));
    from = end + 1;
  }
  if (!name || text.slice(from).trim()) throw new SyntaxError(`This is not understood: {${text}}`);
  if (kind && !forms.has("other")) throw new SyntaxError(`There is no form for all other numbers: {${text}}`);
  return { name, kind, forms };
}

/** Find where a brace is closed. @param {string} text @param {number} open */
function closing(text, open) {
  for (let [at, depth] = [open, 0]; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    if (!depth) return at;
  }
  throw new SyntaxError(`A brace is not closed: ${text}`);
}

/**
 * @param {Message} message
 * @param {Values} values
 * @param {string} locale
 * @param {string} [count] What `#` stands for: the number that the message is the form for.
 * @returns {string}
 */
function written(message, values, locale, count = "#") {
  return message.map((part) => (typeof part === "string" ? part.replaceAll("#", count) : filled(part, values, locale))).join("");
}

/** @param {Place} place @param {Values} values @param {string} locale */
function filled({ name, kind, forms }, values, locale) {
  const value = values[name] ?? "";
  const text = value.toLocaleString(locale);
  if (!kind) return text;
  const category = rulesOf(locale, kind).select(Number(value));
  return written(forms.get(String(value)) ?? forms.get(category) ?? forms.get("other") ?? [], values, locale, text);
}

/** @param {string} locale @param {string} kind */
function rulesOf(locale, kind) {
  const key = `${locale} ${kind}`;
  const made = rules.get(key) ?? new Intl.PluralRules(locale, { type: kind === "plural" ? "cardinal" : "ordinal" });
  rules.set(key, made);
  return made;
}
