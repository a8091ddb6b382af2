/** Documents on their way in: what becomes of each where the connection or the server does not keep to the plan. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Client } from "../../../api/page/api/client.js";
import { Incoming } from "../../../api/page/state/incoming.js";
import { Server, json } from "./server.mjs";

const JOB = "api/jobs/j1";
const LONG_SECONDS = 120;

const file = (number, more) => ({ file_no: number, name: `${number}.md`, state: "queued", problem: null, ingested: null, ...more });
const stored = (number) => file(number, { state: "stored", ingested: { document_id: `d${number}`, status: "created" } });
const refused = (number, code) => file(number, { state: "refused", problem: { code, message: "no", suggestion: "" } });
const job = (...files) => ({ job_id: "j1", state: "running", files: files.length });
const detail = (...files) => json({ job: job(...files), files, next_after: null });

/** A stream of events with these names; where it `hangs` it says nothing more, and does not end either. */
function events(names, { hangs = false } = {}) {
  return ({ signal }) => new Response(new ReadableStream({
    start(controller) {
      signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
      for (const name of names) controller.enqueue(new TextEncoder().encode(`event: ${name}\ndata: {}\n\n`));
      if (!hangs) controller.close();
    },
  }));
}

/** A reply that never comes, to one who does not stop waiting. */
function never({ signal }) {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

/** Follow what is on its way by itself, until it has come to `done`. Time passes by a mocked clock, a second a turn. */
async function until(done) {
  for (let second = 0; second < LONG_SECONDS && !done(); second += 1) {
    mock.timers.tick(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(done(), `not within ${LONG_SECONDS} seconds`);
}

const incoming = () => new Incoming(new Client(new URL("http://host/"), () => ""), () => undefined);
const shown = ({ items }) => [...items.values()].map(({ name, state, problem }) => [name, state, problem?.code ?? ""]);

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

test("a connection to a job that falls silent is given up, and made again", async () => {
  const server = new Server({
    "GET api/jobs": json({ jobs: [job(file(0))] }),
    [`GET ${JOB}/events`]: [events(["progress"], { hangs: true }), events(["end"])],
    [`GET ${JOB}`]: [detail(file(0)), detail(stored(0))],
  });
  const coming = incoming();
  await coming.adopt();
  await until(() => coming.ended().length === 1);
  assert.deepEqual(shown(coming), [["0.md", "added", ""]]);
  assert.equal(server.asked.filter((each) => each === `GET ${JOB}/events`).length, 2);
});

test("a reading of a job's files that never comes is given up, and made again", async () => {
  new Server({
    "GET api/jobs": json({ jobs: [job(file(0))] }),
    [`GET ${JOB}/events`]: events(["end"], { hangs: true }),
    [`GET ${JOB}`]: [never, detail(stored(0))],
  });
  const coming = incoming();
  await coming.adopt();
  await until(() => coming.ended().length === 1);
});

test("all files of a job are shown, however many", async () => {
  const files = Array.from({ length: 2500 }, (_, number) => stored(number));
  const page = ({ url }) => {
    const [after, limit] = ["after", "limit"].map((name) => Number(url.searchParams.get(name)));
    const some = files.slice(after + 1, after + 1 + limit);
    const last = some.at(-1).file_no;
    return Response.json({ job: job(...files), files: some, next_after: last === files.length - 1 ? null : last });
  };
  new Server({ "GET api/jobs": json({ jobs: [job(...files)] }), [`GET ${JOB}/events`]: events(["end"]), [`GET ${JOB}`]: page });
  const coming = incoming();
  await coming.adopt();
  await until(() => coming.ended().length === files.length);
  assert.equal(coming.ended().at(-1).name, "2499.md");
});

/** Take up a job of two files, of which one was refused for now and the `other` for good, if not told otherwise; what `retry` gives is said. */
async function refusedJob(retry, other = "unreadable_document") {
  const files = [refused(0, "embedding_unavailable"), refused(1, other)];
  const server = new Server({
    "GET api/jobs": json({ jobs: [job(...files)] }),
    [`GET ${JOB}/events`]: events(["end"]),
    [`GET ${JOB}`]: [detail(...files), detail(stored(0), files[1])],
    [`POST ${JOB}/retry`]: retry,
  });
  const coming = incoming();
  await coming.adopt();
  await until(() => coming.ended().length === files.length);
  return { coming, tries: () => server.asked.filter((each) => each.startsWith("POST")).length };
}

const unreachable = () => Promise.reject(new TypeError("Failed to fetch"));
const gone = json({ code: "not_found", detail: "There is no job j1." }, 404);

for (const [name, reply, code] of [["can't be asked", unreachable, "unreachable"], ["is gone", gone, "not_found"]]) {
  test(`a file of a job that ${name} stays when it is tried again, and says why`, async () => {
    const { coming } = await refusedJob([reply, json(job(file(0), file(1)))]);
    coming.retryAll();
    await until(() => shown(coming)[0]?.[2] === code);
    assert.deepEqual(shown(coming), [["0.md", "refused", code], ["1.md", "refused", "unreadable_document"]]);
    coming.retryAll();
    await until(() => coming.ended().some(({ state }) => state === "added"));
    assert.deepEqual(shown(coming), [["0.md", "added", ""], ["1.md", "refused", "unreadable_document"]]);
  });
}

test("a job is asked once to try again, for all files of it", async () => {
  const { coming, tries } = await refusedJob(json(job(file(0), file(1))), "embedding_unavailable");
  coming.retryAll();
  await until(() => coming.ended().some(({ state }) => state === "added"));
  assert.equal(tries(), 1);
});

const SITE = "api/sources/s1";
const HOST = "https://wiki.example/";
const source = (more) => ({ source_id: "s1", syncing: true, documents: 0, ...more });

/** Bring in a site that goes on being read, if no other replies are said. */
function siteOf(replies) {
  const server = new Server({ [`POST ${SITE}/sync`]: json({}, 202), [`GET ${SITE}`]: json(source()), [`DELETE ${SITE}`]: json({}), ...replies });
  const coming = incoming();
  coming.addAddress(HOST, true);
  return { coming, asked: (one) => server.asked.filter((each) => each === one).length };
}

for (const [status, deleted, name] of [[201, 1, "goes with its source"], [200, 0, "leaves a source that was there before"]]) {
  test(`a site that is cancelled while it is read ${name}`, async () => {
    const { coming, asked } = siteOf({ "POST api/sources": json(source(), status) });
    await until(() => asked(`GET ${SITE}`) > 1);
    coming.cancelAll();
    await until(() => !coming.sending);
    assert.deepEqual([shown(coming), asked(`DELETE ${SITE}`)], [[], deleted]);
  });
}

test("a site that is cancelled while its source is made is not read", async () => {
  let made = () => undefined;
  const making = new Promise((resolve) => (made = resolve));
  const { coming, asked } = siteOf({ "POST api/sources": () => making.then(() => Response.json(source(), { status: 201 })) });
  await until(() => asked("POST api/sources"));
  coming.cancelAll();
  made();
  await until(() => !coming.sending);
  assert.deepEqual([asked(`POST ${SITE}/sync`), asked(`DELETE ${SITE}`)], [0, 1]);
});

test("a site whose reading broke off and that was tried again goes with its source, too", async () => {
  const { coming, asked } = siteOf({
    "POST api/sources": [json(source(), 201), json(source(), 200)],
    [`GET ${SITE}`]: [unreachable, json(source())],
  });
  await until(() => coming.ended().length);
  coming.retryAll();
  await until(() => asked(`GET ${SITE}`) > 1);
  coming.cancelAll();
  await until(() => !coming.sending);
  assert.equal(asked(`DELETE ${SITE}`), 1);
});

test("a site whose reading failed tells why, also where some of it is in", async () => {
  const problem = { code: "web_unavailable", message: "It is down.", suggestion: "Try again.", retryable: true };
  const { coming } = siteOf({ "POST api/sources": json(source(), 201), [`GET ${SITE}`]: json(source({ syncing: false, documents: 3, report: { problem } })) });
  await until(() => coming.ended().length);
  const [{ state, problem: { code, message, suggestion, retryable } }] = coming.ended();
  assert.deepEqual([state, { code, message, suggestion, retryable }], ["refused", problem]);
});
