/** A drawing of the graph that lights up along a run's way. */

import { change, fill, svg } from "../dom.js";
import { EDGES, END, NODES, START, wayOf } from "../state/way.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { CURVES, DOTS, HEIGHT, NODE_HEIGHT, PLACES, WIDTH } from "./graph_layout.js";

/** @typedef {import("../state/way.js").Way} Way */

const HEAD = 5; // length of an arrow's head
const BROKEN_OFF = new Set(["failed", "cancelled"]);

/**
 * Draw the graph; `show` lights up a run's way.
 * @returns {{element: SVGSVGElement, show: (run: import("../state/run.js").RunView) => void}}
 */
export function runGraph() {
  const edges = new Map(EDGES.map((name) => [name, drawnEdge(name)]));
  const nodes = new Map(NODES.map((name) => [/** @type {string} */ (name), drawnNode(name)]));
  const still = svg("g", null, ...edges.values());
  const lit = svg("g");
  const dots = new Map([START, END].map((name) => [name, drawnDot(name)]));
  const element = svg(
    "svg",
    { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" },
    still,
    lit,
    ...dots.values(),
    ...[...nodes.values()].map((node) => node.element),
  );
  let shown = /** @type {unknown} */ (null);
  let ended = false;
  return {
    element,
    show(run) {
      const over = run.status === "finished";
      if (run.steps === shown && over === ended) return;
      [shown, ended] = [run.steps, over];
      const way = wayOf(run.steps, { ended: over, complete: over && !BROKEN_OFF.has(run.answer.outcome ?? "") });
      const label = words.run.graph(inWords(way));
      if (element.getAttribute("aria-label") !== label) change(element, { "aria-label": label });
      for (const [name, drawn] of edges) {
        const layer = way.taken.has(name) ? lit : still;
        if (drawn.parentNode === layer) continue;
        change(drawn, { class: layer === lit ? "edge taken" : "edge" });
        layer.append(drawn);
      }
      for (const [name, node] of nodes) node.show(way.visits.get(name) ?? 0, way.current.has(name));
      const reached = way.taken.size > 0 && [...way.taken].some((name) => name.endsWith(END));
      change(/** @type {Element} */ (dots.get(START)), { class: way.stations.length ? "dot visited" : "dot" });
      change(/** @type {Element} */ (dots.get(END)), { class: reached ? "dot visited" : "dot" });
    },
  };
}

/** @param {Way} way */
function inWords(way) {
  const named = (/** @type {string} */ name) => words.run.nodes[/** @type {keyof typeof words.run.nodes} */ (name)] ?? name;
  const stations = way.stations.map((station, at) => {
    const said = station.map(named).join(" + ");
    const last = at === way.stations.length - 1;
    return last && way.current.size ? words.run.now(said) : said;
  });
  return stations.join(" → ") || words.run.unbegun;
}

/** @param {string} name Of an edge. */
function drawnEdge(name) {
  const [x1 = 0, y1 = 0, ax = 0, ay = 0, bx = 0, by = 0, x2 = 0, y2 = 0] = CURVES[name] ?? [];
  const long = Math.hypot(x2 - bx, y2 - by) || 1;
  const [dx, dy] = [((x2 - bx) / long) * HEAD, ((y2 - by) / long) * HEAD];
  const head = `M${x2} ${y2}L${x2 - dx - dy * 0.6} ${y2 - dy + dx * 0.6}L${x2 - dx + dy * 0.6} ${y2 - dy - dx * 0.6}Z`;
  return svg(
    "g",
    { class: "edge", "data-edge": name },
    svg("path", { class: "line", d: `M${x1} ${y1}C${ax} ${ay} ${bx} ${by} ${x2 - dx} ${y2 - dy}` }),
    svg("path", { class: "head", d: head }),
  );
}

/** @param {import("../state/way.js").NodeName} name */
function drawnNode(name) {
  const [x, y, width] = PLACES[name];
  const box = { x: x - width / 2, y: y - NODE_HEIGHT / 2, width, height: NODE_HEIGHT, rx: NODE_HEIGHT / 2 };
  const ring = { x: box.x - 3.5, y: box.y - 3.5, width: width + 7, height: NODE_HEIGHT + 7, rx: box.rx + 3.5 };
  const times = svg("text", { class: "times", x: x + width / 2 - 4, y: y - NODE_HEIGHT / 2 - 2 });
  const element = svg(
    "g",
    { class: "node", "data-node": name },
    svg("rect", { class: "ring", ...ring }),
    svg("rect", { class: "box", ...box }),
    svg("text", { class: "name", x, y: y + 4 }, words.run.nodes[name]),
    times,
  );
  let shown = "";
  return {
    element,
    /** @param {number} visits @param {boolean} current */
    show(visits, current) {
      const key = `${visits} ${current}`;
      if (key === shown) return;
      shown = key;
      change(element, { class: `node${visits ? " visited" : ""}${current ? " current" : ""}` });
      fill(times, visits > 1 ? `×${number(visits)}` : null);
    },
  };
}

/** @param {string} name */
function drawnDot(name) {
  const [cx, cy] = /** @type {[number, number]} */ (DOTS[name]);
  return svg("circle", { class: "dot", "data-node": name, cx, cy, r: 5 });
}

