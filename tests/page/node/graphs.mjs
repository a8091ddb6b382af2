/** The graph as the manual draws it, which a test holds to the code, and graphs that it could become. */

import { readFileSync } from "node:fs";

import { graphOf } from "../../../api/page/api/completing.js";

const MANUAL = new URL("../../../docs/architecture.md", import.meta.url);

/** Read the graph of today. */
export function drawn() {
  const manual = readFileSync(MANUAL, "utf8");
  const edges = [...manual.matchAll(/^\t(\w+) (-->|-\.->) (\w+);$/gm)];
  return graphOf({
    nodes: [...manual.matchAll(/^\t(\w+)\(.*\)/gm)].map(([, id]) => ({ id })),
    edges: edges.map(([, from, arrow, to]) => ({ from, to, conditional: arrow === "-.->" })),
  });
}

/** Make a graph of edges such as `a>b`. @param {string} written @param {string} [alone] Nodes that no edge leads to. */
export function graphFrom(written, alone = "") {
  const edges = written.split(" ").filter(Boolean).map((edge) => edge.split(">"));
  const nodes = new Set([...edges.flat(), ...alone.split(" ").filter(Boolean)]);
  return graphOf({ nodes: [...nodes].map((id) => ({ id })), edges: edges.map(([from, to]) => ({ from, to })) });
}
