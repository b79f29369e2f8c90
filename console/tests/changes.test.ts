import { expect, test } from "vitest";
import { reducePages } from "../src/api/changes";
import type { Schemas } from "../src/api/client";
import { chipsOf, filterOf, parse, query } from "../src/lib/filter";

const row = (id: string, last_seq: number, status = "running") =>
  ({ id, last_seq, status }) as unknown as Schemas["ExecutionSummary"];

test("a row of a list becomes what it is now, never what it was, and other lists stay the same objects", () => {
  const pages = { pages: [{ items: [row("a", 3), row("b", 5)], next: null }], pageParams: [""] };
  const changed = new Map([["a", row("a", 4, "completed")]]);
  expect(reducePages(pages, changed).pages[0]!.items).toEqual([row("a", 4, "completed"), row("b", 5)]);
  expect(reducePages(pages, new Map([["b", row("b", 4, "pending")]])).pages[0]!.items[1]).toEqual(row("b", 5));
  expect(reducePages(pages, new Map([["c", row("c", 1)]]))).toBe(pages);
});

test("a saved view is shown as the chips that it was saved from", () => {
  const chips = parse('workflow:refund status:failed status:paused min_resumes:2 since:2d where:"input.total>1" A-2');
  const filter = filterOf(chips);
  expect(filter).toEqual({
    ...{ workflow: "refund", status: ["failed", "paused"], min_resumes: 2, since: "2d" },
    ...{ where: ["input.total>1"], q: "A-2" },
  });
  expect(chipsOf({ ...filter, order: "created" })).toEqual(chips);
});

test("a length of time in a filter is a moment of the past for the server", () => {
  const now = Date.parse("2026-11-20T08:00:00Z");
  expect(query(parse("since:1h30m until:2026-11-20T08:00:00Z"), now)).toEqual({
    since: "2026-11-20T06:30:00.000Z",
    until: "2026-11-20T08:00:00Z",
  });
});
