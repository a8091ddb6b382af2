// Requests of a release of the AI SDK, one after the other, each read as strictly as that release can.
// node ai_sdk.mjs PACKAGE URL '[{"chatId", "messages", "trigger"?, "messageId"?, "body"?, "headers"?, "resume"?, "replay"?}, ...]'
// "replay" names a file with the stream to read, in the place of asking.
import { readFile } from "node:fs/promises";
const [release, url, requests] = process.argv.slice(2);
const { DefaultChatTransport, readUIMessageStream } = await import(release);

async function ask({ chatId, resume = false, replay, headers, body, ...request }) {
  const fetch = replay && (async () => new Response(await readFile(replay)));
  const transport = new DefaultChatTransport({ api: `${url}/api/chat`, headers, body, fetch });
  const stream = resume
    ? await transport.reconnectToStream({ chatId })
    : await transport.sendMessages({ chatId, trigger: "submit-message", ...request });
  const told = { chunks: [], message: null, error: null };
  if (stream === null) return told;
  const [one, other] = stream.tee();
  try {
    // Without terminateOnError a chunk that the release refuses would pass in silence.
    for await (const message of readUIMessageStream({ stream: one, terminateOnError: true })) told.message = message;
  } catch (error) {
    told.error = String(error.message ?? error);
  }
  try {
    for await (const chunk of other) told.chunks.push(chunk);
  } catch {} // the same error as above
  return told;
}

const all = [];
for (const request of JSON.parse(requests)) all.push(await ask(request));
console.log(JSON.stringify(all));
