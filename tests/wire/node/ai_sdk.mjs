// One request of a release of the AI SDK, read as strictly as that release can.
// node ai_sdk.mjs PACKAGE URL '{"messages": [...], "trigger"?, "messageId"?, "body"?, "headers"?, "resume"?}'
const [release, url, asked] = process.argv.slice(2);
const { DefaultChatTransport, readUIMessageStream } = await import(release);
const { chatId = "c1", resume = false, headers, body, ...request } = JSON.parse(asked);
const transport = new DefaultChatTransport({ api: `${url}/api/chat`, headers, body });
const stream = resume
  ? await transport.reconnectToStream({ chatId })
  : await transport.sendMessages({ chatId, trigger: "submit-message", ...request });
const told = { chunks: [], message: null, error: null };
if (stream !== null) {
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
}
console.log(JSON.stringify(told));
