// LangChain.js: a question to ChatOpenAI, whole and streamed, over Chat Completions and over Responses.
// node langchain.mjs URL QUESTION
import { ChatOpenAI } from "@langchain/openai";

const [url, question] = process.argv.slice(2);
const shown = {};
for (const useResponsesApi of [false, true]) {
  const model = new ChatOpenAI({
    model: "extractive",
    apiKey: "none",
    useResponsesApi,
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });
  const whole = await model.invoke(question);
  let streamed;
  for await (const chunk of await model.stream(question)) streamed = streamed ? streamed.concat(chunk) : chunk;
  const told = (message) => ({
    text: message.text,
    citations: message.contentBlocks.flatMap((block) => block.annotations ?? []).map(({ type, url }) => ({ type, url })),
  });
  shown[useResponsesApi ? "responses" : "completions"] = { whole: told(whole), streamed: told(streamed) };
}
console.log(JSON.stringify(shown));
