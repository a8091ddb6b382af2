// A question to Anthropic's own client, whole and streamed.
// node messages.mjs URL QUESTION
import Anthropic from "@anthropic-ai/sdk";

const [url, question] = process.argv.slice(2);
const client = new Anthropic({ baseURL: url.replace(/\/$/, ""), apiKey: "none", maxRetries: 0 });
const asked = { model: "citewell", max_tokens: 1024, messages: [{ role: "user", content: question }] };

const whole = await client.messages.create(asked);
const cited = [];
const stream = client.messages.stream(asked);
stream.on("citation", (citation) => cited.push(citation.cited_text));
const streamed = await stream.finalMessage();
const refused = await client.messages.create({ ...asked, messages: [] }).catch((error) => [error.status, error.type]);
const said = ({ content, stop_reason }) => ({ content, stop_reason });
console.log(JSON.stringify({ whole: said(whole), streamed: said(streamed), cited, refused }));
