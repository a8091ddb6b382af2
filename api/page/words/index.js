/** The texts of the interface, in the reader's language. */

import en from "./en.json" with { type: "json" };
import { spoken } from "./messages.js";

/** @typedef {import("./catalogue.js").Words} Words Every language has all of it. */
/** @typedef {"en" | "vi" | "zh" | "ar"} Language */

/** @type {Record<Language, string>} Each in its own words. */
export const LANGUAGES = { en: "English", vi: "Tiếng Việt", zh: "中文", ar: "العربية" };
const CHOSEN = "citewell.language";

const CATALOGUES = {
  en: async () => en,
  vi: async () => (await import("./vi.json", { with: { type: "json" } })).default,
  zh: async () => (await import("./zh.json", { with: { type: "json" } })).default,
  ar: async () => (await import("./ar.json", { with: { type: "json" } })).default,
};

/** The texts, once `speak` has been called. @type {Words} */
export let words = spoken(en, "en");
/** @type {Language} */
export let language = "en";

/** How numbers and dates are written: digits are the same in all languages. */
export let locale = "en";

/** Speak the language that was chosen, or else the first of the browser's that there is. */
export async function speak() {
  const wanted = [localStorage.getItem(CHOSEN) ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2).toLowerCase());
  language = /** @type {Language} */ (wanted.find((tag) => tag in CATALOGUES) ?? "en");
  locale = language === "ar" ? "ar-u-nu-latn" : language;
  words = spoken(await CATALOGUES[language](), locale);
  document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
  document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
}

/** Choose a language; the page is loaded anew in it. @param {Language} chosen */
export function choose(chosen) {
  localStorage.setItem(CHOSEN, chosen);
  location.reload();
}
