// A page of assistant-ui on its LangGraph runtime, without a browser: questions of one thread, and what the page shows.
// node assistant_ui.mjs URL '["question", ...]'
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of ["document", "navigator", "localStorage", "sessionStorage", "MutationObserver", "ResizeObserver"]) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
}
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { AssistantRuntimeProvider } = await import("@assistant-ui/react");
const { useLangGraphRuntime } = await import("@assistant-ui/react-langgraph");
const { Client } = await import("@langchain/langgraph-sdk");

const [url, questions] = process.argv.slice(2);
const client = new Client({ apiUrl: url, apiKey: null });
const options = {
  create: async () => ({ externalId: (await client.threads.create()).thread_id }),
  load: async (externalId) => ({ messages: (await client.threads.getState(externalId)).values.messages ?? [] }),
  stream: async (messages, { initialize }) => {
    const { externalId } = await initialize();
    return client.runs.stream(externalId, "citewell", { input: { messages }, streamMode: ["messages-tuple", "values"] });
  },
};
let runtime;
function Page() {
  runtime = useLangGraphRuntime(options);
  return createElement(AssistantRuntimeProvider, { runtime });
}
createRoot(window.document.createElement("div")).render(createElement(Page));

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
async function until(isDone) {
  for (let tries = 0; tries < 1000 && !isDone(); tries++) await pause();
}
const thread = () => runtime.thread.getState();
await until(() => runtime && !thread().isLoading);
for (const question of JSON.parse(questions)) {
  const before = thread().messages.length;
  runtime.thread.append(question);
  await until(() => thread().messages.length > before + 1 && !thread().isRunning);
}
const shown = ({ role, content, metadata }) => ({ role, content, custom: metadata.custom });
console.log(JSON.stringify(thread().messages.map(shown)));
process.exit(0);
