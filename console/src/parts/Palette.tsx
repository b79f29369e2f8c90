/** Finds a screen, a workflow or an execution by a few letters. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { workflowsQuery } from "../api/queries";
import { en } from "../words/en";
import { ops } from "../words/operations";
import { Dialog } from "./Frame";

export function Palette({ close, operates }: { close: () => void; operates: boolean }) {
  const navigate = useNavigate();
  const workflows = useQuery(workflowsQuery);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const go = (act: () => unknown) => {
    close();
    act();
  };
  const entries: { name: string; act: () => unknown }[] = [
    { name: en.nav.inbox, act: () => navigate({ to: "/" }) },
    { name: en.nav.executions, act: () => navigate({ to: "/executions", search: {} }) },
    { name: en.nav.workflows, act: () => navigate({ to: "/workflows" }) },
    ...(operates ? [{ name: ops.title, act: () => navigate({ to: "/operations", search: {} }) }] : []),
    ...(workflows.data?.items ?? []).map((one) => ({
      name: one.name,
      act: () => navigate({ to: "/workflows/$name", params: { name: one.name } }),
    })),
  ];
  const shown = entries.filter((one) => one.name.toLowerCase().includes(text.trim().toLowerCase())).slice(0, 12);
  if (text.trim())
    shown.push({
      name: `${en.nav.executions}: ${text.trim()}`,
      act: () => navigate({ to: "/executions", search: { q: text.trim() } }),
    });
  const chosen = Math.min(at, shown.length - 1);
  return (
    <Dialog title={en.palette.title} close={close}>
      <input
        data-first
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={`found-${chosen}`}
        aria-label={en.palette.hint}
        placeholder={en.palette.hint}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, shown.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter" && shown[chosen]) go(shown[chosen].act);
          else return;
          event.preventDefault();
        }}
      />
      <div id="found" role="listbox" aria-label={en.palette.title} className="found">
        {shown.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
          <div role="option" id={`found-${i}`} aria-selected={i === chosen} key={one.name} onClick={() => go(one.act)}>
            <bdi>{one.name}</bdi>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
