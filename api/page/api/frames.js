/**
 * Server-Sent Events, read from a response's body as our server writes them: lines end with a newline alone.
 *
 * The browser's own EventSource can't send a question by POST, nor a key in a header; so the frames are read here.
 */

/**
 * Read a body of UTF-8 as frames until it ends or breaks off. Comments, such as the ping, make no frame.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} [onBytes] Called whenever anything has come, be it a ping.
 */
export async function* framesOf(body, onBytes) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      const whole = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = whole.pop() ?? "";
      for (const frame of whole.map(frameOf)) if (frame.data) yield frame;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** @param {string} text */
function frameOf(text) {
  const frame = { id: "", event: "message", data: "" };
  for (const line of text.split("\n")) {
    const [, name, value] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (name) Object.assign(frame, { [name]: value });
  }
  return frame;
}
