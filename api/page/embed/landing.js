/** Where a quote stands in the site's own pages: the address of its page, its anchor, and the words to scroll to. */

import { landing, originalAddress } from "../text/addresses.js";

const LONGEST = 100; // characters that are named whole; of more, the first and the last words
const BULLET = /^\s*(?:\d+[.)]\s+)?[^\p{L}\p{N}]*/u;
const SIGNS = /[\n|*_`#<>[\]()\\]+/; // what may be a sign of the document's format, and no part of what its page shows

/**
 * Give the address at which a quote can be read, or nothing where its document is no page.
 * @param {{url: string | null}} source
 * @param {{anchor?: string}} place
 * @param {string} said The words of the quote that answer best.
 * @param {URL} site
 */
export function addressOf({ url }, { anchor }, said, site) {
  const address = landing(originalAddress(url, site), anchor);
  const directive = "fragmentDirective" in document ? directiveOf(said) : "";
  return address && directive ? `${address}${address.includes("#") ? "" : "#"}:~:text=${directive}` : address;
}

/** Name words by a text directive, as the browser finds them in a page (WICG, Scroll to Text Fragment).
 * @param {string} said */
function directiveOf(said) {
  const pieces = said.split(SIGNS).map((each) => each.replace(BULLET, "").trim());
  const piece = pieces.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
  const words = piece.split(/\s+/);
  const ends = words.length < 10 ? [] : [words.slice(0, 5).join(" "), words.slice(-5).join(" ")];
  const parts = piece.length <= LONGEST ? [piece] : ends;
  return parts.map((each) => encodeURIComponent(each).replaceAll("-", "%2D")).join(",");
}

/** Let a link lead on in place where it is of the site itself, else in a tab of its own.
 * @param {HTMLAnchorElement} link @param {URL} site */
export function leadOn(link, site) {
  if (new URL(link.href).origin === site.origin) link.removeAttribute("target");
  else link.target = "_blank";
  return link;
}
