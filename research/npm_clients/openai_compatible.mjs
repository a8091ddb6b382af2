// AI SDK's provider for OpenAI-compatible endpoints: a question, whole and streamed.
// node openai_compatible.mjs URL QUESTION
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const [url, prompt] = process.argv.slice(2);
const model = createOpenAICompatible({ name: "citewell", baseURL: `${url}/v1`, apiKey: "none" })("extractive");
const whole = await generateText({ model, prompt, maxRetries: 0 });
const stream = streamText({ model, prompt, maxRetries: 0 });
const told = (text, sources) => ({ text, citations: sources });
console.log(
  JSON.stringify({ whole: told(whole.text, whole.sources), streamed: told(await stream.text, await stream.sources) }),
);
