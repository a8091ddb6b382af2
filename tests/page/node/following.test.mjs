import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Problem } from "../../../api/page/api/problem.js";
import { askQuestion, joinRun } from "../../../api/page/api/following.js";
import { eventsOf, golden } from "./golden.mjs";

const NAME = "answered";
const EVENTS = eventsOf(NAME);
const FRAMES = golden(NAME).trimEnd().split("\n\n").map((frame) => `${frame}\n\n`);
const SEQS = EVENTS.map((event) => event.seq);

/** A server of one run. What becomes of a connection is said by `fates`, one for each; then all is well. */
class Server {
  constructor(...fates) {
    this.fates = fates;
    this.requests = [];
  }

  async send(path, request) {
    request.signal.throwIfAborted();
    this.requests.push({ path, ...request });
    const fate = this.fates.shift() ?? {};
    if (fate.problem) throw fate.problem;
    if (fate.status) return new Response(null, { status: fate.status });
    const after = Number(request.headers?.["Last-Event-ID"]?.split(":")[1] ?? 0);
    const rest = new TextEncoder().encode(FRAMES.slice(after).join(""));
    return new Response(bodyOf(rest.subarray(0, fate.bytes ?? rest.length), fate, request.signal));
  }

  /** What each request said it had. */
  get had() {
    return this.requests.map((request) => request.headers?.["Last-Event-ID"] ?? "");
  }
}

function bodyOf(bytes, { breaks = false, hangs = false }, signal) {
  let told = false;
  return new ReadableStream({
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
    pull(controller) {
      if (!told && bytes.length) {
        told = true;
        controller.enqueue(bytes);
      } else if (hangs) return new Promise(() => undefined);
      else if (breaks) controller.error(new TypeError("network error"));
      else controller.close();
    },
  });
}

/** Follow to the end without waiting for anything; tell the events, the outages, and the error if there was one. */
async function followed(begin, options = {}) {
  const outages = [];
  const onOutage = (outage, back) => {
    outages.push(outage ? "lost" : back ? "back" : "over");
    if (outage) queueMicrotask(options.onLost ?? outage.now);
  };
  const events = [];
  let error = null;
  try {
    for await (const event of begin({ signal: options.signal ?? new AbortController().signal, onOutage })) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  return { events, outages, error };
}

const ask = (server) => (options) => askQuestion(server, "s1", { question: "q" }, options);
const join = (server, after) => (options) => joinRun(server, "ID1", after ? { ...options, after } : options);

beforeEach(() => {
  globalThis.window = new EventTarget();
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
});

test("a question is asked once, to be answered whatever becomes of the page", async () => {
  const server = new Server();
  const { events, outages, error } = await followed(ask(server));
  assert.deepEqual([events, error], [EVENTS, null]);
  assert.deepEqual(outages, ["back", "over"]);
  const [{ path, method, json }] = server.requests;
  assert.deepEqual([path, method], ["api/sessions/s1/runs", "POST"]);
  assert.deepEqual(json, { question: "q", on_disconnect: "continue", stream: true });
});

for (const breaks of [true, false]) {
  test(`a connection that ${breaks ? "breaks" : "ends"} anywhere is joined again, without a gap and without an echo`, async () => {
    const length = new TextEncoder().encode(FRAMES.join("")).length;
    const first = new TextEncoder().encode(FRAMES[0]).length;
    for (let bytes = first; bytes < length; bytes += 101) {
      const server = new Server({ bytes, breaks }, { bytes: 700, breaks }, { bytes: 0, breaks });
      const { events, error } = await followed(ask(server));
      assert.equal(error, null);
      assert.deepEqual(events.map((event) => event.seq), SEQS, `cut at ${bytes}`);
      assert.equal(server.requests.filter((request) => request.method === "POST").length, 1);
      for (const request of server.requests.slice(1)) {
        assert.equal(request.path, "api/runs/ID1/stream");
        assert.match(request.headers["Last-Event-ID"], /^ID1:\d+$/);
      }
    }
  });
}

test("a run is joined from its beginning, or behind an event", async () => {
  assert.deepEqual((await followed(join(new Server()))).events, EVENTS);
  const server = new Server();
  assert.deepEqual((await followed(join(server, "ID1:5"))).events, EVENTS.slice(5));
  assert.deepEqual(server.had, ["ID1:5"]);
});

const unreachable = new Problem("unreachable", "", { retryable: true });
const PASSING = {
  "a server that is away": unreachable,
  "a server that is full": new Problem("overloaded", "", { status: 503, retryable: true, after: 2 }),
  "a proxy without a server": new Problem("unexpected", "502 Bad Gateway", { status: 502, retryable: true }),
  "too many requests": new Problem("unexpected", "", { status: 429 }),
};

for (const [name, problem] of Object.entries(PASSING)) {
  test(`${name} is asked again for the rest`, async () => {
    const server = new Server({ bytes: 2000, breaks: true }, { problem }, { problem }, { problem });
    const { events, outages, error } = await followed(ask(server));
    assert.deepEqual([events.map((event) => event.seq), error], [SEQS, null]);
    assert.deepEqual(outages, ["back", "lost", "lost", "lost", "lost", "back", "over"]);
    assert.equal(new Set(server.had.slice(1)).size, 1);
  });
}

test("a server that says when to come back is not asked before", async () => {
  const problem = new Problem("overloaded", "", { status: 503, retryable: true, after: 60 });
  const outages = [];
  const server = new Server({ problem });
  const began = Date.now();
  const onOutage = (outage) => {
    if (!outage) return;
    outages.push(outage.until - began);
    queueMicrotask(outage.now);
  };
  for await (const _ of joinRun(server, "ID1", { signal: new AbortController().signal, onOutage }));
  assert.equal(outages.length, 1);
  assert.ok(outages[0] >= 60_000);
});

for (const [code, status] of [["not_found", 404], ["not_authenticated", 401], ["invalid_request", 400]]) {
  test(`${code} is for good`, async () => {
    const problem = new Problem(code, "no", { status });
    const { events, error, outages } = await followed(ask(new Server({ bytes: 2000, breaks: true }, { problem })));
    assert.equal(error, problem);
    assert.ok(events.length > 0);
    assert.equal(outages.at(-1), "over");
  });
}

test("a question that is refused is not asked again", async () => {
  const problem = new Problem("session_busy", "no", { status: 409, retryable: true });
  const server = new Server({ problem });
  assert.equal((await followed(ask(server))).error, problem);
  assert.equal(server.requests.length, 1);
});

test("a question of which nobody knows whether it arrived is not asked again", async () => {
  for (const fate of [{ problem: unreachable }, { bytes: 0, breaks: true }, { bytes: 20, breaks: true }]) {
    const server = new Server(fate);
    const { error } = await followed(ask(server));
    assert.deepEqual([error.code, error.retryable, server.requests.length], ["unreachable", true, 1]);
  }
});

test("a run of which nothing is left to tell is at its end", async () => {
  const { events, error } = await followed(join(new Server({ status: 204 }), `ID1:${EVENTS.length}`));
  assert.deepEqual([events, error], [[], null]);
});

test("a reader that leaves is gone at once, whether it reads or waits", async () => {
  const reading = new AbortController();
  const seen = [];
  const options = { signal: reading.signal, onOutage: () => undefined };
  for await (const event of askQuestion(new Server({ bytes: 2000, hangs: true }), "s1", { question: "q" }, options)) {
    seen.push(event.seq);
    if (seen.length === 3) reading.abort();
  }
  assert.deepEqual(seen.slice(0, 3), [1, 2, 3]);
  const waiting = new AbortController();
  const server = new Server({ bytes: 2000, breaks: true });
  const { error } = await followed(ask(server), { signal: waiting.signal, onLost: () => waiting.abort() });
  assert.deepEqual([error, server.requests.length], [null, 1]);
});

for (const [name, happen] of [
  ["the network is back", () => window.dispatchEvent(new Event("online"))],
  ["the page is looked at again", () => document.dispatchEvent(new Event("visibilitychange"))],
]) {
  test(`when ${name} it is tried at once`, async () => {
    const server = new Server({ bytes: 2000, breaks: true });
    const { events } = await followed(ask(server), { onLost: happen });
    assert.deepEqual(events.map((event) => event.seq), SEQS);
  });
}

test("a connection that falls silent is given up, and joined again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const server = new Server({ bytes: 2000, hangs: true });
    const seen = [];
    const onOutage = (outage) => outage && queueMicrotask(outage.now);
    for await (const event of askQuestion(server, "s1", { question: "q" }, { signal: new AbortController().signal, onOutage })) {
      seen.push(event.seq);
      // All that will come has come by the next turn of the loop; then it is silent.
      if (seen.length === 1) setImmediate(() => mock.timers.tick(41_000));
    }
    assert.deepEqual(seen, SEQS);
    assert.equal(server.requests.length, 2);
  } finally {
    mock.timers.reset();
  }
});
