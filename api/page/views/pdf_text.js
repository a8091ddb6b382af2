/** The text that PDF.js has laid over a page: where a quote stands in it, and the column around that. */

const AROUND = 0.2; // of the page's height, above and below
const GAP = 0.015; // of its width: what is wider parts two columns
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Find a quote that the server has not found, by its letters and digits, for white space, hyphens and line ends differ.
 * @param {HTMLElement} layer
 * @param {string} quote
 * @returns {import("./pdf_page.js").Box[]} In shares of the layer; none where the quote is not in it.
 */
export function boxesInText(layer, quote) {
  const wanted = lettersOf(quote).join("");
  if (!wanted) return [];
  /** @type {{node: Text, at: number}[]} */
  const places = [];
  let letters = "";
  const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = /** @type {Text} */ (node);
    for (let at = 0; at < text.data.length; at += 1) {
      for (const letter of lettersOf(text.data.charAt(at))) {
        letters += letter;
        places.push({ node: text, at });
      }
    }
  }
  const start = letters.indexOf(wanted);
  const [first, last] = [places[start], places[start + wanted.length - 1]];
  if (start < 0 || !first || !last) return [];
  const range = document.createRange();
  range.setStart(first.node, first.at);
  range.setEnd(last.node, last.at + 1);
  const around = layer.getBoundingClientRect();
  return [...range.getClientRects()].filter(({ width }) => width > 0).map((rect) => ({
    left: (rect.left - around.left) / around.width,
    top: (rect.top - around.top) / around.height,
    width: rect.width / around.width,
    height: rect.height / around.height,
  }));
}

/** @param {string} text */
function lettersOf(text) {
  return [...text.normalize("NFKC").toLowerCase()].filter((letter) => LETTER.test(letter)).flatMap((letter) => letter.split(""));
}

/**
 * Find the column that a mark stands in, which is what is read of a page that is too small as a whole.
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
