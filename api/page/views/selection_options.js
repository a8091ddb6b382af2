/** Where the answer is looked for, and who writes it: switches, and the choice of a model. */

import { change, fill, h } from "../dom.js";
import { words } from "../words/index.js";
import { icon } from "./icons.js";

/** @typedef {import("../state/app.js").App} App */
/** @typedef {"web" | "thinking"} SwitchName */

/** @type {Record<SwitchName, import("./icons.js").IconName>} */
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
      const idle = limited && name === "web";
      const hint = idle ? words.selection.hints.limited : words.selection.hints[name];
      change(switches[name], { "aria-pressed": options.value[name] ? "true" : "false", disabled: idle, title: hint });
    }
    switches.thinking.hidden = !thinks;
    model.value = options.value.model;
  }
  selection.options.watch(show);
  selection.pages.watch(show);
  app.models.watch((models) => {
    selection.offer(models);
    // The deployment's own is chosen by no name, so that another default is followed.
    fill(model, models.map(({ id, name }, at) => h("option", { value: at ? id : "" }, name)));
    model.hidden = models.length < 2;
    show();
  });
  return [...Object.values(switches), model];
}

/** @param {App} app @param {SwitchName} name */
function switchOf(app, name) {
  const onclick = () => app.selection.choose({ [name]: !app.selection.options.value[name] });
  const check = h("span", { class: "on" }, icon("check"));
  return h(
    "button",
    { type: "button", class: "small switch", onclick },
    icon(DRAWINGS[name]),
    words.selection[name],
    check,
  );
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
