// Questions of one conversation to the default model of the AI SDK's OpenAI provider, each whole and streamed.
// node openai_responses.mjs URL '["question", ...]'
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai-newest";

const [url, questions] = process.argv.slice(2);
const openai = createOpenAI({ baseURL: `${url.replace(/\/$/, "")}/v1`, apiKey: "none" });
const model = openai("extractive");
const plain = (value) => JSON.parse(JSON.stringify(value));
const source = ({ id, ...rest }) => rest;
const heard = (text, sources, reasoning, finishReason) =>
  plain({ text, sources: sources.map(source), reasoning: reasoning.map((part) => part.text), finishReason });

const all = [];
let messages = [];
for (const question of JSON.parse(questions)) {
  const asked = [...messages, { role: "user", content: question }];
  const whole = await generateText({ model, messages: asked, maxRetries: 0 });
  const stream = streamText({ model, messages: asked, maxRetries: 0 });
  const streamed = heard(await stream.text, await stream.sources, await stream.reasoning, await stream.finishReason);
  const { providerMetadata } = whole;
  const stored = await (await fetch(`${url.replace(/\/$/, "")}/v1/responses/${providerMetadata.openai.responseId}`)).json();
  all.push({
    whole: heard(whole.text, whole.sources, whole.reasoning, whole.finishReason),
    streamed,
    session: stored.citewell.session_id,
  });
  messages = [...asked, ...whole.response.messages];
}
console.log(JSON.stringify(all));
