/** Times for people: short lengths, relative moments, absolute ones in the zone that was chosen. */
import { preferences } from "./preferences";

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
];

/** A length in its one or two largest units: "2 d 4 h", "14 min". */
export function length(ms: number): string {
  let left = Math.max(0, ms);
  if (left < 1_000) return left < 1 ? "0 s" : `${Math.round(left)} ms`;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    left -= count * size;
    if (parts.length === 2 || (parts.length === 1 && (unit === "min" || unit === "s"))) break;
  }
  return parts.join(" ");
}

/** The age of a moment in one unit: "2 h". */
export function age(at: string, now: number): string {
  const ms = Math.abs(now - Date.parse(at));
  for (const [unit, size] of UNITS) if (ms >= size) return `${Math.floor(ms / size)} ${unit}`;
  return "0 s";
}

function zone(): { timeZone: string } | Record<string, never> {
  return preferences().zone === "utc" ? { timeZone: "UTC" } : {};
}

export function moment(at: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", ...zone() }).format(
    new Date(at),
  );
}

export function clock(at: string): string {
  const form = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", ...zone() } as const;
  return new Intl.DateTimeFormat(undefined, form).format(new Date(at));
}

export function day(at: string): string {
  return new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", ...zone() }).format(
    new Date(at),
  );
}

export function number(value: number): string {
  return new Intl.NumberFormat().format(value);
}
