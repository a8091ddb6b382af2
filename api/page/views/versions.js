/** "2 of 3": the way between the versions of a question, or of an answer. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { iconButton } from "./icons.js";

/** Make the switch between versions. @param {App} app @param {string} label */
export function versionSwitch(app, label) {
  let ids = /** @type {string[]} */ ([]);
  let at = 0;
  const place = h("span", null);
  const go = (/** @type {number} */ to) => void app.attempt(() => app.conversation.showVersion(/** @type {string} */ (ids[to])));
  const back = iconButton("back", words.conversation.previous, () => go(at - 1));
  const next = iconButton("next", words.conversation.following, () => go(at + 1));
  const element = h("div", { class: "versions", role: "group", "aria-label": label }, back, place, next);

  return {
    element,
    /** @param {string[]} versions @param {string | null} current @param {boolean} answering */
    show(versions, current, answering) {
      ids = versions;
      at = versions.indexOf(current ?? "");
      element.hidden = versions.length < 2 || at < 0;
      if (element.hidden) return;
      fill(place, words.conversation.version({ at: at + 1, of: versions.length }));
      change(back, { disabled: answering || at === 0 });
      change(next, { disabled: answering || at === versions.length - 1 });
    },
  };
}
