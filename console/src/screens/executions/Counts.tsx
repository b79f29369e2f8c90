/** How many executions there are, by status and by what they wait on: each count is a filter, too. */
import { useQuery } from "@tanstack/react-query";
import { countsQuery } from "../../api/queries";
import type { Chip } from "../../lib/filter";
import { number } from "../../lib/time";
import { Glyph } from "../../parts/Status";
import { en } from "../../words/en";

const words = en.executions;

interface Count {
  name: "status" | "on";
  value: string;
  glyph: string;
  text: string;
}

const status = (value: string): Count => ({ name: "status", value, glyph: value, text: en.status[value] ?? value });
const on = (value: string, glyph: string): Count => ({ name: "on", value, glyph, text: words.on[value] ?? value });

// `paused` is two things, and stands here as these: people are waited for, or an operator has paused it.
const PAUSED = [on("person", "person"), on("operator", "held")];
const STATUSES = [status("waiting"), status("running"), status("pending"), status("pausing")];
const ENDED = [status("failed"), status("completed"), status("cancelled")];
const AWAITED = ["timer", "signal", "callback", "child", "delivery", "retry"].map((one) => on(one, "waiting"));

export function Counts({ chips, set }: { chips: readonly Chip[]; set: (chips: Chip[]) => unknown }) {
  const counts = useQuery(countsQuery).data;
  const find = (one: Count) => chips.some((chip) => chip.name === one.name && chip.value === one.value);
  const press = (one: Count) => {
    const others = chips.filter((chip) => chip.name !== "status" && chip.name !== "on");
    set(find(one) ? others : [...others, { name: one.name, value: one.value }]);
  };
  const draw = (one: Count) => {
    const count = (one.name === "on" ? counts?.on[one.value] : counts?.[one.value as "failed"]) ?? 0;
    if (count === 0 && !find(one)) return null;
    const text = one.name === "on" && counts?.more ? words.atLeast(number(count)) : number(count);
    return (
      <button
        type="button"
        className="chip"
        key={`${one.name}:${one.value}`}
        aria-pressed={find(one)}
        onClick={() => press(one)}
      >
        <Glyph value={one.glyph} />{" "}
        {one.glyph === "waiting" && one.name === "on" ? words.awaited(one.text, text) : `${text} ${one.text}`}
      </button>
    );
  };
  const awaited = AWAITED.map(draw).filter((one) => one !== null);
  return (
    <div className="counts">
      <div className="chips" role="group" aria-label={words.columns.status}>
        {[...PAUSED, ...STATUSES, ...ENDED].map(draw)}
      </div>
      {awaited.length > 0 && (
        <div className="chips awaited" role="group" aria-label={words.columns.waiting}>
          <span className="soft" aria-hidden="true">
            {words.columns.waiting}
          </span>
          {awaited}
        </div>
      )}
    </div>
  );
}
