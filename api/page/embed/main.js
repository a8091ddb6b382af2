/// <reference path="./css.d.ts" />
/**
 * The window in other people's pages, by one script: a button that opens it, or a box in the page.
 *
 * It stands in a shadow root with a style sheet of its own, makes no markup, and keeps nothing in the browser. Why is in
 * docs/adr/0052-a-window-in-other-peoples-pages.md.
 */

import style from "../style/embed.css";
import styleOfAnswers from "../style/embed_answer.css";
import { Client } from "../api/client.js";
import { h } from "../dom.js";
import { embed as ar } from "../words/embed/ar.js";
import { embed as en } from "../words/embed/en.js";
import { embed as vi } from "../words/embed/vi.js";
import { embed as zh } from "../words/embed/zh.js";
import { conversation } from "./conversation.js";
import { followScheme } from "./scheme.js";

/** @typedef {typeof en} Words */
/** @typedef {{words: Words, locale: string, client: Client, site: URL, kept: Storage | null, questions: string[], advice: string}} Setting
 * `site` is where paths of documents begin; `advice` is for the site's owner where nothing can be asked. */

const WORDS = /** @type {Record<string, Words>} */ ({ en, vi, zh, ar });
const NAME = "citewell-ask";

const script = /** @type {HTMLScriptElement | null} */ (document.currentScript ?? document.querySelector('script[src*="embed.js"]'));
if (script && !document.querySelector(NAME)) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => stand(script));
  else stand(script);
}

/** Put the window into the page, as the attributes of its script say, or the part of its address behind the `#`. @param {HTMLScriptElement} script */
function stand(script) {
  const address = new URL(script.src);
  /** @type {Record<string, string | undefined>} */
  const asked = { ...Object.fromEntries(new URLSearchParams(address.hash.slice(1))), ...script.dataset };
  const { key = "", lang, box, side, theme } = asked;
  const advice = key
    ? `pages of ${location.origin} can't ask ${address.origin}. Is it up, is the key good, and is this origin among those of the key? See \`citewell keys list\`.`
    : "the script has no key. Make one with `citewell keys create --origin " + location.origin + "`, and put it into the attribute data-key.";
  if (!key) console.error(`Citewell: ${advice}`);
  const tags = [lang, document.documentElement.lang, ...navigator.languages].map((tag) => (tag ?? "").slice(0, 2).toLowerCase());
  const language = tags.find((tag) => Object.hasOwn(WORDS, tag)) ?? "en";
  const words = WORDS[language] ?? en;
  const title = asked["title"] || words.title;
  const talk = conversation({
    words, advice, locale: language === "ar" ? "ar-u-nu-latn" : language, site: new URL(asked["site"] ?? "/", location.href),
    kept: asked["remember"] === undefined ? null : sessionStorage,
    client: new Client(new URL(".", address), () => key), questions: (asked["questions"] ?? "").split("|").filter((each) => each.trim()),
  });
  const host = document.createElement(NAME);
  const root = host.attachShadow({ mode: "open", delegatesFocus: false });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style + styleOfAnswers);
  root.adoptedStyleSheets = [sheet];
  const frame = h("div", { class: `frame ${box === undefined ? "apart" : "box"} ${side ?? ""}`, lang: language === "zh" ? "zh-Hans" : language, dir: language === "ar" ? "rtl" : "ltr" });
  root.append(frame);
  if (box !== undefined) {
    const place = box ? document.querySelector(box) : null;
    frame.append(h("section", { "aria-label": title }, h("header", null, h("h2", null, title), talk.over), talk.element));
    if (box && !place) console.error(`Citewell: data-box: there is no element ${box} in the page.`);
    if (place) place.append(host);
    else script.after(host);
  } else {
    const close = h("button", { type: "button", class: "close", "aria-label": words.close, onclick: () => dialog.close() }, "✕");
    const dialog = h("dialog", { "aria-label": title, onclick: leave }, h("header", null, h("h2", null, title), talk.over, close), talk.element);
    const open = () => {
      if (dialog.open) return;
      dialog.showModal();
      talk.field.focus();
    };
    const button = h("button", { type: "button", class: "launcher", "aria-haspopup": "dialog", onclick: open }, words.ask);
    frame.append(asked["open"] ? "" : h("section", { "aria-label": title }, button), dialog);
    /** Close where somebody presses beside the window, or follows a link to a place in this very page. @param {MouseEvent} event */
    function leave(event) {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      if (event.target === dialog || (link && !link.target && link.pathname === location.pathname)) dialog.close();
    }
    if (asked["open"]) {
      document.addEventListener("click", (event) => {
        if (event.target instanceof Element && event.target.closest(asked["open"] ?? "")) open();
      });
    }
    document.documentElement.append(host); // outside of what a site's own scripts replace
  }
  followScheme(host, theme);
}
