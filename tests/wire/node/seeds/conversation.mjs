// The client of the conversation dialect: an EventSource whose messages are told apart by `type`.
//
//   node seeds/conversation.mjs URL ['{"cuts": [bytes, ...], "patient": true}']
//
// The seed's own client closes at the end and at whatever goes wrong; a patient one leaves all to EventSource, and goes
// on until the server tells it to stop. `cuts` breaks its connections in turn after so many bytes. Waiting before a
// reconnect is cut short by a `retry:` before each stream.
import { EventSource } from "eventsource";

const [url, said = "{}"] = process.argv.slice(2);
const { cuts = [], patient = false } = JSON.parse(said);
const heard = { types: [], shown: "", done: null, error: null, connected: [], broken: 0, requests: [] };

function breaking(body, bytes) {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("retry: 30\n\n"));
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left <= 0) {
        await reader.cancel();
        controller.error(new Error("the connection broke"));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function fetchAndBreak(input, init) {
  const response = await fetch(input, init);
  heard.requests.push({ status: response.status, lastEventId: init.headers["Last-Event-ID"] ?? null });
  if (response.status !== 200) return response;
  return new Response(breaking(response.body, cuts.shift() ?? Infinity), response);
}

function appendToMessage(content) {
  heard.shown += content;
}

const eventSource = new EventSource(url, { fetch: fetchAndBreak });

eventSource.onmessage = (event) => {
  const data = JSON.parse(event.data);
  heard.types.push(data.type);
  switch (data.type) {
    case "connected":
      heard.connected.push(data.conversationId);
      break;
    case "content":
      appendToMessage(data.content);
      break;
    case "done":
      heard.done = data;
      if (!patient) eventSource.close();
      break;
    case "error":
      heard.error = data;
      if (!patient) eventSource.close();
      break;
  }
};

eventSource.onerror = () => {
  heard.broken += 1;
  if (!patient) eventSource.close();
};

const watch = setInterval(() => {
  if (eventSource.readyState === EventSource.CLOSED) {
    clearInterval(watch);
    console.log(JSON.stringify(heard));
  }
}, 5);
