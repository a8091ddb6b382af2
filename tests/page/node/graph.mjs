/** Print what the page knows of the graph and of how runs end, as JSON. */

import { EDGES, NODES } from "../../../api/page/state/way.js";
import { run as en } from "../../../api/page/words/run/en.js";
import { run as vi } from "../../../api/page/words/run/vi.js";
import { run as zh } from "../../../api/page/words/run/zh.js";

const worded = Object.fromEntries(Object.entries({ en, vi, zh }).map(([language, { nodes, doing, reasons, outcomes }]) => [
  language,
  { nodes: Object.keys(nodes), doing: Object.keys(doing), reasons: Object.keys(reasons), outcomes: Object.keys(outcomes) },
]));
console.log(JSON.stringify({ nodes: NODES, edges: EDGES.map((edge) => edge.split(" ")), worded }));
