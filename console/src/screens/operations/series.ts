/** Figures as charts want them: columns of numbers, and one sentence that says the same. */
import type { Schemas } from "../../api/client";

type Stats = Schemas["Stats"];

export interface Series {
  times: number[]; // seconds
  columns: (number | null)[][];
}

const times = (stats: Stats) => stats.buckets.map((one) => Date.parse(one.start) / 1_000);

export function throughput(stats: Stats): Series {
  return {
    times: times(stats),
    columns: [
      stats.buckets.map((one) => one.started ?? 0),
      stats.buckets.map((one) => (one.finished ?? 0) - (one.failed ?? 0)),
      stats.buckets.map((one) => one.failed ?? 0),
    ],
  };
}

/** How long people were waited for, in milliseconds; a bucket in which nobody answered is a gap. */
export function pauses(stats: Stats): Series {
  return {
    times: times(stats),
    columns: [
      stats.buckets.map((one) => one.pause_ms ?? null),
      stats.buckets.map((one) => one.longest_pause_ms ?? null),
    ],
  };
}

export interface Totals {
  started: number;
  finished: number;
  failed: number;
  asked: number;
  answered: number;
  pause: number | null;
  capped: boolean;
}

export function totals(stats: Stats): Totals {
  const sum = (of: (one: Stats["buckets"][number]) => number | null | undefined) =>
    stats.buckets.reduce((before, one) => before + (of(one) ?? 0), 0);
  const answered = sum((one) => one.answered);
  return {
    started: sum((one) => one.started),
    finished: sum((one) => one.finished),
    failed: sum((one) => one.failed),
    asked: sum((one) => one.asked),
    answered,
    pause: answered ? sum((one) => (one.pause_ms ?? 0) * (one.answered ?? 0)) / answered : null,
    capped: stats.buckets.some((one) => one.capped),
  };
}
