// The client of the Self-RAG chat: fetch, a parser of lines, and a parser of `[ref:N]` that may be cut anywhere.
//
//   node seeds/self_rag.mjs URL 'body as JSON' [bytes of each read]
import assert from "node:assert/strict";

const CIRCLED = ["①", "②", "③", "④", "⑤", "⑥", "⑦", "⑧", "⑨", "⑩"];

export function parseReferences(content, maxIndex) {
  const segments = [];
  const text = (from, to) => {
    if (to > from) segments.push({ type: "text", content: content.slice(from, to) });
  };
  let behind = 0;
  for (const match of content.matchAll(/\[ref:(\d+)\]/g)) {
    const refIndex = Number(match[1]);
    if (refIndex < 1 || refIndex > maxIndex) continue;
    text(behind, match.index);
    segments.push({ type: "reference", content: CIRCLED[refIndex - 1] ?? `[${refIndex}]`, refIndex });
    behind = match.index + match[0].length;
  }
  const pendingText = content.slice(behind).match(/\[ref:?\d*$/)?.[0] ?? "";
  text(behind, content.length - pendingText.length);
  return { segments, pendingText };
}

// The seed's own example.
assert.deepEqual(parseReferences("React 18 features[ref:1] and hooks[ref:", 1), {
  segments: [
    { type: "text", content: "React 18 features" },
    { type: "reference", content: "①", refIndex: 1 },
    { type: "text", content: " and hooks" },
  ],
  pendingText: "[ref:",
});

async function* inPieces(body, bytes) {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes);
  }
}

async function streamChat(url, body, bytes, onEvent) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await response.json();
  const decoder = new TextDecoder();
  let buffer = "";
  let eventType = "";
  for await (const chunk of inPieces(response.body, bytes)) {
    buffer += decoder.decode(chunk, { stream: true });
    const lines = buffer.split("\n");
    buffer = lines.pop();
    for (const line of lines) {
      if (line.startsWith("event: ")) {
        eventType = line.slice("event: ".length).trim();
      } else if (line.startsWith("data: ")) {
        onEvent({ event: eventType, data: JSON.parse(line.slice("data: ".length)) });
      }
    }
  }
}

const [url, body, bytes = "65536"] = process.argv.slice(2);
const chat = { events: [], sources: [], segments: [], pending: "", assessment: null, error: null, refused: null };
try {
  await streamChat(url, JSON.parse(body), Number(bytes), ({ event, data }) => {
    chat.events.push(event);
    if (event === "retrieval") chat.sources = data.sources;
    if (event === "assessment") chat.assessment = data;
    if (event === "error") chat.error = data.message;
    if (event === "content") {
      const { segments, pendingText } = parseReferences(chat.pending + data.delta, chat.sources.length);
      chat.segments.push(...segments);
      chat.pending = pendingText;
    }
  });
} catch (refused) {
  chat.refused = refused;
}
console.log(JSON.stringify(chat));
