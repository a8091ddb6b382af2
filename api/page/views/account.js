/** Says who is logged in, below the sessions, with the way out. */

import { h } from "../dom.js";
import { logOut } from "../state/account.js";
import { words } from "../words/index.js";
import { textButton } from "./icons.js";

/** Put the line into its place. @param {App} app @param {HTMLElement} place Where it is to stand. */
export function account(app, place) {
  const name = h("p", { dir: "auto" });
  const leave = textButton("quiet small", () => void app.attempt(() => logOut(app)), words.account.logOut);
  place.append(h("div", { class: "account", role: "group", "aria-label": words.account.label }, name, leave));
  app.person.watch((person) => {
    leave.hidden = person?.by !== "login";
    name.textContent = name.title = person?.name ?? "";
  });
}
