import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { Problem } from "../src/api/client";
import { grow, MOST_STEPS, nodeOfStep } from "../src/graph/grow";
import { inOrder } from "../src/screens/Inbox";
import { scopesOf } from "../src/screens/NodeDrawer";
import { finalOf } from "../src/screens/Point";
import { refusedFields } from "../src/screens/point/Answer";
import { inWords } from "../src/words/events";

let seq = 0;
const event = (type: string, context_id: string | null, data = {}) =>
  ({ seq: ++seq, type, context_id, data, at: "2026-11-18T12:00:00Z" }) as unknown as Schemas["Event"];
const graph = (status: string | null = "running") =>
  ({
    ...{ workflow: "w", version: 1, edges: [] },
    nodes: [{ id: "send:each", node: "send", type: "ship", parent: "each", status, runs: {} }],
  }) as unknown as Schemas["Graph"];
const shipped = (context: string) => [
  event("NodeScheduled", context, { cause: "reached" }),
  event("NodeRecorded", context, { key: "reserve" }),
  event("PausePointOpened", context, { key: "shipment", point: "p1", kind: "form", details: { title: "How?" } }),
];
const steps = (found: Schemas["Graph"]) => found.nodes.slice(1).map((one) => [one.id, one.label, one.status]);

test("what a function records and asks grows in its node, one below the other", () => {
  const asked = shipped("send:each.0");
  const found = grow(graph(), asked, { once: "recorded" });
  expect(steps(found)).toEqual([
    ["send:each/reserve", "reserve", "completed"],
    ["send:each/shipment", "How?", "waiting"],
  ]);
  expect(found.edges).toMatchObject([{ source: "send:each/reserve", target: "send:each/shipment" }]);
  const again = [
    event("NodeScheduled", "send:each.0", { cause: "answered" }),
    event("NodeRecorded", "send:each.0", { key: "shipment" }),
  ];
  const answered = grow(graph(), [...asked, ...again], {});
  expect(steps(answered).at(-1)).toEqual(["send:each/shipment", "How?", "completed"]);
  expect(answered.version).toBe(found.version); // the same shape: no place moves
  const ended = grow(graph(), [...asked, event("PausePointExpired", null, { point: "p1" })], {});
  expect(steps(ended).at(-1)![2]).toBe("expired");
});

test("another round begins anew, and what was not reached has no steps", () => {
  const next = [...shipped("send:each.0"), event("NodeRecorded", "send:each.1", { key: "weigh" })];
  expect(steps(grow(graph(), next, {}))).toEqual([["send:each/weigh", "weigh", "completed"]]);
  const rewound = [...shipped("send:each.0"), event("NodeScheduled", "send:each.0", { cause: "reached" })];
  const unchanged = graph();
  expect(grow(unchanged, rewound, {})).toBe(unchanged);
  const idle = graph("idle");
  expect(grow(idle, shipped("send:each.0"), {})).toBe(idle);
  const many = Array.from({ length: 500 }, (_, n) => event("NodeRecorded", "send:each.0", { key: `k${n}` }));
  expect(grow(graph(), many, {}).nodes.length).toBe(1 + MOST_STEPS);
  expect(nodeOfStep("send:each/k1")).toBe("send:each");
});

test("people read names and not ids of contexts or executions", () => {
  expect(scopesOf("allow:setup.accounts:each.2")).toBe("setup accounts, each #3");
  expect(scopesOf("allow")).toBe("");
  const text = "`kid:each.0` waits for the execution a4db380c-3ae6-8cbf-9c53-4dc069cfa2bd.";
  expect(inWords(text)).toBe("kid waits for the execution 69cfa2bd.");
});

test("each person takes back their own decision, as long as it is not final", () => {
  const decisions = [
    { by: "ann", final_at: "2026-01-01T00:00:00Z" },
    { by: "ben", final_at: null },
  ];
  const open = { status: "open", decisions, answered_by: null, final_at: null } as unknown as Schemas["PausePoint"];
  expect(finalOf(open, "ann")).toBe("2026-01-01T00:00:00Z");
  expect([finalOf(open, "ben"), finalOf(open, "eve"), finalOf(open, undefined)]).toEqual([null, null, null]);
  expect(finalOf({ ...open, status: "applied" }, "ann")).toBeNull();
});

test("what the server refuses stands beside the field that it names", () => {
  const errors = [
    { path: "$.data.seats", message: "Too many." },
    { path: "$.other", message: "x" },
  ];
  expect(refusedFields(new Problem(422, "invalid_answer", "", "", 0, errors), ["seats"])).toEqual({
    seats: "Too many.",
  });
  expect(refusedFields(new Problem(409, "x", "", "", 0, errors), ["seats"])).toEqual({});
});

test("an inbox is in order of age, or of deadlines, and has each question once", () => {
  const asked = [
    { id: "a", deadline: null },
    { id: "b", deadline: "2026-01-03T00:00:00Z" },
    { id: "c", deadline: "2026-01-02T00:00:00Z" },
    { id: "b", deadline: "2026-01-03T00:00:00Z" },
  ] as unknown as Schemas["PausePoint"][];
  expect(inOrder(asked, false).map((one) => one.id)).toEqual(["a", "b", "c"]);
  expect(inOrder(asked, true).map((one) => one.id)).toEqual(["c", "b", "a"]);
});
