// Calls of a TypeScript client that @hey-api/openapi-ts makes of a deployment's own OpenAPI description.
// node generated.mjs URL FOLDER '{"question", "document"}'
import { build } from "esbuild";
import { createClient as generate } from "@hey-api/openapi-ts";
import { pathToFileURL } from "node:url";

const [url, folder, asked] = process.argv.slice(2);
const { question, document } = JSON.parse(asked);
await generate({ input: `${url.replace(/\/$/, "")}/openapi.json`, output: folder, plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"], logs: { level: "silent" } });
const outfile = `${folder}/bundle.mjs`;
const entry = { contents: 'export * from "./sdk.gen"; export { client } from "./client.gen";', resolveDir: folder };
await build({ stdin: entry, bundle: true, platform: "node", format: "esm", outfile, logLevel: "silent" });
const made = await import(pathToFileURL(outfile));
made.client.setConfig({ baseUrl: url.replace(/\/$/, ""), throwOnError: true });

const data = async (call) => (await call).data;
const stored = await data(made.addDocument({ body: document }));
const session = await data(made.createSession({ body: {} }));
const path = { session_id: session.session_id };
const whole = await data(made.startRun({ path, body: { question, stream: false } }));
const { stream } = await made.client.sse.post({ url: "/api/sessions/{session_id}/runs", path, body: { question }, headers: { "content-type": "application/json" } });
const events = [];
for await (const event of stream) events.push(event.type);
const response = await data(made.createResponse({ body: { input: question, store: false } }));
const chat = [];
for await (const part of (await made.chat({ body: { messages: [{ role: "user", content: question }] } })).stream) chat.push(part);
console.log(JSON.stringify({ stored, whole, events, response, chat }));
