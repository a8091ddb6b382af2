import assert from "node:assert/strict";
import { test } from "node:test";

import { graphOf } from "../../../api/page/api/completing.js";
import { END, START } from "../../../api/page/state/graph.js";
import { layOut } from "../../../api/page/views/graph_layout.js";
import { drawn, graphFrom } from "./graphs.mjs";

const sizeOf = (id) => (id.startsWith("__") ? { width: 10, height: 10 } : { width: 30 + 7 * id.length, height: 26 });
const PIPELINE = "__start__>plan plan>search plan>web plan>sql search>join web>join sql>join join>write join>plan plan>write";
const GRAPHS = {
  today: drawn(),
  later: graphFrom(`${PIPELINE} write>judge_a write>judge_b judge_a>ask_a_person judge_b>ask_a_person judge_a>write
    ask_a_person>plan ask_a_person>__end__ plan>__end__`.replace(/\s+/g, " ")),
  line: graphFrom("__start__>a a>b b>c c>__end__"),
  "nothing but a cycle": graphFrom("a>b b>c c>a"),
  "nodes that nothing leads to": graphFrom("__start__>a a>__end__ lost>a", "alone"),
  "one that leads past others": graphFrom("__start__>a __start__>b __start__>c a>b b>c a>c c>__end__ a>__end__"),
  "one node": graphFrom("", "alone"),
};

for (const [name, graph] of Object.entries(GRAPHS)) {
  const layout = layOut(graph, sizeOf);
  const boxes = graph.nodes.map(({ id }) => ({ id, ...layout.places.get(id) }));

  test(`${name}: every node has a place within the drawing, and none lies upon another`, () => {
    for (const { id, x, y, width, height } of boxes) {
      assert.ok(x - width / 2 >= 0 && x + width / 2 <= layout.width, `${id} from ${x - width / 2} to ${x + width / 2}`);
      assert.ok(y - height / 2 >= 0 && y + height / 2 <= layout.height, `${id} at ${y}`);
    }
    boxes.forEach((one, at) => {
      for (const other of boxes.slice(at + 1)) {
        const aside = Math.abs(one.x - other.x) - (one.width + other.width) / 2;
        const below = Math.abs(one.y - other.y) - (one.height + other.height) / 2;
        assert.ok(aside > 0 || below > 0, `${one.id} and ${other.id}`);
      }
    });
  });

  test(`${name}: every edge leads from the rim of its node to the rim of the other`, () => {
    assert.deepEqual([...layout.lines.keys()].sort(), graph.edges.map(({ from, to }) => `${from} ${to}`).sort());
    for (const { from, to } of graph.edges) {
      const { path, head } = layout.lines.get(`${from} ${to}`);
      assert.doesNotMatch(path + head, /NaN|undefined|Infinity/);
      const [x, y] = path.match(/-?[\d.]+/g).map(Number);
      const [tipX, tipY] = head.match(/-?[\d.]+/g).map(Number);
      assert.ok(onRim(layout.places.get(from), x, y), `${from} to ${to} begins at ${x} ${y}`);
      assert.ok(onRim(layout.places.get(to), tipX, tipY), `${from} to ${to} ends at ${tipX} ${tipY}`);
    }
  });

  test(`${name}: no edge lies upon another, nor begins where one of another node does`, () => {
    assert.equal(new Set([...layout.lines.values()].map((line) => line.path)).size, graph.edges.length);
    const begun = new Map();
    for (const { from, to } of graph.edges) {
      const [, point] = /^M(\S+ \S+)/.exec(layout.lines.get(`${from} ${to}`).path);
      assert.equal(begun.get(point) ?? from, from, point);
      begun.set(point, from);
    }
  });
}

/** Whether a point is on the rim of a place. */
function onRim({ x, y, width, height }, pointX, pointY) {
  const [aside, below] = [Math.abs(pointX - x) - width / 2, Math.abs(pointY - y) - height / 2];
  return (Math.abs(below) < 0.2 && aside < 0.2) || (Math.abs(aside) < 0.2 && below < 0.2);
}

test("the way of most runs is drawn straight down, and what leads back leads up", () => {
  const { places } = layOut(GRAPHS.today, sizeOf);
  const way = [START, "decide_retrieval", "search_segments", "grade_segments", "generate_answer", "check_claims", "assess_quality", END];
  assert.equal(new Set(way.map((id) => places.get(id).x)).size, 1);
  const heights = way.map((id) => places.get(id).y);
  assert.deepEqual(heights, [...heights].sort((one, other) => one - other));
  for (const [from, to] of [["rewrite_query", "search_segments"], ["grade_segments", "search_web"]]) {
    assert.ok(places.get(to).y < places.get(from).y, `${from} to ${to}`);
  }
  assert.equal(places.get("rewrite_query").y, places.get("check_claims").y);
});

test("a drawing is little wider than a phone, which makes it that much smaller", () => {
  assert.ok(layOut(GRAPHS.today, sizeOf).width < 580);
  assert.ok(layOut(GRAPHS.today, (id) => ({ ...sizeOf(id), width: Math.min(sizeOf(id).width, 96) })).width < 450);
});

test("the same graph is always drawn in the same way", () => {
  assert.deepEqual(layOut(drawn(), sizeOf), layOut(drawn(), sizeOf));
});

test("a graph of another time is made whole", () => {
  const given = {
    nodes: [{ id: "a", later: 1 }, { id: "b" }, { id: "a" }, {}],
    edges: [{ from: "a", to: "b" }, { from: "a", to: "b" }, { from: "a", to: "a" }, { from: "a", to: "gone" }, null],
    later: true,
  };
  const { nodes, edges } = graphOf(given);
  assert.deepEqual(nodes.map((node) => node.id), ["a", "b"]);
  assert.deepEqual(edges.map(({ from, to, conditional }) => [from, to, conditional]), [["a", "b", false]]);
  assert.deepEqual(graphOf({ nodes: [] }).edges, []);
});
