/** The list: counts on top, a filter as chips and as text, rows that are drawn only where they are seen. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { countsQuery, executionsQuery } from "../api/queries";
import { type Chip, parse, query, write } from "../lib/filter";
import { useKeys } from "../lib/keys";
import { number } from "../lib/time";
import { Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { Glyph, Status } from "../parts/Status";
import { en } from "../words/en";

type Row = Schemas["ExecutionSummary"];
const words = en.executions;
const COUNTED = ["paused", "waiting", "running", "pausing", "failed", "completed", "cancelled"] as const;

/** What a row waits for, or how it ended. */
function about(row: Row): string {
  if (row.error) return row.error.message ?? row.error.code ?? "";
  if (row.waiting_summary) {
    const { text, count } = row.waiting_summary;
    return count > 1 ? words.andMore(text, count - 1) : text;
  }
  return row.outcome && row.outcome !== "executed" ? row.outcome : "";
}

export function Executions() {
  useTitle(words.title);
  const { q = "" } = useSearch({ from: "/executions" });
  const navigate = useNavigate();
  const chips = useMemo(() => parse(q), [q]);
  const asked = useMemo(() => query(chips), [chips]);
  const set = (next: readonly Chip[]) => navigate({ to: "/executions", search: next.length ? { q: write(next) } : {} });
  const toggle = (status: string) => {
    const others = chips.filter((chip) => !(chip.name === "status" && chip.value === status));
    void set(
      others.length < chips.length
        ? others
        : [...chips.filter((chip) => chip.name !== "status"), { name: "status", value: status }],
    );
  };
  const counts = useQuery(countsQuery);
  const list = useInfiniteQuery(executionsQuery(asked));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const fresh = useFresh(asked, rows[0]?.id);
  return (
    <>
      <h1>{words.title}</h1>
      <div className="chips" role="group" aria-label={words.columns.status}>
        {COUNTED.filter((status) => (counts.data as Record<string, number> | undefined)?.[status]).map((status) => (
          <button
            type="button"
            className="chip"
            key={status}
            aria-pressed={chips.some((chip) => chip.name === "status" && chip.value === status)}
            onClick={() => toggle(status)}
          >
            <Glyph value={status} /> {number((counts.data as Record<string, number>)[status] ?? 0)} {en.status[status]}
          </button>
        ))}
      </div>
      <Filter chips={chips} set={set} />
      {fresh > 0 && (
        <button type="button" className="chip fresh" onClick={() => void list.refetch()}>
          {words.fresh(fresh)}
        </button>
      )}
      {list.isPending ? (
        <Loading />
      ) : list.error && rows.length === 0 ? (
        <Refused error={list.error} retry={() => void list.refetch()} />
      ) : rows.length === 0 ? (
        <div className="sheet empty">
          <p>{q ? words.empty : words.none}</p>
          {q && (
            <button type="button" onClick={() => void set([])}>
              {words.clear}
            </button>
          )}
        </div>
      ) : (
        <Rows rows={rows} more={list.hasNextPage && !list.isFetchingNextPage} load={() => void list.fetchNextPage()} />
      )}
    </>
  );
}

/** How many executions began since the list was read; they wait until they are asked for. */
function useFresh(asked: Record<string, string | string[]>, first: string | undefined): number {
  const newest = useQuery({
    queryKey: ["executions", "newest", asked],
    queryFn: () => take(client.GET("/api/v1/executions", { params: { query: { ...asked, limit: 100 } } })),
    refetchInterval: 10_000,
    enabled: first !== undefined,
  });
  const at = newest.data?.items.findIndex((row) => row.id === first) ?? 0;
  return at < 0 ? (newest.data?.items.length ?? 0) : at;
}

function Filter({ chips, set }: { chips: readonly Chip[]; set: (chips: Chip[]) => unknown }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => field.current?.focus() });
  return (
    <form
      className="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const more = parse(text);
        if (more.length)
          set([
            ...chips.filter((chip) => !more.some((one) => one.name === chip.name && one.name !== "where")),
            ...more,
          ]);
        setText("");
      }}
    >
      {chips.map((chip) => (
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
        aria-label={words.filter}
        placeholder={words.hint}
        value={text}
        onChange={(e) => setText(e.target.value)}
      />
    </form>
  );
}

function Rows({ rows, more, load }: { rows: readonly Row[]; more: boolean; load: () => void }) {
  const scroll = useRef<HTMLDivElement>(null);
  const now = useNow();
  const navigate = useNavigate();
  const [at, setAt] = useState(-1);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 44,
    overscan: 10,
  });
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
  useKeys({
    j: () => move(at + 1),
    k: () => move(at - 1),
    Enter: () => rows[at] && navigate({ to: "/executions/$id", params: { id: rows[at].id }, search: {} }),
  });
  return (
    <div className="sheet table">
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
              >
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
function RowStatus({ row }: { row: Row }) {
  if (row.status !== "paused") return <Status value={row.status} />;
  return row.waiting_summary?.kind === "operator" ? (
    <Status value="held" text={en.status.paused!} />
  ) : (
    <Status value="person" text={words.person} />
  );
}
