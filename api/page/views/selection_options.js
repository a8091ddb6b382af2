/** Where the answer is looked for, and who writes it: switches, and the choice of a model. */

import { change, fill, h } from "../dom.js";
import { EXTRACTIVE } from "../state/selection.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {"web" | "thinking"} SwitchName */

/** @type {Record<SwitchName, IconName>} */
const DRAWINGS = { web: "web", thinking: "think" };

/** Make the switches and the choice of a model. @param {App} app @returns {HTMLElement[]} */
export function selectionOptions(app) {
  const { selection } = app;
  const switches = {
    web: switchOf(app, "web"),
    thinking: switchOf(app, "thinking"),
  };
  const model = modelChoice(app);

  function show() {
    const { options, limited, thinks } = selection;
    for (const name of /** @type {SwitchName[]} */ (Object.keys(switches))) {
      const missing = name === "web" && !selection.webOffered.value;
      const idle = missing || (limited && name === "web");
      const { hints } = words.selection;
      const hint = missing ? hints.noWeb : idle ? hints.limited : hints[name];
      const pressed = options.value[name] && !missing ? "true" : "false";
      change(switches[name], { "aria-pressed": pressed, disabled: idle, title: hint });
      switches[name].classList.toggle("missing", missing);
      if (name === "web") said(switches.web, missing ? words.selection.noWeb : words.selection.web);
    }
    switches.thinking.hidden = !thinks;
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
  return [...Object.values(switches), model];
}

/** @param {App} app @param {SwitchName} name */
function switchOf(app, name) {
  const onclick = () => app.selection.choose({ [name]: !app.selection.options.value[name] });
  const check = h("span", { class: "on" }, icon("check"));
  return h("button", { type: "button", class: "small switch", onclick },
    icon(DRAWINGS[name]),
    h("span", { class: "name" }, words.selection[name]),
    check,
  );
}

/** Name a switch. @param {HTMLElement} element @param {string} name */
function said(element, name) {
  const shown = element.querySelector(".name");
  if (shown && shown.textContent !== name) shown.textContent = name;
}

/** @param {App} app */
function modelChoice(app) {
  const onchange = () => app.selection.choose({ model: choice.value });
  const choice = h(
    "select",
    { class: "model", "aria-label": words.selection.model, title: words.selection.model, onchange },
  );
  return choice;
}
