/** The native streams of tests/wire/golden, with the numbers put back that are taken out of them there. */

import { readFileSync } from "node:fs";

const FOLDER = process.env.GOLDEN ?? new URL("../../wire/golden", import.meta.url).pathname;
export const NAMES = ["abstained", "answered", "events", "failed", "small_talk"];

/** Give a stream as it comes, its frames numbered from 1. */
export function golden(name) {
  const frames = readFileSync(`${FOLDER}/native_${name}.sse`, "utf-8").trimEnd().split("\n\n");
  const numbered = frames.map((frame, index) =>
    frame.replace(/^(id: .*:)SEQ$/m, `$1${index + 1}`).replace('"seq":SEQ', `"seq":${index + 1}`),
  );
  return numbered.join("\n\n") + "\n\n";
}

/** Give the events of a stream. */
export function eventsOf(name) {
  return [...golden(name).matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1]));
}
