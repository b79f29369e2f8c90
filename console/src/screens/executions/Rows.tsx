/** The rows of the list of executions: drawn only where they are seen, moved through and selected by keys. */
import { Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Schemas } from "../../api/client";
import { useKeys } from "../../lib/keys";
import { Time, useNow } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { acts } from "../../words/acts";
import { en } from "../../words/en";

type Row = Schemas["ExecutionSummary"];
const words = en.executions;
export const MOST_CHOSEN = 1_000; // a batch takes no more ids

/** What a row waits for, or how it ended. */
export function about(row: Row): string {
  if (row.error) return row.error.message ?? row.error.code ?? "";
  if (row.waiting_summary) {
    const { text, count } = row.waiting_summary;
    return count > 1 ? words.andMore(text, count - 1) : text;
  }
  return row.outcome && row.outcome !== "executed" ? row.outcome : "";
}

const NARROW = window.matchMedia("(max-width: 760px)");

/** Whether the page is as narrow as a phone: rows have two lines there. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      NARROW.addEventListener("change", changed);
      return () => NARROW.removeEventListener("change", changed);
    },
    () => NARROW.matches,
  );
}

export function Rows(props: {
  rows: readonly Row[];
  more: boolean;
  load: () => void;
  chosen?: ReadonlySet<string>;
  choose?: (ids: ReadonlySet<string>) => void;
}) {
  const { rows, more, load, chosen, choose } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const now = useNow();
  const navigate = useNavigate();
  const [at, setAt] = useState(-1);
  const isNarrow = useNarrow();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isNarrow ? 64 : 44),
    overscan: 10,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are as high as the width has it
  useEffect(() => virtual.measure(), [isNarrow]);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= rows.length - 20) load();
  }, [more, last, rows.length, load]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    virtual.scrollToIndex(next);
  };
  const toggle = (id: string) => {
    if (!choose) return;
    const next = new Set(chosen);
    if (!next.delete(id) && next.size < MOST_CHOSEN) next.add(id);
    choose(next);
  };
  useKeys({
    x: () => rows[at] && toggle(rows[at].id),
    j: () => move(at + 1),
    k: () => move(at - 1),
    Enter: () => rows[at] && navigate({ to: "/executions/$id", params: { id: rows[at].id }, search: {} }),
  });
  return (
    <div className={choose ? "sheet table with-checks" : "sheet table"}>
      <div className="row head" aria-hidden="true">
        <span>{words.columns.status}</span>
        <span>{words.columns.workflow}</span>
        <span>{words.columns.waiting}</span>
        <span>{words.columns.key}</span>
        <span>{words.columns.age}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <div className="scroll" ref={scroll} tabIndex={0} role="region" aria-label={words.title}>
        <ul style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index]!;
            return (
              <li
                key={row.id}
                style={{ transform: `translateY(${item.start}px)` }}
                aria-setsize={rows.length}
                aria-posinset={item.index + 1}
                className="choosable"
              >
                {choose && (
                  <input
                    type="checkbox"
                    aria-label={acts.select(`${row.workflow} ${row.correlation_id ?? row.id.slice(-8)}`.slice(0, 200))}
                    checked={chosen?.has(row.id) ?? false}
                    onChange={() => toggle(row.id)}
                  />
                )}
                <Link
                  to="/executions/$id"
                  params={{ id: row.id }}
                  search={{}}
                  className="row"
                  data-on={item.index === at}
                >
                  <RowStatus row={row} />
                  <bdi>{row.workflow}</bdi>
                  <span className="soft">
                    <bdi>{about(row)}</bdi>
                  </span>
                  <span className="mono">
                    <bdi>{row.correlation_id ?? row.id.slice(-8)}</bdi>
                  </span>
                  <Time at={row.created_at} now={now} />
                </Link>
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

/** `paused` is two things: a person is waited for, or an operator has paused it. */
export function RowStatus({ row }: { row: Row }) {
  if (row.status !== "paused") return <Status value={row.status} />;
  return row.waiting_summary?.kind === "operator" ? (
    <Status value="held" text={en.status.paused!} />
  ) : (
    <Status value="person" text={words.person} />
  );
}
