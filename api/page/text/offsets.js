/** Offsets in Unicode code points, as the API counts them, in the UTF-16 of JavaScript's strings. */

/**
 * Make a function that gives the UTF-16 index of a code point offset in a text. Offsets may be asked for in any order;
 * in rising order each step costs only what lies between.
 * @param {string} text
 * @returns {(offset: number) => number}
 */
export function codePointIndex(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => Math.min(Math.max(offset, 0), text.length);
  let points = 0;
  let units = 0;
  return (offset) => {
    if (offset < points) points = units = 0;
    while (points < offset && units < text.length) {
      units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
      points += 1;
    }
    return units;
  };
}

/** Count the code points of a text. @param {string} text */
export function codePoints(text) {
  return [...text].length;
}
