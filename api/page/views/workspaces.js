/** Says which workspace is on show and chooses another, where there are several. */

import { change, h } from "../dom.js";
import { words } from "../words/index.js";
import { menuButton } from "./menu.js";

/** Make the chooser. @param {import("../state/app.js").App} app */
export function workspaceChooser(app) {
  const { known } = app.workspaces;
  const name = h("p", { dir: "auto" });
  const button = menuButton(words.sessions.workspaces, "down", () => [
    {
      label: words.sessions.workspaces,
      options: known.value.names.map((each) => ({
        text: each,
        checked: each === known.value.current,
        act: () => void (each === known.value.current || app.workspaces.choose(each)),
      })),
    },
  ]);
  const element = h("div", { class: "workspace" }, name, button);
  known.watch(({ names, current }) => {
    element.hidden = names.length < 2;
    name.textContent = name.title = current;
    change(button, { "aria-label": words.sessions.workspace(current) });
  });
  return element;
}
