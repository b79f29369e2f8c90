/** Which questions can be answered together, and in what they differ. */
import type { Schemas } from "../api/client";

type PausePoint = Schemas["PausePoint"];

/** The same for questions that one confirmation can answer: one workflow, one node, one form. */
export function groupOf(point: PausePoint): string {
  return JSON.stringify([point.workflow, point.node, point.kind, point.schema ?? null]);
}

export const MOST_TOGETHER = 100;

export interface Differences {
  same: [name: string, value: string][];
  names: string[]; // of what differs
  rows: { point: PausePoint; values: string[] }[];
}

function text(value: unknown): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What some questions show and lead to: what is the same in all, and what differs, in a table. */
export function differences(points: readonly PausePoint[], ports: Record<string, string> = {}): Differences {
  const shown = points.map((point) => ({
    ...(typeof point.shown === "object" && point.shown !== null && !Array.isArray(point.shown)
      ? (point.shown as Record<string, unknown>)
      : { shown: point.shown }),
    ...Object.fromEntries(Object.entries(point.leads_to ?? {}).map(([port, told]) => [ports[port] ?? port, told])),
  })) as Record<string, unknown>[];
  const all = [...new Set(shown.flatMap((one) => Object.keys(one)))];
  const differ = all.filter((name) => new Set(shown.map((one) => text(one[name]))).size > 1);
  const first = shown[0] ?? {};
  return {
    same: all
      .filter((name) => !differ.includes(name) && text(first[name]) !== "–")
      .map((name) => [name, text(first[name])]),
    names: differ,
    rows: points.map((point, i) => ({ point, values: differ.map((name) => text(shown[i]![name])) })),
  };
}
