/** Where a quote stands in the text that PDF.js has laid over a page, where the server has not found it. */

const LETTER = /[\p{L}\p{N}]/u;

/**
 * Find a quote by its letters and digits, for white space, hyphens and line ends differ.
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
