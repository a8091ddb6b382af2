/** The column of a page that a quote stands in, which is what is read of it where the page as a whole is too small. */

const AROUND = 0.2; // of the page's height, above and below
const GAP = 0.015; // of its width: what is wider parts two columns

/**
 * Find it among the texts of a page.
 * @param {HTMLElement} layer Whose children are these texts, as they are drawn.
 * @param {Element} mark What is marked.
 * @returns {{left: number, width: number, letter: number} | null} In pixels from the left of the page, and how high its letters are.
 */
export function columnAround(layer, mark) {
  const page = layer.getBoundingClientRect();
  const own = mark.getBoundingClientRect();
  const room = AROUND * page.height;
  const texts = [...layer.querySelectorAll("span")].map((each) => each.getBoundingClientRect())
    .filter(({ top, bottom, width }) => width > 0 && bottom > own.top - room && top < own.bottom + room)
    .sort((one, other) => one.left - other.left);
  let [left, right] = [Infinity, -Infinity];
  for (const text of texts) {
    if (text.left > right + GAP * page.width) {
      if (right > own.left) break;
      left = text.left;
    }
    right = Math.max(right, text.right);
  }
  if (right <= own.left || left >= own.right) return null;
  const heights = texts.filter((each) => each.left >= left && each.right <= right).map(({ height }) => height).sort((one, other) => one - other);
  return { left: left - page.left, width: right - left, letter: heights[Math.floor(heights.length / 2)] ?? 0 };
}
