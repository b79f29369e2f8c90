import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { drawDifferences, drawResting, drawRun, nodeOfPath, shapeNumber } from "../src/graph/overlay";

const graph = (nodes: string[], edges: [string, string, string][] = []) =>
  ({
    workflow: "w",
    version: 1,
    nodes: nodes.map((id) => ({ id, node: id.split(":")[0], type: "compute", label: null, status: null, runs: {} })),
    edges: edges.map(([source, target, port]) => ({ source, target, port, taken: 0 })),
  }) as unknown as Schemas["Graph"];

test("a path of the canonical form leads to its node in the graph", () => {
  expect(nodeOfPath("$.nodes[setup].branches[accounts].body.nodes[each].body.nodes[allow].title")).toBe(
    "allow:setup.accounts:each",
  );
  expect(nodeOfPath("$.nodes[setup].branches[accounts].body.next")).toBe("setup");
  expect(nodeOfPath("$.input.properties.nodes")).toBeNull();
});

test("both versions are drawn in one graph, with what came, went and changed", () => {
  const before = graph(["a", "b"], [["a", "b", "done"]]);
  const after = graph(["a", "c"], [["a", "c", "done"]]);
  const changed = [{ path: "$.nodes[a].output", kind: "changed" }] as Schemas["Difference"][];
  const drawn = drawDifferences(before, after, changed, { added: "new" });
  expect(drawn.graph.nodes.map((one) => one.id)).toEqual(["a", "c", "b"]);
  expect(drawn.graph.edges).toHaveLength(2);
  expect(drawn.counts).toEqual({ added: 1, removed: 1, changed: 1 });
  expect(drawn.marks).toMatchObject({
    a: { tone: "changed" },
    b: { tone: "removed" },
    c: { tone: "added", text: "new" },
    "a>b>done": { tone: "removed" },
    "a>c>done": { tone: "added" },
  });
  expect(shapeNumber(before)).not.toBe(shapeNumber(after));
});

test("a dry run leaves its states and the edges that it took; all rounds of a loop are one node", () => {
  const run = {
    nodes: [
      { context_id: "look:each.0", status: "completed", port: "approved" },
      { context_id: "look:each.1", status: "completed", port: "approved" },
    ],
    waiting_on: [{ context_id: "ask/size" }],
  } as unknown as Schemas["DryRun"];
  const drawn = drawRun(graph(["each", "look:each", "ask"], [["look:each", "ask", "approved"]]), run);
  expect(drawn.nodes.map((one) => one.status)).toEqual([null, "completed", "waiting"]);
  expect(drawn.nodes[1]!.runs).toEqual({ completed: 2 });
  expect(drawn.edges[0]!.taken).toBe(2);
});

test("kinds that wait at one node are counted together", () => {
  const nodes = [
    { id: "a", kind: "approval", count: 2 },
    { id: "a", kind: "timer", count: 1 },
  ] as Schemas["RestingNode"][];
  expect(drawResting(nodes, (n) => `${n} here`)).toEqual({ a: { tone: "rest", text: "3 here" } });
});
