/**
 * A graph in layers: each node below those that lead to it, and each layer in the order in which the fewest edges cross.
 *
 * A back edge, which closes a cycle, leads up. An edge that passes layers has a waypoint in each of them; edges to the
 * same node share theirs, and so do back edges from the same node.
 */

import { START } from "../state/graph.js";

/** @typedef {import("../state/graph.js").Graph} Graph */
/** @typedef {import("../api/types.js").GraphEdge} Edge */
/** @typedef {Edge & {back: boolean, stops: string[]}} Route An edge, with what it passes from its upper to its lower end. */
/** @typedef {{upper: string, lower: string, back: boolean}} Piece Of routes: between two layers, or beside within one. */
/** @typedef {{layers: string[][], routes: Route[], pieces: Piece[], spine: Set<string>}} Layers Of nodes and waypoints. */
/** @typedef {Map<string, number>} Numbers */

const SWEEPS = 8;
const CROSSING = 100; // weighs more than any way aside

/** Arrange a graph in layers. @param {Graph} graph @returns {Layers} */
export function layersOf({ nodes, edges }) {
  const ids = nodes.map((node) => node.id);
  const depth = depthsOf(ids, edges);
  const rise = (/** @type {Edge} */ { from, to }) => at(depth, from) - at(depth, to);
  /** @type {Edge[]} */
  const forward = [];
  for (const edge of [...edges].sort((one, other) => rise(one) - rise(other))) {
    if (!leads(edge.to, edge.from, forward)) forward.push(edge);
  }
  const rank = rankNodes(ids, forward, rise);
  const routes = edges.map((edge) => routeOf(edge, !forward.includes(edge), rank));
  const pieces = piecesOf(routes);
  const layers = filled([...depth.keys()], routes, rank);
  const spine = spineOf(layers, pieces, depth, ids);
  return { layers: ordered(layers, pieces, spine), routes, pieces, spine };
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
 * Find each node's rank: as high as it can be, or lower where there is more room.
 *
 * What leads on to a node that was reached as soon may lie beside it; what ends the graph lies below everything.
 * @param {string[]} ids
 * @param {Edge[]} forward
 * @param {(edge: Edge) => number} rise
 * @returns {Numbers}
 */
function rankNodes(ids, forward, rise) {
  const rank = new Map(ids.map((id) => [id, 0]));
  const leaving = new Set(forward.map((edge) => edge.from));
  const down = (/** @type {Edge} */ edge) => (rise(edge) < 0 || !leaving.has(edge.to) ? 1 : 0);
  for (const _ of ids) {
    for (const edge of forward) rank.set(edge.to, Math.max(at(rank, edge.to), at(rank, edge.from) + down(edge)));
  }
  const others = (/** @type {string} */ id, /** @type {number} */ wanted) =>
    ids.filter((other) => other !== id && at(rank, other) === wanted).length;
  for (const id of leaving) {
    const lowest = Math.min(...forward.filter(({ from }) => from === id).map((edge) => at(rank, edge.to) - down(edge)));
    for (let lower = at(rank, id) + 1; lower <= lowest; lower++) {
      if (others(id, lower) < others(id, at(rank, id))) rank.set(id, lower);
    }
  }
  return rank;
}

/** @param {Edge} edge @param {boolean} back @param {Numbers} rank @returns {Route} */
function routeOf(edge, back, rank) {
  const [upper, lower, shared] = back ? [edge.to, edge.from, `back ${edge.from}`] : [edge.from, edge.to, `on ${edge.to}`];
  const first = at(rank, upper) + 1;
  const passed = Math.max(0, at(rank, lower) - first);
  const waypoints = Array.from({ length: passed }, (_, below) => `${first + below} ${shared}`);
  return { ...edge, back, stops: [upper, ...waypoints, lower] };
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

/** Fill the layers with nodes and waypoints. @param {string[]} ids @param {Route[]} routes @param {Numbers} rank */
function filled(ids, routes, rank) {
  for (const { stops } of routes) {
    for (const [upper, lower] of pairs(stops)) if (!rank.has(lower)) rank.set(lower, at(rank, upper) + 1);
  }
  /** @type {string[][]} */
  const layers = Array.from({ length: 1 + Math.max(0, ...rank.values()) }, () => []);
  for (const id of new Set([...ids, ...rank.keys()])) layers[at(rank, id)]?.push(id);
  return layers;
}

/**
 * Find the spine, which is drawn straight: up from the last layer, by nodes before waypoints, by those that take the most
 * steps to reach, since what can be reached by a shorter way leaves the main one, by those with most edges, and by the
 * first of the graph.
 * @param {string[][]} layers
 * @param {Piece[]} pieces
 * @param {Numbers} depth Of nodes.
 * @param {string[]} ids Of nodes.
 */
function spineOf(layers, pieces, depth, ids) {
  const degree = (/** @type {string} */ id) => pieces.filter(({ upper, lower }) => id === upper || id === lower).length;
  const weight = (/** @type {string} */ id) => ((depth.get(id) ?? -1) + 1) * (pieces.length + 1) + degree(id);
  /** @type {Set<string>} */
  const spine = new Set();
  let below = "";
  for (const layer of [...layers].reverse()) {
    const leading = layer.filter((id) => pieces.some(({ upper, lower, back }) => upper === id && lower === below && !back));
    const [next] = (below ? leading : [...layer]).sort((one, other) =>
      weight(other) - weight(one) || ids.indexOf(one) - ids.indexOf(other));
    if (!next) break;
    spine.add((below = next));
  }
  return spine;
}

/**
 * Order each layer by barycentre, sweeping down and up, and exchange neighbours while that improves the best order.
 * @param {string[][]} layers
 * @param {Piece[]} pieces
 * @param {Set<string>} spine
 */
function ordered(layers, pieces, spine) {
  const gaps = layers.map((layer) => pieces.filter(({ upper, lower }) => layer.includes(upper) && !layer.includes(lower)));
  let [order, best] = [layers, layers];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const [mine, theirs] = /** @type {["upper", "lower"]} */ (sweep % 2 ? ["upper", "lower"] : ["lower", "upper"]);
    const place = placesIn(order, spine);
    order = order.map((layer) => [...layer]);
    for (const layer of sweep % 2 ? [...order].reverse() : order) {
      const centre = new Map(layer.map((id) => {
        const beside = pieces.filter((piece) => piece[mine] === id).map((piece) => at(place, piece[theirs]));
        return [id, beside.length ? mean(beside) : at(place, id)];
      }));
      layer.sort((one, other) => at(centre, one) - at(centre, other));
      for (const [id, x] of placesIn([layer], spine)) place.set(id, x);
    }
    if (cost(order, gaps, spine) < cost(best, gaps, spine)) best = order;
  }
  return swapped(best, gaps, spine);
}

/** @param {string[][]} layers @param {Piece[][]} gaps The pieces below each layer. @param {Set<string>} spine */
function swapped(layers, gaps, spine) {
  let least = cost(layers, gaps, spine);
  for (let better = true; better; ) {
    better = false;
    for (const layer of layers) {
      for (let index = 1; index < layer.length; index++) {
        const [left = "", right = ""] = layer.slice(index - 1, index + 1);
        layer.splice(index - 1, 2, right, left);
        const now = cost(layers, gaps, spine);
        if (now < least) [least, better] = [now, true];
        else layer.splice(index - 1, 2, left, right);
      }
    }
  }
  return layers;
}

/**
 * Measure an order: by its crossings, then by how far it leads aside.
 * @param {string[][]} layers
 * @param {Piece[][]} gaps
 * @param {Set<string>} spine
 */
function cost(layers, gaps, spine) {
  const place = placesIn(layers, spine);
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

/** Count each one's place in its layer from the spine. @param {string[][]} layers @param {Set<string>} spine @returns {Numbers} */
function placesIn(layers, spine) {
  return new Map(layers.flatMap((layer) => {
    const middle = Math.max(0, layer.findIndex((id) => spine.has(id)));
    return layer.map((id, index) => /** @type {[string, number]} */ ([id, index - middle]));
  }));
}

/** Name a piece. @param {Piece} piece */
export function pieceName({ upper, lower, back }) {
  return [upper, lower, back].join("\n");
}

/** Pair each with the next. @param {string[]} all */
export function pairs(all) {
  return all.slice(1).map((next, index) => /** @type {[string, string]} */ ([all[index], next]));
}

/** @param {number[]} numbers */
export function mean(numbers) {
  return numbers.reduce((sum, each) => sum + each, 0) / (numbers.length || 1);
}

/** @param {Numbers} numbers @param {string} id */
function at(numbers, id) {
  return numbers.get(id) ?? 0;
}
