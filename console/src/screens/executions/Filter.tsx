/** The filter of the list of executions: chips that can be taken away, a field that adds more, or all of it as one text. */
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { workflowsQuery } from "../../api/queries";
import { type Chip, FILTERS, ON, parse, STATUSES, write } from "../../lib/filter";
import { useKeys } from "../../lib/keys";
import { acts } from "../../words/acts";
import { en } from "../../words/en";

const words = en.executions;

/** What can stand where something is typed: names of filters, and after a name its values. */
export function suggest(text: string, workflows: readonly string[]): string[] {
  const values: Record<string, readonly string[]> = {
    status: STATUSES,
    on: ON,
    workflow: workflows,
    resumed: ["true", "false"],
  };
  const at = text.lastIndexOf(" ") + 1;
  const before = text.slice(0, at);
  const [name = "", value] = text.slice(at).split(":", 2);
  if (value === undefined) return FILTERS.filter((one) => one.startsWith(name)).map((one) => `${before}${one}:`);
  return (values[name] ?? [])
    .filter((one) => one.startsWith(value) && one !== value)
    .slice(0, 20)
    .map((one) => `${before}${name}:${/\s/.test(one) ? `"${one}"` : one}`);
}

export function Filter({ chips, set }: { chips: readonly Chip[]; set: (chips: Chip[]) => unknown }) {
  const [text, setText] = useState("");
  const [isWhole, setWhole] = useState(false); // the text is the whole filter, and there are no chips
  const field = useRef<HTMLInputElement>(null);
  const workflows = useQuery(workflowsQuery);
  useKeys({
    "/": () => field.current?.focus(),
  });
  const asText = () => {
    setText(write(chips));
    setWhole(true);
    field.current?.focus();
  };
  return (
    <form
      className="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const more = parse(text);
        if (isWhole) set(more);
        else if (more.length)
          set([
            ...chips.filter((chip) => !more.some((one) => one.name === chip.name && one.name !== "where")),
            ...more,
          ]);
        setText("");
        setWhole(false);
      }}
    >
      {(isWhole ? [] : chips).map((chip) => (
        <button
          type="button"
          className="chip"
          key={`${chip.name}:${chip.value}`}
          aria-label={words.remove(write([chip]))}
          onClick={() => set(chips.filter((one) => one !== chip))}
        >
          <bdi>{write([chip])}</bdi> <span aria-hidden="true">×</span>
        </button>
      ))}
      <input
        ref={field}
        list="filters"
        aria-label={words.filter}
        placeholder={words.hint}
        value={text}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setText("");
          setWhole(false);
        }}
      />
      <datalist id="filters">
        {suggest(text, workflows.data?.items.map((one) => one.name) ?? []).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {chips.length > 0 && !isWhole && (
        <button type="button" className="quiet" onClick={asText}>
          {acts.editText}
        </button>
      )}
    </form>
  );
}
