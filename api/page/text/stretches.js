/** What of a source in Markdown is shown: all but its signs. */

/**
 * Find the stretches of a text that a node shows of its source: all but the signs of Markdown.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {string} value What the node says.
 */
export function matched(text, start, end, value) {
  if (value.length === end - start) return value ? [{ start, end }] : [];
  /** @type {{start: number, end: number}[]} */
  const found = [];
  let said = 0;
  for (let at = start; at < end && said < value.length; at += 1) {
    const sign = text.charAt(at);
    const escapes = sign === "\\" && at + 1 < end && text.charAt(at + 1) === value.charAt(said) && value.charAt(said + 1) !== sign;
    const same = sign === value.charAt(said) || (sign === "\n" && value.charAt(said) === " ");
    if (escapes || !same) continue;
    const last = found.at(-1);
    if (last && last.end === at) last.end = at + 1;
    else found.push({ start: at, end: at + 1 });
    said += 1;
  }
  return found;
}
