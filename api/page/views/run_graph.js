/** A drawing of the graph that lights up along a run's way. */

import { change, fill, svg } from "../dom.js";
import { END, START, wayOf } from "../state/graph.js";
import { number } from "../words/format.js";
import { words } from "../words/index.js";
import { layOut } from "./graph_layout.js";

/** @typedef {import("../state/graph.js").Way} Way */
/** @typedef {import("./graph_layout.js").Place} Place */

const BROKEN_OFF = new Set(["failed", "cancelled"]);
const DOT = { width: 10, height: 10 };
const NODE = { least: 88, height: 26, padding: 9 };
const FONT = "600 12.5px"; // as in graph.css where a node was visited
const REM = 16;

/**
 * Draw the graph; `show` lights up a run's way.
 * @param {import("../state/graph.js").Graph} graph
 * @returns {{element: SVGSVGElement, show: (run: RunView) => void}}
 */
export function runGraph(graph) {
  const { width, height, places, lines } = layOut(graph, sized());
  const edges = new Map([...lines].map(([name, line]) => [name, drawnEdge(name, line)]));
  const nodes = new Map(graph.nodes.map(({ id }) => {
    const place = /** @type {Place} */ (places.get(id));
    return [id, isDot(id) ? drawnDot(id, place) : drawnNode(id, place)];
  }));
  const still = svg("g", null, ...edges.values());
  const lit = svg("g");
  const element = svg(
    "svg",
    { class: "graph", viewBox: `0 0 ${width} ${height}`, width: `${width / REM}rem`, role: "img" },
    still,
    lit,
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
      const way = wayOf(graph, run.steps, { ended: over, complete: over && !BROKEN_OFF.has(run.answer.outcome ?? "") });
      const label = words.run.graph({ way: inWords(way) });
      if (element.getAttribute("aria-label") !== label) change(element, { "aria-label": label });
      for (const [name, drawn] of edges) {
        const layer = way.taken.has(name) ? lit : still;
        if (drawn.parentNode === layer) continue;
        change(drawn, { class: layer === lit ? "edge taken" : "edge" });
        layer.append(drawn);
      }
      const ends = new Map([[START, way.stations.length], [END, [...way.taken].some((name) => name.endsWith(` ${END}`)) ? 1 : 0]]);
      for (const [id, node] of nodes) node.show(ends.get(id) ?? way.visits.get(id) ?? 0, way.current.has(id));
    },
  };
}

/** @param {Way} way */
function inWords(way) {
  const stations = way.stations.map((station, at) => {
    const said = station.map(named).join(" + ");
    const last = at === way.stations.length - 1;
    return last && way.current.size ? words.run.now({ step: said }) : said;
  });
  return stations.join(" → ") || words.run.unbegun;
}

/** Name a node in the reader's language, or as the graph does. @param {string} id */
function named(id) {
  return words.run.nodes[/** @type {keyof typeof words.run.nodes} */ (id)] ?? id;
}

/** @param {string} id */
function isDot(id) {
  return id === START || id === END;
}

/** Measure nodes by their names as this browser writes them. */
function sized() {
  const pen = document.createElement("canvas").getContext("2d");
  if (pen) pen.font = `${FONT} ${getComputedStyle(document.body).fontFamily}`;
  return (/** @type {string} */ id) => {
    if (isDot(id)) return DOT;
    const width = Math.ceil(pen?.measureText(named(id)).width ?? 0) + 2 * NODE.padding;
    return { width: Math.max(NODE.least, width), height: NODE.height };
  };
}

/** @param {string} name @param {import("./graph_layout.js").Line} line */
function drawnEdge(name, { path, head }) {
  return svg("g", { class: "edge", "data-edge": name },
    svg("path", { class: "line", d: path }),
    svg("path", { class: "head", d: head }),
  );
}

/** @param {string} id @param {Place} place */
function drawnNode(id, { x, y, width, height }) {
  const box = { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 };
  const ring = { x: box.x - 3.5, y: box.y - 3.5, width: width + 7, height: height + 7, rx: box.rx + 3.5 };
  const times = svg("text", { class: "times", x: x + width / 2 - 4, y: box.y - 2 });
  const element = svg("g", { class: "node", "data-node": id },
    svg("rect", { class: "ring", ...ring }),
    svg("rect", { class: "box", ...box }),
    svg("text", { class: "name", x, y: y + 4 }, named(id)),
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

/** @param {string} id @param {Place} place */
function drawnDot(id, { x, y, width }) {
  const element = svg("circle", { class: "dot", "data-node": id, cx: x, cy: y, r: width / 2 });
  return {
    element,
    /** @param {number} visits */
    show(visits) {
      change(element, { class: visits ? "dot visited" : "dot" });
    },
  };
}
