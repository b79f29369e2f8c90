import { expect, test, vi } from "vitest";
import { Problem, type Schemas } from "../src/api/client";
import { chipsOf, filterOf, parse } from "../src/lib/filter";
import { sendAll } from "../src/lib/parallel";
import { differences, groupOf } from "../src/lib/together";
import { suggest } from "../src/screens/executions/Filter";
import { scopeOf } from "../src/screens/Iterations";

const point = (id: string, shown: unknown, more = {}) =>
  ({ id, workflow: "refund", node: "review", kind: "approval", schema: null, shown, ...more }) as Schemas["PausePoint"];

test("only questions of one workflow, node and form are of one group", () => {
  const group = groupOf(point("1", { a: 1 }));
  expect(groupOf(point("2", { a: 2 }))).toBe(group);
  for (const other of [{ workflow: "x" }, { node: "x" }, { kind: "form" }, { schema: {} }])
    expect(groupOf(point("3", {}, other))).not.toBe(group);
});

test("what is the same in all stands once, and what differs has a column, also where it is missing", () => {
  const found = differences([point("1", { a: 1, b: { c: 2 }, d: null }), point("2", { a: 1, b: { c: 3 }, e: "x" })]);
  expect(found.same).toEqual([["a", "1"]]);
  expect(found.names).toEqual(["b", "e"]);
  expect(found.rows.map((one) => one.values)).toEqual([
    ['{"c":2}', "–"],
    ['{"c":3}', "x"],
  ]);
  const leads = (approved: string) => ({ leads_to: { approved, rejected: "It ends" } });
  const led = differences([point("1", {}, leads("A ships")), point("2", {}, leads("B ships"))], {
    approved: "When approved",
  });
  expect([led.same, led.names, led.rows[1]!.values]).toEqual([
    [["rejected", "It ends"]],
    ["When approved"],
    ["B ships"],
  ]);
  expect(differences([point("1", "text"), point("2", "other")]).names).toEqual(["shown"]);
});

test("many are sent a few at a time, what came too soon again, and each refusal stays with its item", async () => {
  vi.useFakeTimers();
  let most = 0;
  let now = 0;
  const tries = new Map<number, number>();
  const through: number[] = [];
  const sending = sendAll(
    [...Array(20).keys()],
    async (n) => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      const tried = (tries.get(n) ?? 0) + 1;
      tries.set(n, tried);
      if (n === 3 && tried < 3) throw new Problem(429, "rate_limited", "", "", 1);
      if (n === 5) throw new Problem(409, "already_decided", "Ann was first.", "", 0);
    },
    (n) => through.push(n),
  );
  await vi.runAllTimersAsync();
  const outcomes = await sending;
  vi.useRealTimers();
  expect(outcomes.filter((one) => one.error !== null).map((one) => one.item)).toEqual([5]);
  expect(outcomes.map((one) => one.item)).toEqual([...Array(20).keys()]);
  expect([tries.get(3), most, through.at(-1)]).toEqual([3, 4, 20]);
});

test("a filter is that of a batch and of a view, whatever its chips are", () => {
  const text = 'status:failed,paused on:person resumed:true min_resumes:2 contains:"{\\"a\\":1}" user:ann word';
  const filter = filterOf(parse(text));
  expect(filter).toEqual({
    ...{ status: ["failed", "paused"], on: ["person"], resumed: true, min_resumes: 2 },
    ...{ contains: { a: 1 }, user: "ann", q: "word" },
  });
  expect(filterOf(chipsOf(filter) ?? [])).toEqual(filter);
  expect(chipsOf({ ...filter, another: 1 })).toBeNull(); // what no chip can say is not shown as less
});

test("names of filters are suggested, and after a name its values", () => {
  expect(suggest("wh", [])).toEqual(["where:"]);
  expect(suggest("status:failed workflow:re", ["refund", "order"])).toEqual(["status:failed workflow:refund"]);
  expect(suggest("on:op", [])).toEqual(["on:operator"]);
  expect(suggest("tag:gold", [])).toEqual([]);
});

test("an iteration is named by its number, a branch by its name", () => {
  expect(scopeOf("count:lines.41", "lines")).toBe("#42");
  expect(scopeOf("choose:setup.hardware", "setup")).toBe("hardware");
  expect(scopeOf("a:outer.2:inner.3", "inner:outer.2")).toBe("#4");
});
