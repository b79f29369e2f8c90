import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { dataOf, fieldsOf } from "../src/forms/subset";
import vectors from "../src/forms/vectors.json";
import { append, graphId, reduceExecution, reduceGraph } from "../src/graph/reduce";
import { parse, query, write } from "../src/lib/filter";
import { length } from "../src/lib/time";
import { inWords } from "../src/words/events";

const event = (seq: number, type: string, context_id: string | null, data = {}) =>
  ({ seq, type, context_id, data, at: "2026-11-18T12:00:00Z", attempt: null }) as unknown as Schemas["Event"];
const graph = {
  workflow: "w",
  version: 1,
  nodes: [{ id: "a:each", node: "a", type: "compute", status: null, runs: {} }],
  edges: [
    { source: "a:each", target: "b:each", port: "yes", taken: 0 },
    { source: "a:each", target: "c:each", port: "no", taken: 0 },
  ],
} as unknown as Schemas["Graph"];

test("an event changes its node and the edge that was taken, and nothing else", () => {
  const running = reduceGraph(graph, event(1, "NodeStarted", "a:each.7"));
  expect(running.nodes[0]!.status).toBe("running");
  const done = reduceGraph(running, event(2, "NodeCompleted", "a:each.7", { port: "yes" }));
  expect(done.edges.map((one) => one.taken)).toEqual([1, 0]);
  expect(reduceGraph(graph, event(3, "LegStarted", null))).toBe(graph);
  expect(graphId("x:setup.accounts:each.12")).toBe("x:setup.accounts:each");
});

test("an execution takes each event once, whatever a stream repeats", () => {
  const one = { status: "running", last_seq: 4, output: null } as unknown as Schemas["Execution"];
  expect(reduceExecution(one, event(4, "ExecutionFailed", null))).toBe(one);
  expect(reduceExecution(one, event(5, "ExecutionCompleted", null, { output: 1 }))).toMatchObject({
    status: "completed",
    output: 1,
    last_seq: 5,
  });
  expect(
    append([event(0, "a", null), event(1, "b", null)], [event(1, "b", null), event(2, "c", null)]).map((e) => e.seq),
  ).toEqual([0, 1, 2]);
});

test("chips and text of a filter say the same", () => {
  const text = 'workflow:refund status:failed where:"input.total > 5" A-2 odd:thing "with space"';
  expect(parse(write(parse(text)))).toEqual(parse(text));
  expect(query(parse("status:failed status:paused workflow:a workflow:b x"))).toEqual({
    status: ["failed", "paused"],
    workflow: "b",
    q: "x",
  });
});

test.each(vectors)("form: $name", ({ schema, typed, data, wrong }) => {
  const fields = fieldsOf(schema);
  if (data === null && wrong === null) expect(fields).toBeNull();
  else expect(dataOf(fields!, typed as never)).toEqual({ data, wrong });
});

test("lengths and sentences are those of people", () => {
  expect([length(172_800_000), length(93_600_000), length(61_000), length(900)]).toEqual([
    "2 d",
    "1 d 2 h",
    "1 min",
    "900 ms",
  ]);
  expect(inWords("`allow:setup.accounts:each.0` waits for `ann`.")).toBe("allow waits for ann.");
});
