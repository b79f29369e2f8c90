/** Goes to a screen, a workflow or an execution, or begins something, by a few letters. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sessionQuery, workflowsQuery } from "../api/queries";
import { type Entry, findEntries, isId } from "../lib/find";
import { isOperator, visibleTabs } from "../screens/operations/tabs";
import { en } from "../words/en";
import { ops } from "../words/operations";
import { workflowWords } from "../words/workflow";
import { Dialog } from "./Frame";

const words = en.palette;

export function Palette({ close, show }: { close: () => void; show: (what: "keys" | "settings") => void }) {
  const found = useEntries(show);
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const typed = text.trim();
  const entries = findEntries(found, typed);
  if (isId(typed))
    entries.unshift({
      ...{ id: "id", name: typed, kind: words.kinds.execution },
      act: () => navigate({ to: "/executions/$id", params: { id: typed.toLowerCase() }, search: {} }),
    });
  else if (typed)
    entries.push({
      ...{ id: "search", name: words.search(typed), kind: words.kinds.search },
      act: () => navigate({ to: "/executions", search: { q: typed } }),
    });
  const chosen = Math.min(at, entries.length - 1);
  const go = (one: Entry | undefined) => {
    if (!one) return;
    close();
    one.act();
  };
  return (
    <Dialog title={words.title} close={close}>
      <input
        data-first
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={`found-${chosen}`}
        aria-label={words.hint}
        placeholder={words.hint}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt((chosen + 1) % entries.length);
          else if (event.key === "ArrowUp") setAt((chosen + entries.length - 1) % entries.length);
          else if (event.key === "Enter") go(entries[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="found" role="listbox" aria-label={words.title} className="found">
        {entries.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
          <div
            role="option"
            id={`found-${i}`}
            aria-selected={i === chosen}
            key={one.id}
            ref={i === chosen ? (option) => option?.scrollIntoView({ block: "nearest" }) : undefined}
            onClick={() => go(one)}
          >
            <bdi>{one.name}</bdi>
            <span className="soft">{one.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

/** Everything that there is for this person: screens first, then workflows, then what can be begun. */
function useEntries(show: (what: "keys" | "settings") => void): Entry[] {
  const navigate = useNavigate();
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  const workflows = useQuery(workflowsQuery).data?.items ?? [];
  const { kinds } = words;
  const screen = (name: string, act: () => unknown): Entry => ({ id: `screen ${name}`, name, kind: kinds.screen, act });
  const tabs = isOperator(permissions) ? visibleTabs(permissions) : [];
  return [
    screen(en.nav.inbox, () => navigate({ to: "/" })),
    screen(en.nav.executions, () => navigate({ to: "/executions", search: {} })),
    screen(en.nav.workflows, () => navigate({ to: "/workflows", search: {} })),
    ...tabs.map((tab) =>
      screen(tab === "overview" ? ops.title : `${ops.title}: ${ops.tabs[tab]}`, () =>
        navigate({ to: "/operations", search: tab === "overview" ? {} : { tab } }),
      ),
    ),
    ...workflows.map((one) => ({
      ...{ id: `workflow ${one.name}`, name: one.name, kind: kinds.workflow },
      act: () => navigate({ to: "/workflows/$name", params: { name: one.name }, search: {} }),
    })),
    ...(permissions.includes("workflow:write")
      ? [
          {
            ...{ id: "new", name: workflowWords.newOne, kind: kinds.act },
            act: () => navigate({ to: "/new-workflow" }),
          },
        ]
      : []),
    ...(permissions.includes("execution:start") ? workflows : []).map((one) => ({
      ...{ id: `start ${one.name}`, name: en.workflows.startTitle(one.name), kind: kinds.act },
      act: () => navigate({ to: "/workflows/$name", params: { name: one.name }, search: { start: "1" } }),
    })),
    { id: "keys", name: en.keys.title, kind: kinds.act, act: () => show("keys") },
    { id: "settings", name: en.settings, kind: kinds.act, act: () => show("settings") },
  ];
}
