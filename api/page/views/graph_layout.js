/** Where the graph's nodes and edges are drawn, computed from its structure and the widths of its nodes. */

import { edgeName } from "../state/graph.js";
import { layersOf, mean, pairs, pieceName } from "./graph_layers.js";

/** @typedef {import("./graph_layers.js").Piece} Piece */
/** @typedef {import("./graph_layers.js").Route} Route */
/** @typedef {{x: number, y: number, width: number, height: number}} Place A middle, and the size around it. */
/** @typedef {{path: string, head: string}} Line The line of an edge, and its arrow's head. */
/** @typedef {{width: number, height: number, places: Map<string, Place>, lines: Map<string, Line>}} Layout Edges by name. */
/** @typedef {[number, number]} Point */
/** @typedef {[Point, Point, Point, Point]} Curve From, two points that draw it, to. */
/** @typedef {"upper" | "lower"} Side */

const BETWEEN = 10; // neighbours in a layer
const WAYPOINT = 4; // the width of an edge that passes a layer
const PORTS = 10; // between two edges at one node, where it is wide enough
const ROUND = 14; // the ends of a node, where no edge begins
const GAP = { least: 18, each: 2, most: 36 }; // below a layer, by the number of edges
const BOW = 0.38; // the share of its height that a line stays upright
const HEAD = 5; // the length of an arrow's head
const NARROWING = 0.88; // pulls everything towards the spine
const MARGIN = 6;
const ROUNDS = 12;

/**
 * Lay a graph out.
 * @param {import("../state/graph.js").Graph} graph
 * @param {(id: string) => {width: number, height: number}} sizeOf Of a node.
 * @returns {Layout}
 */
export function layOut(graph, sizeOf) {
  const { layers, routes, pieces, spine } = layersOf(graph);
  /** @type {Map<string, Place>} */
  const places = new Map(graph.nodes.map(({ id }) => [id, { x: 0, y: 0, ...sizeOf(id) }]));
  let bottom = MARGIN;
  for (const layer of layers) {
    const height = Math.max(...layer.map((id) => places.get(id)?.height ?? 0));
    for (const id of layer) {
      places.set(id, { ...(places.get(id) ?? { x: 0, width: WAYPOINT, height }), y: bottom + height / 2 });
    }
    const below = pieces.filter(({ upper }) => layer.includes(upper)).length;
    bottom += height + Math.min(GAP.most, GAP.least + GAP.each * below);
  }
  spread(layers, pieces, spine, places);
  const all = [...places.values()];
  const left = Math.min(...all.map(({ x, width }) => x - width / 2)) - MARGIN;
  for (const place of all) place.x -= left;
  const ports = portsOf(pieces, spine, places);
  return {
    width: Math.max(...all.map(({ x, width }) => x + width / 2)) + MARGIN,
    height: Math.max(...all.map(({ y, height }) => y + height / 2)) + MARGIN,
    places,
    lines: new Map(routes.map((route) => [edgeName(route.from, route.to), lineOf(route, ports, places)])),
  };
}

/**
 * Move each as near as there is room to the middle of what it is connected with; the spine stays straight.
 * @param {string[][]} layers
 * @param {Piece[]} pieces
 * @param {Set<string>} spine
 * @param {Map<string, Place>} places
 */
function spread(layers, pieces, spine, places) {
  const beside = (/** @type {string} */ id) => pieces.flatMap(({ upper, lower }) =>
    id === upper ? [placed(places, lower).x] : id === lower ? [placed(places, upper).x] : []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const layer of round % 2 ? [...layers].reverse() : layers) {
      const wanted = layer.map((id) => (spine.has(id) ? 0 : NARROWING * mean(beside(id))));
      const middle = Math.max(0, layer.findIndex((id) => spine.has(id)));
      const here = layer.map((id) => placed(places, id));
      const xs = apart(wanted, middle, (one, other) =>
        ((here[one]?.width ?? 0) + (here[other]?.width ?? 0)) / 2 + BETWEEN);
      here.forEach((place, index) => (place.x = xs[index] ?? 0));
    }
  }
}

/**
 * Move ascending numbers apart where they are too near to each other, outward from the fixed one.
 * @param {number[]} wanted
 * @param {number} fixed
 * @param {(one: number, other: number) => number} distance
 */
function apart(wanted, fixed, distance) {
  const xs = [...wanted];
  for (let at = fixed + 1; at < xs.length; at++) xs[at] = Math.max(xs[at] ?? 0, (xs[at - 1] ?? 0) + distance(at - 1, at));
  for (let at = fixed - 1; at >= 0; at--) xs[at] = Math.min(xs[at] ?? 0, (xs[at + 1] ?? 0) - distance(at, at + 1));
  return xs;
}

/**
 * Find where each piece meets its two ends: as near as can be to the other end, and none upon another.
 * @param {Piece[]} pieces
 * @param {Set<string>} spine
 * @param {Map<string, Place>} places
 */
function portsOf(pieces, spine, places) {
  /** @type {Record<Side, Map<string, number>>} */
  const ports = { upper: new Map(), lower: new Map() };
  for (const [id, { x, y, width }] of places) {
    for (const [mine, theirs] of /** @type {[Side, Side][]} */ ([["upper", "lower"], ["lower", "upper"]])) {
      const there = (/** @type {Piece} */ piece) => placed(places, piece[theirs]).x;
      const here = pieces.filter((piece) => piece[mine] === id && placed(places, piece[theirs]).y !== y);
      here.sort((one, other) => there(one) - there(other) || aside(one, places) - aside(other, places));
      const straight = here.findIndex(({ upper, lower, back }) => !back && spine.has(upper) && spine.has(lower));
      const fixed = straight < 0 ? (here.length - 1) >> 1 : straight;
      const most = Math.max(0, width / 2 - ROUND);
      const gap = Math.min(PORTS, most / Math.max(1, fixed, here.length - 1 - fixed));
      // Each leaves room for those that are farther out.
      const wanted = here.map((piece, index) =>
        Math.max(x - most + index * gap, Math.min(x + most - (here.length - 1 - index) * gap, there(piece))));
      const xs = apart(wanted, fixed, () => gap);
      here.forEach((piece, index) => ports[mine].set(pieceName(piece), xs[index] ?? x));
    }
  }
  return ports;
}

/**
 * Rank two pieces with the same ends from left to right, so that neither passes the other's head.
 * @param {Piece} piece
 * @param {Map<string, Place>} places
 */
function aside({ upper, lower, back }, places) {
  const onward = placed(places, upper).x < placed(places, lower).x;
  return back === onward ? 0 : 1;
}

/**
 * Draw an edge through its waypoints.
 * @param {Route} route
 * @param {Record<Side, Map<string, number>>} ports
 * @param {Map<string, Place>} places
 * @returns {Line}
 */
function lineOf({ stops, back }, ports, places) {
  const curves = pairs(stops).map(([upper, lower]) => {
    const name = pieceName({ upper, lower, back });
    const [above, below] = [placed(places, upper), placed(places, lower)];
    if (above.y === below.y) return level(above, below, places);
    const x1 = ports.upper.get(name) ?? above.x;
    const x2 = ports.lower.get(name) ?? below.x;
    return upright([x1, above.y + above.height / 2], [x2, below.y - below.height / 2]);
  });
  if (back) curves.reverse().forEach((curve) => curve.reverse());
  const last = /** @type {Curve} */ (curves.at(-1));
  const [, , [bentX, bentY], [x, y]] = last;
  const [dx, dy] = [Math.sign(x - bentX) * HEAD, Math.sign(y - bentY) * HEAD];
  last[3] = [x - dx, y - dy];
  const path = curves.map(([start, ...rest], index) => `${index ? "L" : "M"}${written(start)}C${rest.map(written).join(" ")}`);
  const head = `M${written([x, y])}l${-dx - 0.6 * dy} ${-dy - 0.6 * dx}l${1.2 * dy} ${1.2 * dx}Z`;
  return { path: path.join(""), head };
}

/** Connect a layer with the next, upright at both ends. @param {Point} from @param {Point} to @returns {Curve} */
function upright([x1, y1], [x2, y2]) {
  const bow = (y2 - y1) * BOW;
  return [[x1, y1], [x1, y1 + bow], [x2, y2 - bow], [x2, y2]];
}

/**
 * Connect two nodes of one layer: straight, or below what is between them.
 * @param {Place} from
 * @param {Place} to
 * @param {Map<string, Place>} places
 * @returns {Curve}
 */
function level(from, to, places) {
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
  if ([...places.values()].some(({ x, y, width }) => y === from.y && width > WAYPOINT && left < x && x < right)) {
    const [out, back] = [from.y + from.height / 2, to.y + to.height / 2];
    return [[from.x, out], [from.x, out + GAP.least], [to.x, back + GAP.least], [to.x, back]];
  }
  const onward = Math.sign(to.x - from.x);
  const [x1, x2] = [from.x + (onward * from.width) / 2, to.x - (onward * to.width) / 2];
  return [[x1, from.y], [(x1 + x2) / 2, from.y], [(x1 + x2) / 2, to.y], [x2, to.y]];
}

/** @param {Point} point */
function written(point) {
  return point.map((each) => Math.round(each * 10) / 10).join(" ");
}

/** @param {Map<string, Place>} places @param {string} id @returns {Place} */
function placed(places, id) {
  return /** @type {Place} */ (places.get(id)); // every stop of a route has been given one
}
