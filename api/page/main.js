/** Starts the page: the language, the state, the views over it, and what the address names. */

import "./state/theme.js";
import { App } from "./state/app.js";
import { followSteps } from "./state/steps.js";
import { tokenIn } from "./text/deep_links.js";
import { speak, words } from "./words/index.js";
import { titleOf } from "./words/titles.js";
import { goToQuestion } from "./views/question_field.js";
import { shell } from "./views/shell.js";

await speak();
const home = new URL(".", document.baseURI);
const token = tokenIn(location.hash);
if (token) (await import("./views/linked.js")).linked(new URL(`links/${token}/`, home));
else await begin();

async function begin() {
  const app = new App(home);
  document.body.append(...shell(app));

  app.conversation.session.watch((session) => {
    document.title = session ? `${titleOf(session)} · ${words.page.name}` : words.page.name;
    if (!session) return;
    void app.selection.restore(session);
    app.sessions.note(session);
  });
  followSteps(app);
  app.tabs.hear((told) => app.hear(told));
  addEventListener("hashchange", () => void app.openAddressed());
  addEventListener("online", () => void app.refresh());
  document.addEventListener("visibilitychange", () => document.hidden || void app.refresh());
  await app.begin();
  // Where there is a keyboard, one may type at once.
  if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) goToQuestion();
}
