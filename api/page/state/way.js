/** The graph that every run takes its way through, and the way that a run has taken. A test holds it to the real graph. */

/** @typedef {"decide_retrieval" | "answer_directly" | "load_selected_pages" | "search_segments" | "search_web"
 *   | "grade_segments" | "rewrite_query" | "generate_answer" | "check_claims" | "assess_quality" | "abstain"} NodeName */

export const START = "__start__";
export const END = "__end__";

/** Nodes that go on side by side. @type {readonly NodeName[]} */
const GATHERING = ["load_selected_pages", "search_segments", "search_web"];

/** Each node with those that can follow it. @type {Record<NodeName | "__start__", readonly string[]>} */
const FOLLOWERS = {
  [START]: ["decide_retrieval"],
  decide_retrieval: ["answer_directly", ...GATHERING],
  answer_directly: ["abstain", END],
  load_selected_pages: ["grade_segments"],
  search_segments: ["grade_segments"],
  search_web: ["grade_segments"],
  grade_segments: ["generate_answer", "rewrite_query", "abstain", ...GATHERING],
  rewrite_query: ["search_segments", "search_web", "generate_answer", "abstain"],
  generate_answer: ["check_claims", "abstain"],
  check_claims: ["rewrite_query", "assess_quality", "abstain"],
  assess_quality: [END],
  abstain: [END],
};

export const NODES = /** @type {NodeName[]} */ (Object.keys(FOLLOWERS).filter((name) => name !== START));
export const EDGES = Object.entries(FOLLOWERS).flatMap(([from, all]) => all.map((to) => edge(from, to)));

/**
 * @typedef {object} Way
 * @property {string[][]} stations The steps in their order; those that went on side by side stand together.
 * @property {Map<string, number>} visits How often a node was visited.
 * @property {Set<string>} taken The edges along which the run went.
 * @property {Set<string>} current The nodes that it is at.
 */

/**
 * Find the way that a run's steps have taken.
 * @param {import("./run.js").Step[]} steps
 * @param {{ended: boolean, complete: boolean}} run `complete` where it came to the graph's end, and did not break off.
 * @returns {Way}
 */
export function wayOf(steps, { ended, complete }) {
  const stations = stationsOf(steps.map((step) => step.name));
  /** @type {Way} */
  const way = { stations, visits: new Map(), taken: new Set(), current: new Set() };
  for (const { name, ms } of steps) {
    way.visits.set(name, (way.visits.get(name) ?? 0) + 1);
    if (ms === null && !ended) way.current.add(name);
  }
  const places = [[START], ...stations, ...(complete ? [[END]] : [])];
  places.slice(1).forEach((place, at) => {
    for (const from of places[at] ?? []) {
      for (const to of place) if (EDGES.includes(edge(from, to))) way.taken.add(edge(from, to));
    }
  });
  return way;
}

/** Name the edge between two nodes. @param {string} from @param {string} to */
export function edge(from, to) {
  return `${from} ${to}`;
}

/** @param {string[]} names */
function stationsOf(names) {
  const aside = new Set(/** @type {readonly string[]} */ (GATHERING));
  /** @type {string[][]} */
  const stations = [];
  for (const name of names) {
    const last = stations.at(-1);
    if (last?.[0] && aside.has(name) && aside.has(last[0])) {
      if (!last.includes(name)) last.push(name);
    } else if (last?.[0] !== name) stations.push([name]); // a step that was cut off is begun again
  }
  return stations;
}
