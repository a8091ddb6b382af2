/** Addresses that may be linked to: of the web, and nothing else. */

const WORD = /[\p{L}\p{N}]/u;
const BARE =
  /https?:\/\/[^\s<>[\]"'`|\\，。；：！？、（）「」《》【】“”‘’\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/iuy;
const TRAILING = /[.,;:!?*_~]/;

/**
 * Give an address as it may be linked to, or nothing where it is not one of the web, or where a name before its host
 * could pass for the host.
 * @param {string} address
 */
export function safeAddress(address) {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return "";
  const { protocol, username, password, href } = new URL(address);
  return (protocol === "http:" || protocol === "https:") && !username && !password ? href : "";
}

/**
 * Give the address that a document was taken from, if a browser may go there: one of the web, or a path of this server.
 * @param {string | null | undefined} url
 * @param {URL} home Where this server is.
 */
export function originalAddress(url, home) {
  const own = url && /^\/(?![/\\])/.test(url) && URL.canParse(url, home);
  return safeAddress(own ? new URL(url, home).href : (url ?? ""));
}

/**
 * Give the address of a place in a page; one that names a place already stays as it is.
 * @param {string} address May be empty.
 * @param {string | undefined} anchor
 */
export function landing(address, anchor) {
  return address && anchor && !address.includes("#") ? `${address}#${encodeURIComponent(anchor)}` : address;
}

/**
 * Read an address that stands in a text as such, without what ends the sentence that it stands in.
 * @param {string} text
 * @param {number} place
 * @param {number} end
 */
export function bareAddress(text, place, end) {
  if (place > 0 && WORD.test(text.charAt(place - 1))) return null;
  BARE.lastIndex = place;
  const found = (BARE.exec(text)?.[0] ?? "").slice(0, end - place);
  let length = found.length;
  let unopened = found.split(")").length - found.split("(").length;
  for (; length; length -= 1) {
    const sign = found.charAt(length - 1);
    if (sign === ")" && unopened > 0) unopened -= 1;
    else if (!TRAILING.test(sign)) break;
  }
  const href = safeAddress(found.slice(0, length));
  return href ? { href, length } : null;
}
