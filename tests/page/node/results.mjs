/** A reporter for Node's test runner: by file, how many tests passed, and what each other one said. */

import { basename } from "node:path";
import { inspect } from "node:util";

export default async function* results(events) {
  const files = {};
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const told = (files[basename(data.file ?? data.name)] ??= { passed: 0, failed: [] });
    if (type === "test:pass") told.passed += 1;
    else told.failed.push(`${data.name}\n${inspect(data.details.error.cause ?? data.details.error)}`);
  }
  yield JSON.stringify(files);
}
