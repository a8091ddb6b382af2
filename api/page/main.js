/** Starts the page: the language, the state, the views over it, and what the address names. */

import { App, addressOf } from "./state/app.js";
import { speak, words } from "./words/index.js";
import { shell } from "./views/shell.js";

await speak();
document.title = words.page.name;
const app = new App(new URL(".", document.baseURI));
document.body.append(...shell(app));

app.conversation.session.watch((session) => {
  document.title = session ? `${session.title} · ${words.page.name}` : words.page.name;
  if (!session) return;
  void app.selection.restore(session);
  const address = addressOf(session.session_id);
  if (location.hash !== address) history.pushState(null, "", address);
});
app.tabs.hear(({ kind, sessionId }) => {
  const here = sessionId !== undefined && sessionId === app.conversation.session.value?.session_id;
  if (kind === "asked" && here) void app.attempt(() => app.conversation.joinUnfinished());
  if (kind === "sessions" || kind === "ended") void app.attempt(() => app.sessions.read());
});
addEventListener("hashchange", () => void app.openAddressed());
await Promise.all([
  app.openAddressed(),
  app.attempt(() => app.sessions.read()),
  app.attempt(async () => app.models.set(await app.client.models())),
]);
