/** Says who is logged in, below the sessions, with the way out. */

import { h } from "../dom.js";
import { logOut } from "../state/account.js";
import { words } from "../words/index.js";
import { textButton } from "./icons.js";

/** Make the line; whoever brought a key, or is alone on this machine, knows. @param {App} app */
export function account(app) {
  const name = h("p", { dir: "auto" });
  const leave = textButton("quiet small", () => void app.attempt(() => logOut(app)), words.account.logOut);
  const element = h("div", { class: "account", role: "group", "aria-label": words.account.label }, name, leave);
  app.person.watch((person) => {
    leave.hidden = person?.by !== "login";
    element.hidden = leave.hidden && person?.by !== "proxy";
    name.textContent = name.title = person?.name ?? "";
  });
  return element;
}
