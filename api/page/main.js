/** Starts the page: the language, the state, the views over it, and what the address names. */

import "./state/theme.js";
import { App, addressOf, addressed } from "./state/app.js";
import { speak, words } from "./words/index.js";
import { titleOf } from "./words/titles.js";
import { goToQuestion } from "./views/question_field.js";
import { shell } from "./views/shell.js";

await speak();
const app = new App(new URL(".", document.baseURI));
document.body.append(...shell(app));

app.conversation.session.watch((session) => {
  document.title = session ? `${titleOf(session)} · ${words.page.name}` : words.page.name;
  if (!session) return;
  void app.selection.restore(session);
  app.sessions.note(session);
  // Where another session is addressed already, that one is about to be opened.
  if (!addressed()) history.pushState(null, "", addressOf(session.session_id));
});
app.tabs.hear((told) => app.hear(told));
addEventListener("hashchange", () => void app.openAddressed());
addEventListener("online", () => void app.refresh());
document.addEventListener("visibilitychange", () => document.hidden || void app.refresh());
await app.begin();
// Where there is a keyboard, one may type at once.
if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) goToQuestion();
