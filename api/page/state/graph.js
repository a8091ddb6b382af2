/** The graph that every run takes its way through, as the server describes it, and the way that a run has taken. */

import { orNull } from "../api/problem.js";

/** @typedef {import("../api/types.js").GraphStructure} Graph */

export const START = "__start__";
export const END = "__end__";

/** @type {Promise<Graph> | null} */
let asked = null;

/**
 * Read the graph, once for all panels.
 * @param {Client} client
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

/**
 * @typedef {object} Way
 * @property {string[][]} stations The steps in their order; those that went on side by side are together.
 * @property {Map<string, number>} visits How often a node was visited.
 * @property {Set<string>} taken The edges along which the run went.
 * @property {Set<string>} current The nodes that it is at.
 */

/**
 * Find the way that a run's steps have taken.
 * @param {Graph} graph
 * @param {Step[]} steps
 * @param {{ended: boolean, complete: boolean}} run `complete` where it came to the graph's end, and did not break off.
 * @returns {Way}
 */
export function wayOf(graph, steps, { ended, complete }) {
  const edges = new Set(graph.edges.map(({ from, to }) => edgeName(from, to)));
  const stations = stationsOf(steps.map((step) => step.name), edges);
  /** @type {Way} */
  const way = { stations, visits: new Map(), taken: new Set(), current: new Set() };
  for (const { name, ms } of steps) {
    way.visits.set(name, (way.visits.get(name) ?? 0) + 1);
    if (ms === null && !ended) way.current.add(name);
  }
  const places = [[START], ...stations, ...(complete ? [[END]] : [])];
  places.slice(1).forEach((place, at) => {
    for (const from of places[at] ?? []) {
      for (const to of place) if (edges.has(edgeName(from, to))) way.taken.add(edgeName(from, to));
    }
  });
  return way;
}

/** @param {string[]} names @param {Set<string>} edges */
function stationsOf(names, edges) {
  const leads = (/** @type {string[]} */ station, /** @type {string} */ to) =>
    station.some((from) => edges.has(edgeName(from, to)));
  /** @type {string[][]} */
  const stations = [];
  for (const name of names) {
    const [before = [START], last] = [stations.at(-2), stations.at(-1)];
    if (last?.includes(name)) continue; // a step that was cut off is begun again
    if (last && !leads(last, name) && leads(before, name)) last.push(name);
    else stations.push([name]);
  }
  return stations;
}
