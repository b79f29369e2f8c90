import { describe, expect, it } from "vitest";
import type { Schemas } from "../src/api/client";
import { pauses, throughput, totals } from "../src/screens/operations/series";
import { firstTab, isOperator, visibleTabs } from "../src/screens/operations/tabs";

const bucket = (start: string, more: Partial<Schemas["StatsBucket"]> = {}): Schemas["StatsBucket"] => ({
  ...{ start, started: 0, finished: 0, failed: 0, duration_ms: null, asked: 0, answered: 0, pause_ms: null },
  ...{ longest_pause_ms: null, capped: false },
  ...more,
});
const stats = (...buckets: Schemas["StatsBucket"][]) => ({ span: "hour", buckets }) as unknown as Schemas["Stats"];

describe("figures", () => {
  const found = stats(
    bucket("2026-01-01T00:00:00Z", { started: 4, finished: 3, failed: 1, asked: 2, answered: 1, pause_ms: 100 }),
    bucket("2026-01-01T00:01:00Z", { asked: 3, answered: 3, pause_ms: 500, longest_pause_ms: 900, capped: true }),
  );
  it("are columns over time, and what failed is not counted twice", () => {
    const { times, columns } = throughput(found);
    expect(times[1]! - times[0]!).toBe(60);
    expect(columns).toEqual([
      [4, 0],
      [2, 0],
      [1, 0],
    ]);
  });
  it("leave a gap where nobody answered", () => {
    expect(pauses(stats(bucket("2026-01-01T00:00:00Z"))).columns).toEqual([[null], [null]]);
  });
  it("weigh the average of a bucket by its answers", () => {
    expect(totals(found)).toMatchObject({ started: 4, asked: 5, answered: 4, pause: 400, capped: true });
    expect(totals(stats()).pause).toBeNull();
  });
});

describe("tabs", () => {
  it("are those that the caller may see", () => {
    expect(visibleTabs(["audit:read"])).toEqual(["audit"]);
    expect(firstTab("", ["audit:read"])).toBe("audit");
    expect(firstTab("keys", ["audit:read"])).toBeUndefined();
    expect(visibleTabs([])).toEqual([]);
  });
  it("are in the navigation of operators only", () => {
    expect(isOperator(["execution:read", "workflow:read"])).toBe(false);
    expect(isOperator(["execution:read", "execution:cancel"])).toBe(true);
    expect(isOperator(undefined)).toBe(false);
  });
});
