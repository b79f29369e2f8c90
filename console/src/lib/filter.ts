/** The filter of the list of executions: chips, a text that can be typed, and the query of the API. */
export interface Chip {
  name: string;
  value: string;
}

export const FILTERS = [
  "workflow",
  "status",
  "tag",
  "correlation_id",
  "error_code",
  "since",
  "until",
  "min_duration",
  "max_duration",
  "min_resumes",
  "resumed",
  "user",
  "on",
  "node_type",
  "parent_id",
  "where",
  "contains",
] as const;
export const STATUSES = ["running", "waiting", "paused", "pausing", "failed", "completed", "cancelled", "pending"];
export const ON = ["person", "operator", "timer", "signal", "callback", "child", "delivery", "retry"];
const LISTS: ReadonlySet<string> = new Set(["status", "on", "where"]); // of others, the last that was said
const KNOWN: ReadonlySet<string> = new Set(FILTERS);
const PART = /(?:([a-z_]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/** Read `workflow:refund status:failed A-2`; a word without a known name before it is searched for. */
export function parse(text: string): Chip[] {
  const chips: Chip[] = [];
  for (const [, name, quoted, bare] of text.matchAll(PART)) {
    const value = quoted !== undefined ? quoted.replace(/\\(.)/g, "$1") : (bare ?? "");
    if (name && KNOWN.has(name)) chips.push({ name, value });
    else if (name) chips.push({ name: "q", value: `${name}:${value}` });
    else chips.push({ name: "q", value });
  }
  return chips.filter((chip) => chip.value !== "");
}

export function write(chips: readonly Chip[]): string {
  return chips.map(({ name, value }) => (name === "q" ? quote(value) : `${name}:${quote(value)}`)).join(" ");
}

function quote(value: string): string {
  return /[\s"\\]/.test(value) ? `"${value.replace(/(["\\])/g, "\\$1")}"` : value;
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A moment as the API takes it: `2d` and `1h30m` are so long ago. */
function moment(text: string, now: number): string {
  if (!/^(\d+[smhdw])+$/.test(text)) return text;
  const ago = [...text.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!, 0);
  return new Date(Math.max(0, now - ago)).toISOString();
}

/** What the API is asked: several statuses and conditions, and of everything else the last that was said. */
export function query(chips: readonly Chip[], now = Date.now()): Record<string, string | string[]> {
  const asked: Record<string, string | string[]> = {};
  for (const { name, value } of chips) {
    if (LISTS.has(name)) {
      const before = asked[name];
      asked[name] = [...(Array.isArray(before) ? before : []), value];
    } else asked[name] = name === "since" || name === "until" ? moment(value, now) : value;
  }
  return asked;
}

type Kept = Record<string, unknown>; // the filter of a view, or of a batch

/** Chips as a view or a batch takes them: with numbers, truths and objects instead of texts. */
export function filterOf(chips: readonly Chip[]): Kept {
  const filter: Kept = {};
  for (const { name, value } of chips)
    if (LISTS.has(name)) filter[name] = [...((filter[name] as string[] | undefined) ?? []), ...listed(name, value)];
    else filter[name] = name === "min_resumes" || name === "resumed" || name === "contains" ? readValue(value) : value;
  return filter;
}

/** Statuses and what is waited on may stand in one chip, with commas between them; a condition may have commas of its own. */
function listed(name: string, value: string): string[] {
  return name === "where" ? [value] : value.split(",").filter(Boolean);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the server says what it should be
  }
}

const CHIPS: ReadonlySet<string> = new Set([...FILTERS, "q"]);

/** A filter that was kept as chips; null if it has something that no chip can say. */
export function chipsOf(filter: object): Chip[] | null {
  const chips: Chip[] = [];
  for (const [name, value] of Object.entries(filter) as [string, unknown][]) {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    if (name === "order" && value === "created") continue;
    if (!CHIPS.has(name)) return null;
    const values: unknown[] = Array.isArray(value) ? value : [value];
    chips.push(...values.map((one) => ({ name, value: typeof one === "string" ? one : JSON.stringify(one) })));
  }
  return chips;
}
