/// <reference path="./css.d.ts" />
/**
 * The window in other people's pages, by one script: a button that opens it, or a box in the page.
 *
 * It stands in a shadow root with a style sheet of its own, and makes no markup. Why it is built so is in
 * docs/adr/0052-a-window-in-other-peoples-pages.md.
 */

import style from "../style/embed.css";
import styleOfAnswers from "../style/embed_answer.css";
import { Client } from "../api/client.js";
import { h } from "../dom.js";
import ar from "../words/embed/ar.json" with { type: "json" };
import en from "../words/embed/en.json" with { type: "json" };
import vi from "../words/embed/vi.json" with { type: "json" };
import zh from "../words/embed/zh.json" with { type: "json" };
import { spoken } from "../words/messages.js";
import { conversation } from "./conversation.js";
import { followScheme } from "./scheme.js";

/** @typedef {import("../words/embed/catalogue.js").Words} Words */
/**
 * @typedef {object} Setting
 * @property {Words} words
 * @property {string} locale How numbers are written.
 * @property {Client} client
 * @property {URL} site Where paths of documents begin.
 * @property {Storage | null} kept Where the session's id is kept from page to page, if anywhere.
 * @property {string[]} questions To begin with.
 * @property {string} advice For the site's owner, where nothing can be asked.
 */

const NAME = "citewell-ask";
const CATALOGUES = { en, vi, zh, ar };

/** Put the window into the page, as its script's attributes say, or the part of its address behind the `#`.
 * @param {HTMLScriptElement} script */
function stand(script) {
  const address = new URL(script.src);
  /** @type {Record<string, string | undefined>} */
  const asked = { ...Object.fromEntries(new URLSearchParams(address.hash.slice(1))), ...script.dataset };
  const { key = "", lang, box, open, side = "", theme, site = "/", remember, questions = "" } = asked;
  const advice = adviceOf(key, address);
  if (!key) console.error(`Citewell: ${advice}`);
  const tags = [lang ?? "", document.documentElement.lang, ...navigator.languages];
  const language = tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => Object.hasOwn(CATALOGUES, tag)) ?? "en";
  const locale = language === "ar" ? "ar-u-nu-latn" : language;
  /** @type {Words} */
  const words = spoken(CATALOGUES[/** @type {keyof typeof CATALOGUES} */ (language)], locale);
  const title = asked["title"] || words.title;
  const talk = conversation({
    words,
    advice,
    locale,
    client: new Client(new URL(".", address), () => key),
    site: new URL(site, location.href),
    kept: remember === undefined ? null : storeOfTab(),
    questions: questions.split("|").filter((each) => each.trim()),
  });
  const inPage = () => [h("section", { "aria-label": title }, headed(title, talk), talk.element)];
  const parts = box === undefined ? inDialog(words, title, talk, open) : inPage();
  const inLanguage = { lang: language === "zh" ? "zh-Hans" : language, dir: language === "ar" ? "rtl" : "ltr" };
  const host = document.createElement(NAME);
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style + styleOfAnswers);
  root.adoptedStyleSheets = [sheet];
  root.append(h("div", { class: `frame ${box === undefined ? "" : "box"} ${side}`, ...inLanguage }, parts));
  const place = box ? document.querySelector(box) : null;
  if (box && !place) console.error(`Citewell: data-box: there is no element ${box} in the page.`);
  if (place) place.append(host);
  else if (box === undefined) document.documentElement.append(host); // outside of what a site's own scripts replace
  else if (document.body.contains(script)) script.after(host);
  else document.body.append(host);
  followScheme(host, theme);
}

/** Give the tab's own store, unless the browser keeps nothing for this page. */
function storeOfTab() {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

/** Say what to do where nothing can be asked. @param {string} key @param {URL} service */
function adviceOf(key, { origin }) {
  const own = location.origin;
  if (!key) return `the script has no key. Make one by \`citewell keys create --origin ${own}\` for data-key.`;
  return `pages of ${own} can't ask ${origin}. Is it up, is this origin one of the key? See \`citewell keys list\`.`;
}

/** @param {string} title @param {ReturnType<typeof conversation>} talk @param {...HTMLElement} more */
function headed(title, talk, ...more) {
  return h("header", null, h("h2", null, title), talk.over, more);
}

/**
 * Make a dialog with a button that opens it, or whatever in the page a selector names.
 * @param {Words} words
 * @param {string} title
 * @param {ReturnType<typeof conversation>} talk
 * @param {string | undefined} openers
 */
function inDialog(words, title, talk, openers) {
  const shut = () => dialog.close();
  const close = h("button", { type: "button", class: "close", "aria-label": words.close, onclick: shut }, "✕");
  const dialog = h("dialog", { "aria-label": title, onclick: leave }, headed(title, talk, close), talk.element);
  function open() {
    if (!dialog.open) dialog.showModal();
    talk.field.focus();
  }
  /** Close where somebody presses beside it, or follows a link within this very page. @param {MouseEvent} event */
  function leave({ target }) {
    const link = target instanceof Element ? target.closest("a") : null;
    if (target === dialog || (link && !link.target && link.pathname === location.pathname)) dialog.close();
  }
  if (openers) {
    const opens = (/** @type {Event} */ { target }) => target instanceof Element && target.closest(openers) && open();
    document.addEventListener("click", opens);
    return [dialog];
  }
  const launcher = { type: "button", class: "launcher", "aria-haspopup": "dialog", onclick: open };
  const button = h("button", launcher, words.ask);
  return [h("section", { "aria-label": title }, button), dialog];
}

const script = document.currentScript ?? document.querySelector('script[src*="embed.js"]');
if (script instanceof HTMLScriptElement && !document.querySelector(NAME)) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => stand(script));
  else stand(script);
}
