// Runs of an AG-UI agent on one thread, one after the other, through its client, which checks the order of events,
// applies the patches to the state, and builds the messages.
// node ag_ui.mjs PACKAGE URL '[{"content": "...", "forwardedProps"?, "reload"?}, ...]' THREAD_ID '{"state": ...}'
const [release, url, runs, threadId, initialState = "{}"] = process.argv.slice(2);
const { HttpAgent } = await import(release);
const agent = new HttpAgent({ url: `${url}/agui`, threadId, initialState: JSON.parse(initialState) });
const all = [];
for (const [place, { content, forwardedProps = {}, reload = false }] of JSON.parse(runs).entries()) {
  if (reload) agent.setMessages(agent.messages.slice(0, -1)); // the answer goes, its question stays
  else agent.addMessage({ id: `u${place}`, role: "user", content });
  const told = { events: [], error: null, result: null, newMessages: [] };
  const subscriber = { onEvent: ({ event }) => void told.events.push(event) };
  try {
    const done = await agent.runAgent({ runId: `r${place}`, forwardedProps }, subscriber);
    Object.assign(told, { result: done.result, newMessages: done.newMessages });
  } catch (error) {
    told.error = String(error.message ?? error);
  }
  all.push(structuredClone({ ...told, messages: agent.messages, state: agent.state }));
}
console.log(JSON.stringify(all));
process.exit(0);
