/**
 * Server-Sent Events, read from a response's body. Source: the WHATWG HTML standard, "Interpreting an event stream".
 *
 * The browser's own EventSource can't send a question by POST, nor a key in a header; so the frames are read here.
 */

/** @typedef {{id: string, event: string, data: string}} Frame */

/**
 * Cut decoded text into frames as it arrives. Comments, such as the ping, make no frame.
 * @returns {(text: string) => Frame[]} Takes more text, and gives the frames that it completes.
 */
export function frameReader() {
  let rest = "";
  let endedInReturn = false;
  let id = "";
  let event = "";
  /** @type {string[]} */
  let data = [];
  return (text) => {
    /** @type {Frame[]} */
    const frames = [];
    // A return that ended the last text has ended its line; a newline that now follows belongs to it.
    rest += endedInReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text) endedInReturn = text.endsWith("\r");
    const lines = rest.split(/\r\n|\r|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length) frames.push({ id, event: event || "message", data: data.join("\n") });
        event = "";
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") data.push(value);
      else if (field === "event") event = value;
      else if (field === "id" && !value.includes("\0")) id = value;
    }
    return frames;
  };
}

/**
 * Read a body of UTF-8 as frames until it ends or breaks off.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} [onBytes] Called whenever anything has come, be it a ping.
 * @returns {AsyncGenerator<Frame, void, void>}
 */
export async function* framesOf(body, onBytes) {
  const decoder = new TextDecoder();
  const read = frameReader();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes?.();
      yield* read(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
