// CopilotKit: a question to an agent of its runtime, by its React hook without a browser, and what the page knows.
// node copilotkit.mjs URL QUESTION
import { createServer } from "node:http";
import { register } from "node:module";
import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { Window } from "happy-dom";

const [url, question] = process.argv.slice(2);
const agents = { default: new HttpAgent({ url: `${url}/agui` }) };
const runtime = new CopilotRuntime({ agents, runner: new InMemoryAgentRunner() });
const server = createServer(createCopilotNodeListener({ runtime, basePath: "/api/copilotkit", cors: true }));
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const runtimeUrl = `http://127.0.0.1:${server.address().port}/api/copilotkit`;

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of [
  "document", "navigator", "localStorage", "sessionStorage", "MutationObserver", "ResizeObserver", "Element",
  "HTMLElement", "Node", "CustomEvent", "customElements", "getComputedStyle",
]) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
}
// A page's bundler knows what to do with its style sheets; Node.js does not.
const load = `export async function load(url, context, next) {
  return url.endsWith(".css") ? { format: "module", source: "", shortCircuit: true } : next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(load)}`);
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { CopilotKitProvider, useAgent } = await import("@copilotkit/react-core/v2");
let held;
function Page() {
  held = useAgent({ agentId: "default" });
  return null;
}
const page = createElement(CopilotKitProvider, { runtimeUrl }, createElement(Page));
createRoot(window.document.createElement("div")).render(page);

async function until(isDone) {
  for (let tries = 0; tries < 1000 && !isDone(); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
}
await until(() => held?.isReady);
held.agent.addMessage({ id: "u1", role: "user", content: question });
await held.agent.runAgent({});
const { messages, state } = held.agent;
const source = new Map((state.sources ?? []).map((each) => [each.index, each]));
console.log(
  JSON.stringify({
    shown: {
      text: messages.findLast(({ role }) => role === "assistant").content,
      citations: state.citations.map((each) => ({ quote: each.quote, url: source.get(each.source_index)?.url })),
    },
  }),
);
process.exit(0);
