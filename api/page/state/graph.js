/** The graph that every run takes its way through, as the server describes it. */

import { orNull } from "../api/problem.js";

/** @typedef {import("../api/types.js").GraphStructure} Graph */

export const START = "__start__";
export const END = "__end__";

/** @type {Promise<Graph> | null} */
let asked = null;

/**
 * Read the graph, once for all panels.
 * @param {import("../api/client.js").Client} client
 * @returns {Promise<Graph | null>} Null where it can't be read; the next call asks again.
 */
export async function readGraph(client) {
  const graph = await orNull((asked ??= client.graph()));
  if (!graph) asked = null;
  return graph?.nodes.length ? graph : null;
}

/** Name the edge between two nodes. @param {string} from @param {string} to */
export function edgeName(from, to) {
  return `${from} ${to}`;
}
