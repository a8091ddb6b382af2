// A page of assistant-ui on its AI SDK runtime, without a browser: a question, and what the page shows.
// node assistant_ui.mjs URL QUESTION
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of ["document", "navigator", "localStorage", "sessionStorage", "MutationObserver", "ResizeObserver"]) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
}
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { AssistantRuntimeProvider } = await import("@assistant-ui/react");
const { AssistantChatTransport, useChatRuntime } = await import("@assistant-ui/react-ai-sdk");

const [url, question] = process.argv.slice(2);
const transport = new AssistantChatTransport({ api: `${url}/api/chat` });
let runtime;
function Page() {
  runtime = useChatRuntime({ transport });
  return createElement(AssistantRuntimeProvider, { runtime });
}
createRoot(window.document.createElement("div")).render(createElement(Page));

async function until(isDone) {
  for (let tries = 0; tries < 1000 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
}
const thread = () => runtime.thread.getState();
await until(() => runtime && !thread().isLoading);
runtime.thread.append(question);
await until(() => thread().messages.length > 1 && !thread().isRunning);
const parts = thread().messages.at(-1).content;
console.log(
  JSON.stringify({
    shown: {
      text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
      citations: parts.filter((part) => part.type === "source").map(({ sourceType, url }) => ({ sourceType, url })),
      data: parts.filter((part) => part.type === "data").map((part) => part.name),
    },
  }),
);
process.exit(0);
