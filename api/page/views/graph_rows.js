/**
 * A graph in rows: each node below those that lead to it, and each row in the order that crosses the fewest edges.
 *
 * An edge that closes a circle leads back up. One that passes rows has a bend in each of them, which edges to the same
 * node share, as do edges that lead back from the same node.
 */

import { START } from "../state/graph.js";

/** @typedef {import("../state/graph.js").Graph} Graph */
/** @typedef {import("../api/types.js").GraphEdge} Edge */
/** @typedef {Edge & {back: boolean, stops: string[]}} Route An edge, with what it passes from its upper end to its lower. */
/** @typedef {{upper: string, lower: string, back: boolean}} Piece What routes have in common between two rows. */
/** @typedef {{rows: string[][], routes: Route[], pieces: Piece[], spine: Set<string>}} Rows Of nodes and bends; the `spine` is drawn straight. */
/** @typedef {Map<string, number>} Numbers */

const SWEEPS = 8;
const CROSSING = 100; // weighs more than any way aside

/** Put a graph into rows. @param {Graph} graph @returns {Rows} */
export function rowsOf({ nodes, edges }) {
  const ids = nodes.map((node) => node.id);
  const depth = depthsOf(ids, edges);
  const rise = (/** @type {Edge} */ { from, to }) => at(depth, from) - at(depth, to);
  /** @type {Edge[]} */
  const forward = [];
  for (const edge of [...edges].sort((one, other) => rise(one) - rise(other))) {
    if (!leads(edge.to, edge.from, forward)) forward.push(edge);
  }
  const row = layersOf(ids, forward, rise);
  const routes = edges.map((edge) => routeOf(edge, !forward.includes(edge), row));
  const pieces = piecesOf(routes);
  const rows = filled([...depth.keys()], routes, row);
  const spine = spineOf(rows, pieces, new Set(ids));
  return { rows: ordered(rows, pieces, spine), routes, pieces, spine };
}

/** Count the steps to each node, the nearest first. @param {string[]} ids @param {Edge[]} edges @returns {Numbers} */
function depthsOf(ids, edges) {
  const first = ids.includes(START) ? [START] : ids.slice(0, 1);
  /** @type {Numbers} */
  const depth = new Map(first.map((id) => [id, 0]));
  // What is added while a map is gone through is gone through as well.
  for (const [id, steps] of depth) {
    for (const { from, to } of edges) if (from === id && !depth.has(to)) depth.set(to, steps + 1);
  }
  for (const id of ids) if (!depth.has(id)) depth.set(id, 0);
  return depth;
}

/** Whether edges lead from one node to another. @param {string} from @param {string} to @param {Edge[]} edges */
function leads(from, to, edges) {
  const reached = new Set([from]);
  for (const id of reached) for (const edge of edges) if (edge.from === id) reached.add(edge.to);
  return reached.has(to);
}

/**
 * Find each node's row: as high as it can be, or lower where there is more room.
 *
 * What leads on to a node that was reached as soon may lie beside it; what ends the graph lies below everything.
 * @param {string[]} ids
 * @param {Edge[]} forward
 * @param {(edge: Edge) => number} rise
 * @returns {Numbers}
 */
function layersOf(ids, forward, rise) {
  const row = new Map(ids.map((id) => [id, 0]));
  const leaving = new Set(forward.map((edge) => edge.from));
  const down = (/** @type {Edge} */ edge) => (rise(edge) < 0 || !leaving.has(edge.to) ? 1 : 0);
  for (const _ of ids) {
    for (const edge of forward) row.set(edge.to, Math.max(at(row, edge.to), at(row, edge.from) + down(edge)));
  }
  const others = (/** @type {string} */ id, /** @type {number} */ wanted) =>
    ids.filter((other) => other !== id && at(row, other) === wanted).length;
  for (const id of leaving) {
    const lowest = Math.min(...forward.filter(({ from }) => from === id).map((edge) => at(row, edge.to) - down(edge)));
    for (let lower = at(row, id) + 1; lower <= lowest; lower++) {
      if (others(id, lower) < others(id, at(row, id))) row.set(id, lower);
    }
  }
  return row;
}

/** @param {Edge} edge @param {boolean} back @param {Numbers} row @returns {Route} */
function routeOf(edge, back, row) {
  const [upper, lower, shared] = back ? [edge.to, edge.from, `back ${edge.from}`] : [edge.from, edge.to, `on ${edge.to}`];
  const first = at(row, upper) + 1;
  const passed = Math.max(0, at(row, lower) - first);
  const bends = Array.from({ length: passed }, (_, below) => `${first + below} ${shared}`);
  return { ...edge, back, stops: [upper, ...bends, lower] };
}

/** @param {Route[]} routes @returns {Piece[]} */
function piecesOf(routes) {
  /** @type {Map<string, Piece>} */
  const pieces = new Map();
  for (const { stops, back } of routes) {
    for (const [upper, lower] of pairs(stops)) pieces.set(pieceName({ upper, lower, back }), { upper, lower, back });
  }
  return [...pieces.values()];
}

/** @param {string[]} ids @param {Route[]} routes @param {Numbers} row Is told the rows of the bends. */
function filled(ids, routes, row) {
  for (const { stops } of routes) {
    for (const [upper, lower] of pairs(stops)) if (!row.has(lower)) row.set(lower, at(row, upper) + 1);
  }
  /** @type {string[][]} */
  const rows = Array.from({ length: 1 + Math.max(0, ...row.values()) }, () => []);
  for (const id of new Set([...ids, ...row.keys()])) rows[at(row, id)]?.push(id);
  return rows;
}

/** Find a way from the last row up to the first, by nodes where it can be, and by those that most edges meet in. @param {string[][]} rows @param {Piece[]} pieces @param {Set<string>} ids Of nodes. */
function spineOf(rows, pieces, ids) {
  const weight = (/** @type {string} */ id) =>
    (ids.has(id) ? pieces.length : 0) + pieces.filter(({ upper, lower }) => id === upper || id === lower).length;
  /** @type {Set<string>} */
  const spine = new Set();
  let below = "";
  for (const row of [...rows].reverse()) {
    const leading = row.filter((id) => pieces.some(({ upper, lower, back }) => upper === id && lower === below && !back));
    const [next] = (below ? leading : [...row]).sort((one, other) => weight(other) - weight(one));
    if (!next) break;
    spine.add((below = next));
  }
  return spine;
}

/** Order the rows by the middle of what each is connected with, then by what a change of places makes better. @param {string[][]} rows @param {Piece[]} pieces @param {Set<string>} spine */
function ordered(rows, pieces, spine) {
  const gaps = rows.map((row) => pieces.filter(({ upper }) => row.includes(upper)));
  let [order, best] = [rows, rows];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const [mine, theirs] = /** @type {["upper", "lower"]} */ (sweep % 2 ? ["upper", "lower"] : ["lower", "upper"]);
    const place = placesIn(order, spine);
    order = order.map((row) => [...row]);
    for (const row of sweep % 2 ? [...order].reverse() : order) {
      const middle = new Map(row.map((id) => {
        const beside = pieces.filter((piece) => piece[mine] === id).map((piece) => at(place, piece[theirs]));
        return [id, beside.length ? mean(beside) : at(place, id)];
      }));
      row.sort((one, other) => at(middle, one) - at(middle, other));
      for (const [id, x] of placesIn([row], spine)) place.set(id, x);
    }
    if (cost(order, gaps, spine) < cost(best, gaps, spine)) best = order;
  }
  return swapped(best, gaps, spine);
}

/** @param {string[][]} rows @param {Piece[][]} gaps Below each row. @param {Set<string>} spine */
function swapped(rows, gaps, spine) {
  let least = cost(rows, gaps, spine);
  for (let better = true; better; ) {
    better = false;
    for (const row of rows) {
      for (let index = 1; index < row.length; index++) {
        const [left = "", right = ""] = row.slice(index - 1, index + 1);
        row.splice(index - 1, 2, right, left);
        const now = cost(rows, gaps, spine);
        if (now < least) [least, better] = [now, true];
        else row.splice(index - 1, 2, left, right);
      }
    }
  }
  return rows;
}

/** Say how bad an order is: by its crossings, then by how far it leads aside. @param {string[][]} rows @param {Piece[][]} gaps Below each row. @param {Set<string>} spine */
function cost(rows, gaps, spine) {
  const place = placesIn(rows, spine);
  let sum = 0;
  for (const gap of gaps) {
    const below = gap.map(({ upper, lower }) => [at(place, upper), at(place, lower)]);
    below.forEach(([x1 = 0, x2 = 0], index) => {
      sum += Math.abs(x1 - x2);
      for (const [y1 = 0, y2 = 0] of below.slice(index + 1)) if ((x1 - y1) * (x2 - y2) < 0) sum += CROSSING;
    });
  }
  for (const x of place.values()) sum += Math.abs(x);
  return sum;
}

/** Count each one's place in its row from the spine. @param {string[][]} rows @param {Set<string>} spine @returns {Numbers} */
function placesIn(rows, spine) {
  return new Map(rows.flatMap((row) => {
    const middle = Math.max(0, row.findIndex((id) => spine.has(id)));
    return row.map((id, index) => /** @type {[string, number]} */ ([id, index - middle]));
  }));
}

/** Name a piece. @param {Piece} piece */
export function pieceName({ upper, lower, back }) {
  return [upper, lower, back].join("\n");
}

/** List each with the one behind it. @param {string[]} all */
export function pairs(all) {
  return all.slice(1).map((next, index) => /** @type {[string, string]} */ ([all[index], next]));
}

/** @param {number[]} numbers At least one. */
export function mean(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

/** @param {Numbers} numbers @param {string} id */
function at(numbers, id) {
  return numbers.get(id) ?? 0;
}
