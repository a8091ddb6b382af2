/** Where the answer is looked for, and who writes it: switches, and the choice of a model. */

import { change, fill, h } from "../dom.js";
import { EXTRACTIVE } from "../state/selection.js";
import { words } from "../words/index.js";
import { icon, textButton } from "./icons.js";

/** Make the switches and the choice of a model. @param {App} app @returns {HTMLElement[]} */
export function selectionOptions(app) {
  const { selection } = app;
  const { hints, noWeb, model: label } = words.selection;
  const named = h("span", { class: "name" });
  const web = switchOf(app, "web", "web", named);
  const thinking = switchOf(app, "thinking", "think", h("span", { class: "name" }, words.selection.thinking));
  const onchange = () => selection.choose({ model: model.value });
  const model = h("select", { class: "model", "aria-label": label, title: label, onchange });

  function show() {
    const { options, limited, thinks } = selection;
    const missing = !selection.webOffered.value;
    change(web, {
      "aria-pressed": String(options.value.web && !missing),
      disabled: missing || limited,
      title: missing ? hints.noWeb : limited ? hints.limited : hints.web,
    });
    web.classList.toggle("missing", missing);
    fill(named, missing ? noWeb : words.selection.web);
    change(thinking, { "aria-pressed": String(options.value.thinking), title: hints.thinking, hidden: !thinks });
    model.value = options.value.model;
  }
  selection.options.watch(show);
  selection.webOffered.watch(show);
  selection.pages.watch(show);
  app.models.watch((models) => {
    selection.offer(models);
    // The deployment's own is chosen by no name, so that another default is followed.
    fill(model, models.map(({ id, name }, at) => h("option", { value: at ? id : "" }, id === EXTRACTIVE ? words.run.account.quotes : name)));
    model.hidden = models.length < 2;
    show();
  });
  return [web, thinking, model];
}

/** @param {App} app @param {"web" | "thinking"} option @param {IconName} sign @param {HTMLElement} name */
function switchOf({ selection }, option, sign, name) {
  const turn = () => selection.choose({ [option]: !selection.options.value[option] });
  return textButton("small switch", turn, icon(sign), name, h("span", { class: "on" }, icon("check")));
}
