/** The graph as a rail, from top to bottom: the nodes that a run went through are lit, with how often and how long. */

import { orNull } from "../api/problem.js";
import { change, fill, h } from "../dom.js";
import { duration } from "../words/format.js";
import { words } from "../words/index.js";

const ENDS = ["__start__", "__end__"];

/** @type {Promise<Wire.GraphStructure> | null} */
let asked = null;

/**
 * Read the ids of the graph's nodes in its order, once for all panels.
 * @param {Client} client
 * @returns {Promise<string[]>} None where they can't be read; the next call asks again.
 */
export async function readNodes(client) {
  const graph = await orNull((asked ??= client.json("api/graph", { list: "nodes" })));
  if (!graph) asked = null;
  return graph?.nodes.map(({ id }) => id).filter((id) => !ENDS.includes(id)) ?? [];
}

/** Make the rail. @param {string[]} ids @returns {{element: HTMLElement, show: (run: RunView) => void}} */
export function runGraph(ids) {
  const nodes = ids.map(railNode);
  const element = h("ol", { class: "rail", "aria-label": words.run.graph }, nodes.map((node) => node.element));
  return { element, show: (run) => nodes.forEach((node) => node.show(run)) };
}

/** @param {string} id */
function railNode(id) {
  const name = words.run.nodes[/** @type {keyof typeof words.run.nodes} */ (id)] ?? id;
  const took = h("span", { class: "step-time" });
  const visited = h("span", { class: "seen-by-readers-only" });
  const element = h("li", { "data-node": id }, h("span", null, name, visited), took);
  return {
    element,
    /** @param {RunView} run */
    show({ steps, status }) {
      const visits = steps.filter((step) => step.name === id);
      const isCurrent = status !== "finished" && visits.some(({ ms }) => ms === null);
      const ms = visits.reduce((sum, step) => sum + (step.ms ?? 0), 0);
      change(element, { class: visits.length ? "visited" : null, "aria-current": isCurrent && "step" });
      fill(visited, visits.length > 0 && ` · ${words.run.visited} `);
      fill(took, visits.length > 1 && `×${visits.length} `, ms > 0 && duration(ms));
    },
  };
}
