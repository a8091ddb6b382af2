/**
 * Formulas in Markdown: `$...$`, `$$...$$`, `\(...\)` and `\[...\]`, as an extension of micromark and mdast.
 *
 * A dollar is a price more often than the sign of a formula, and a bracket may be escaped to be one, so each is read
 * strictly: what is in doubt stays text. That there is an end is known before a formula begins, so that a sign that
 * never closes takes nothing of what follows with it.
 */

const DOLLAR = 36;
const BACKSLASH = 92;
const LONGEST = 4000; // UTF-16 units of a formula
const BLANK_LINE = /\n[ \t]*\r?\n/;
const WORDS = /(?:^|\s)\p{L}{2,}\s+\p{L}{2,}|\s\p{L}{2,}\s/u; // those of a sentence, where no command is among them
const FORMAL = /[\\^_=+<>≤≥≠≈∈→∑∫√\n]/; // what brackets that were only escaped seldom hold
const BEFORE = /[A-Za-z0-9$\\]/; // of `US$5`, `$$$` and `\$`
const BEHIND = /^(?:[0-9$_{(A-Z]|(?!(?:th|st|nd|rd|s)\b)[a-z])/; // of `$5/$10` and `$HOME/$USER`, but not of `$n$th`
const BEHIND_BRACKET = /^(?:$|[\s.,;:!?)|，。；：！？])/;

/**
 * Find the formula that begins here.
 * @param {string} text
 * @param {number} at
 * @param {boolean} growing Whether one whose end is still to come counts, where its beginning is beyond doubt.
 * @returns {{from: number, to: number, end: number, display: boolean, open: boolean} | null} Where its LaTeX begins and
 *   ends, and where its last sign ends.
 */
export function formulaAt(text, at, growing) {
  const opening = /^(?:\$\$?|\\[([])/.exec(text.slice(at, at + 2))?.[0];
  if (!opening) return null;
  const single = opening === "$";
  const display = opening === "$$" || opening === "\\[";
  const before = text.charAt(at - 1);
  if (single ? BEFORE.test(before) : opening === "$$" && /[$\\]/.test(before)) return null;
  if (opening === "\\[" && /\S/.test(before)) return null;
  const from = at + opening.length;
  const closing = { "\\(": "\\)", "\\[": "\\]" }[opening] ?? opening;
  const to = closingAt(text, from, closing);
  const open = to === null;
  const body = text.slice(from, to ?? from + LONGEST + 1);
  if (body.length > LONGEST || BLANK_LINE.test(body) || body.startsWith("$")) return null;
  if (open) return growing && !single ? { from, to: text.length, end: text.length, display, open } : null;
  const behind = text.slice(to + closing.length, to + closing.length + 4);
  const words = !body.includes("\\") && WORDS.test(body);
  if (opening === "$$" && behind.startsWith("$")) return null;
  if (!body.trim() || (opening !== "\\[" && body.includes("`"))) return null;
  if (single && (/^\s|\s$|\n/.test(body) || words || BEHIND.test(behind))) return null;
  if (opening === "\\(" && words) return null;
  if (opening === "\\[" && (!FORMAL.test(body) || !BEHIND_BRACKET.test(behind))) return null;
  return { from, to, end: to + closing.length, display, open };
}

/** Find the first of these signs that is not escaped. @param {string} text @param {number} from @param {string} closing */
function closingAt(text, from, closing) {
  const last = Math.min(text.length, from + LONGEST + 2);
  for (let at = from; at < last; at += 1) {
    if (text.startsWith(closing, at)) return at;
    if (text.charAt(at) === "\\") at += 1;
  }
  return null;
}

/** Make the extension of micromark for a text. @param {string} text @param {boolean} growing */
export function formulas(text, growing) {
  const within = { name: "formula", tokenize: tokenizer(text, growing, false) };
  const alone = { name: "formula", concrete: true, tokenize: tokenizer(text, growing, true) };
  return {
    text: { [DOLLAR]: within, [BACKSLASH]: within },
    flow: { [DOLLAR]: alone, [BACKSLASH]: alone },
  };
}

function tokenizer(text, growing, alone) {
  return function tokenize(effects, ok, nok) {
    const { parser, now, interrupt } = this;
    const found = formulaAt(text, now().offset, growing);
    const rest = found ? /^[ \t]*(?=\r?\n|$)/.exec(text.slice(found.end, found.end + 80)) : null;
    return found && (!alone || (found.display && rest)) ? begin : nok;

    function begin(code) {
      Object.assign(effects.enter("formula"), { found });
      effects.enter("formulaSign");
      return opening(code);
    }

    function opening(code) {
      if (now().offset < found.from) {
        effects.consume(code);
        return opening;
      }
      effects.exit("formulaSign");
      if (!interrupt || !alone) return between(code);
      effects.exit("formula");
      return ok(code);
    }

    function between(code) {
      if (code === null) return found.open ? ended(code) : nok(code);
      if (now().offset >= found.to) {
        effects.enter("formulaSign");
        return closing(code);
      }
      if (isLineEnding(code)) {
        effects.enter("lineEnding");
        effects.consume(code);
        effects.exit("lineEnding");
        return begun;
      }
      effects.enter("formulaData");
      return data(code);
    }

    function begun(code) {
      return alone && parser.lazy[now().line] ? nok(code) : between(code);
    }

    function data(code) {
      if (code === null || isLineEnding(code) || now().offset >= found.to) {
        effects.exit("formulaData");
        return between(code);
      }
      effects.consume(code);
      return data;
    }

    function closing(code) {
      if (code === null && now().offset < found.end) return nok(code); // a cell of a table ends before it
      if (now().offset < found.end || (alone && code !== null && !isLineEnding(code))) {
        effects.consume(code);
        return closing;
      }
      effects.exit("formulaSign");
      return ended(code);
    }

    function ended(code) {
      effects.exit("formula");
      return ok(code);
    }
  };
}

/** @param {number | null} code As micromark has it: a tab and what fills its width are negative too. */
function isLineEnding(code) {
  return code !== null && code < -2;
}

/** Make the extension of mdast. */
export function formulasFromMarkdown() {
  return {
    enter: {
      formula(token) {
        const { display, open } = token.found;
        this.enter({ type: "formula", display, open, value: "" }, token);
        this.buffer();
      },
      formulaData(token) {
        this.config.enter.data.call(this, token);
      },
    },
    exit: {
      formula(token) {
        const value = this.resume();
        this.stack.at(-1).value = value;
        this.exit(token);
      },
      formulaData(token) {
        this.config.exit.data.call(this, token);
      },
    },
  };
}
