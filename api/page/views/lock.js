/** Lets people in: by a login, where the deployment has one, and else by a key. */

import { change, fill, h } from "../dom.js";
import { logIn, offersLogin } from "../state/account.js";
import { words } from "../words/index.js";
import { said } from "../words/problems.js";
import { textButton } from "./icons.js";

const COMMAND = "citewell keys create --user NAME";

/** Make what asks for a login or a key, and covers the page meanwhile. @param {App} app */
export function lock(app) {
  const wrong = h("p", { class: "wrong", id: "key-wrong", role: "alert" });
  const unseen = { type: "password", autocomplete: "off", spellcheck: "false" };
  const input = h("input", { id: "key", ...unseen, required: true, "aria-describedby": "key-wrong" });
  const enter = h("button", { class: "primary", type: "submit" }, words.lock.enter);
  const form = h("form", { onsubmit, hidden: true },
    h("p", { class: "brand" }, words.page.name),
    h("h1", null, words.lock.title),
    h("p", null, words.lock.why, " ", h("code", null, COMMAND), "."),
    h("label", { for: "key" }, words.lock.label),
    input, wrong, enter,
    h("p", { class: "muted" }, words.lock.kept),
  );
  const begin = textButton("primary", () => logIn(app), words.account.logIn);
  const login = h("section", { "aria-labelledby": "login-title", hidden: true },
    h("p", { class: "brand" }, words.page.name),
    h("h1", { id: "login-title" }, words.account.title),
    h("p", null, words.account.why),
    begin,
  );
  const element = h("div", { class: "lock", role: "main", hidden: true }, form, login);

  /** @param {string | null} text */
  const tell = (text) => (fill(wrong, text), change(input, { "aria-invalid": text && "true" }));

  async function onsubmit() {
    const key = input.value.trim();
    if (!key) return;
    tell(null);
    enter.disabled = true;
    const problem = await app.enter(key);
    enter.disabled = false;
    if (problem) tell(problem.status === 401 ? words.lock.wrong : said(problem));
    if (problem) input.select();
    else input.value = "";
  }

  app.locked.watch(async (locked) => {
    element.hidden = !locked;
    if (!locked) return;
    // A key that was kept and is refused now was good once.
    tell(app.key.value ? words.lock.wrong : null);
    const offered = await offersLogin(app);
    form.hidden = offered;
    login.hidden = !offered;
    (offered ? begin : input).focus();
  });
  return element;
}
