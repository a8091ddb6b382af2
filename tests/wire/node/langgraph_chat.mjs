// A chat page on LangGraph's React hook, without a browser: what a person does there, and what the page then shows.
// node langgraph_chat.mjs PACKAGE URL '[["send", "text"], ["edit", 0, "text"], ["regenerate"]]'
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of ["document", "navigator", "sessionStorage"]) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
}
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const [release, url, actions] = process.argv.slice(2);
const { useStream } = await import(release);

const textOf = ({ content }) => (typeof content === "string" ? content : content.map(({ text }) => text ?? "").join(""));
let hook;
let shown = [];
function Page() {
  // A run has about eight checkpoints, and the hook finds the place of an edit in the history that it has loaded.
  hook = useStream({ apiUrl: url, assistantId: "citewell", fetchStateHistory: { limit: 100 } });
  shown.push(hook.messages.map(textOf));
  return null;
}
createRoot(window.document.createElement("div")).render(createElement(Page));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function settled(isDone) {
  for (let tries = 0; tries < 1000 && !isDone(); tries++) await pause(20);
  for (let quiet = 0, seen = shown.length; quiet < 10; quiet++, await pause(20)) {
    if (seen !== shown.length) [quiet, seen] = [0, shown.length];
  }
}
const before = (message) => hook.getMessagesMetadata(message)?.firstSeenState?.parent_checkpoint;
const asked = (content) => ({ messages: [{ type: "human", content }] });
const act = {
  send: (text) => hook.submit(asked(text)),
  edit: (index, text) => hook.submit(asked(text), { checkpoint: before(hook.messages[index]) }),
  regenerate: () => hook.submit(undefined, { checkpoint: before(hook.messages.at(-1)) }),
};
await settled(() => hook && !hook.isLoading);
const states = [];
for (const [name, ...rest] of JSON.parse(actions)) {
  shown = [];
  Promise.resolve(act[name](...rest)).catch(() => {}); // the hook tells the error
  await settled(() => hook.isLoading || hook.error);
  await settled(() => !hook.isLoading);
  const messages = hook.messages.map(({ id, type, content, additional_kwargs }) => ({ id, type, content, additional_kwargs }));
  states.push({ messages, shown, error: hook.error?.message ?? null });
}
console.log(JSON.stringify(states));
process.exit(0);
