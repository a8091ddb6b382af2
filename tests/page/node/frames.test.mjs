import assert from "node:assert/strict";
import { test } from "node:test";

import { framesOf } from "../../../api/page/api/frames.js";
import { NAMES, golden } from "./golden.mjs";

/** A body that comes in these pieces, and knows whether its reader went away. */
function bodyOf(...pieces) {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return body;
}

async function read(...pieces) {
  const frames = [];
  for await (const frame of framesOf(bodyOf(...pieces))) frames.push(frame);
  return frames;
}

const bytes = (text) => new TextEncoder().encode(text);
const byteByByte = (all) => Array.from(all, (_, at) => all.subarray(at, at + 1));

/** What a stream holds, by the plainest reading there is. */
function expected(text) {
  return text
    .trimEnd()
    .split("\n\n")
    .map((frame) => Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s, 2))));
}

for (const name of NAMES) {
  test(`the frames of ${name} are the same wherever the stream is cut`, async () => {
    const text = golden(name);
    const whole = expected(text);
    assert.deepEqual(await read(bytes(text)), whole);
    assert.deepEqual(await read(...byteByByte(bytes(text))), whole);
  });
}

test("a stream in two pieces is the same for every cut, and each frame is given as soon as it is whole", async () => {
  const text = golden("small_talk").replaceAll("small talk", "nhỏ 小 🎈");
  const whole = expected(text);
  const all = bytes(text);
  for (let cut = 0; cut <= all.length; cut += 1) {
    const [first, second] = [all.subarray(0, cut), all.subarray(cut)];
    assert.deepEqual(await read(first, second), whole);
    assert.equal((await read(first)).length, new TextDecoder().decode(first).split("\n\n").length - 1);
  }
});

test("a character may be cut into its bytes", async () => {
  const said = "Đà Lạt · 漢字 · 👩‍🔬 · é";
  const frames = await read(...byteByByte(bytes(`data: ${said}\n\n`)));
  assert.deepEqual(frames, [{ id: "", event: "message", data: said }]);
});

const FIELDS = [
  ["no space after the colon", "data:a\n\n", "a"],
  ["one space is dropped, and no more", "data:  a \n\n", " a "],
  ["a colon in the data", 'data: {"a": 1}\n\n', '{"a": 1}'],
  ["a separator of lines that ends none", "data: a\u2028b\r\n\n", "a\u2028b\r"],
  ["other fields are nothing", "retry: 10\nother: x\ndata: a\n\n", "a"],
  ["a comment is nothing", ": ping\ndata: a\n: ping\n\n", "a"],
];

for (const [name, text, data] of FIELDS) {
  test(name, async () => {
    assert.deepEqual(await read(bytes(text)), [{ id: "", event: "message", data }]);
  });
}

test("a ping makes no frame but is heard", async () => {
  let heard = 0;
  const pieces = [": ping\n\n", ": ping\n\n", "data: a\n\n"].map(bytes);
  const frames = [];
  for await (const frame of framesOf(bodyOf(...pieces), () => (heard += 1))) frames.push(frame);
  assert.deepEqual([heard, frames.length], [3, 1]);
});

test("a frame has what it names itself, and one without data is none", async () => {
  assert.deepEqual(await read(bytes("id: r:1\nevent: queued\ndata: a\n\nevent: queued\n\ndata: b\n\n")), [
    { id: "r:1", event: "queued", data: "a" },
    { id: "", event: "message", data: "b" },
  ]);
});

test("what is not whole at the end is dropped", async () => {
  assert.deepEqual((await read(bytes("data: a\n\ndata: b\n"))).map((frame) => frame.data), ["a"]);
});

test("a body that breaks off gives what was whole, and then its error", async () => {
  let pulls = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulls += 1;
      if (pulls === 1) controller.enqueue(bytes("data: a\n\ndata: b"));
      else controller.error(new TypeError("network error"));
    },
  });
  const seen = [];
  await assert.rejects(async () => {
    for await (const frame of framesOf(body)) seen.push(frame.data);
  }, /network error/);
  assert.deepEqual(seen, ["a"]);
});

test("a reader that leaves lets go of the connection", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(bytes("data: a\n\ndata: b\n\n")),
    cancel: () => void (cancelled = true),
  });
  for await (const frame of framesOf(body)) {
    assert.equal(frame.data, "a");
    break;
  }
  assert.equal(cancelled, true);
});
