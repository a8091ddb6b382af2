/** Starts the page: the language, the state, the views over it, and what the address names. */

import "./state/theme.js";
import { App, addressOf, addressed } from "./state/app.js";
import { linkedBy, tokenIn } from "./text/deep_links.js";
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
    // Where another session is addressed already, that one is about to be opened.
    if (!addressed()) history.pushState(null, "", addressOf(session.session_id));
  });
  app.tabs.hear((told) => app.hear(told));
  addEventListener("popstate", () => linkedBy(location.hash) || app.reading.set(history.state?.reading ?? null));
  addEventListener("hashchange", () => void app.openAddressed());
  addEventListener("online", () => void app.refresh());
  document.addEventListener("visibilitychange", () => document.hidden || void app.refresh());
  await app.begin();
  if (history.state?.reading) app.reading.set(history.state.reading); // the page was loaded again
  app.reading.watch((reading) => {
    if (reading) return;
    if (history.state?.reading) history.back();
    // The address names what is read until it is closed.
    else if (linkedBy(location.hash)) history.replaceState(null, "", location.pathname + location.search);
  });
  // Where there is a keyboard, one may type at once.
  if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) goToQuestion();
}
