/** Print what the page has words for of the graph and of how runs end, as JSON. */

import { en } from "../../../api/page/words/en.js";
import { vi } from "../../../api/page/words/vi.js";
import { zh } from "../../../api/page/words/zh.js";

const worded = Object.fromEntries(Object.entries({ en, vi, zh }).map(([language, { run, answer }]) => [
  language,
  {
    nodes: Object.keys(run.nodes),
    doing: Object.keys(run.doing),
    reasons: Object.keys(answer.stopReasons),
    outcomes: Object.keys(run.outcomes),
  },
]));
console.log(JSON.stringify(worded));
