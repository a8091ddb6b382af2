/** Print what the page has words for of the graph, of how runs end, of reasons and of errors, as JSON. */

import { ar } from "../../../api/page/words/ar.js";
import { en } from "../../../api/page/words/en.js";
import { vi } from "../../../api/page/words/vi.js";
import { zh } from "../../../api/page/words/zh.js";

const worded = Object.fromEntries(Object.entries({ en, vi, zh, ar }).map(([language, { run, answer, reasons, problems }]) => [
  language,
  {
    nodes: Object.keys(run.nodes),
    doing: Object.keys(run.doing),
    reasons: Object.keys(answer.stopReasons),
    outcomes: Object.keys(run.outcomes),
    codes: Object.keys(reasons),
    problems: Object.keys(problems),
  },
]));
console.log(JSON.stringify(worded));
