/** The list: counts on top, a filter as chips and as text, rows that are drawn only where they are seen. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { every, useChanges } from "../api/changes";
import { client, type Schemas, take } from "../api/client";
import { countsQuery, executionsQuery, sessionQuery } from "../api/queries";
import { type Chip, parse, query, write } from "../lib/filter";
import { useKeys } from "../lib/keys";
import { number } from "../lib/time";
import { Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { Stale } from "../parts/Stale";
import { Glyph, Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { type BatchAct, BatchProgress, BatchStart } from "./Batch";
import { SavedViews } from "./SavedViews";

type Row = Schemas["ExecutionSummary"];
const words = en.executions;
const MOST_CHOSEN = 1_000; // a batch takes no more ids
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
  useChanges();
  const { q = "", batch } = useSearch({ from: "/executions" });
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
  const mayAct = useQuery(sessionQuery).data?.permissions.includes("execution:cancel") ?? false;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [act, setAct] = useState<BatchAct | "">("");
  const show = (id: string | undefined) =>
    navigate({ to: "/executions", search: { ...(q ? { q } : {}), ...(id ? { batch: id } : {}) } });
  return (
    <>
      <div className="head-line">
        <h1>{words.title}</h1>
        <Stale at={fresh.at} after={fresh.isFailing ? 0 : 90_000} />
      </div>
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
      <SavedViews chips={chips} set={set} />
      {fresh.count > 0 && (
        <button type="button" className="chip fresh" onClick={() => void list.refetch()}>
          {words.fresh(fresh.count)}
        </button>
      )}
      {chosen.size > 0 && (
        <div className="bulk" role="group" aria-label={acts.selected(chosen.size)}>
          <span>{acts.selected(chosen.size)}</span>
          {(["pause", "resume", "retry", "cancel"] as const).map((one) => (
            <button type="button" key={one} className={one === "cancel" ? "bad" : ""} onClick={() => setAct(one)}>
              {acts.batch.acts[one]} …
            </button>
          ))}
          {chosen.size < Math.min(rows.length, MOST_CHOSEN) && (
            <button
              type="button"
              className="quiet"
              onClick={() => setChosen(new Set(rows.slice(0, MOST_CHOSEN).map((row) => row.id)))}
            >
              {acts.allShown(number(Math.min(rows.length, MOST_CHOSEN)))}
            </button>
          )}
          <button type="button" className="quiet" onClick={() => setChosen(new Set())}>
            {acts.clear}
          </button>
        </div>
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
        <Rows
          rows={rows}
          more={list.hasNextPage && !list.isFetchingNextPage}
          load={() => void list.fetchNextPage()}
          {...(mayAct ? { chosen, choose: setChosen } : {})}
        />
      )}
      {act && (
        <BatchStart
          act={act}
          ids={[...chosen]}
          chips={chips}
          close={() => setAct("")}
          begun={(id) => {
            setAct("");
            setChosen(new Set());
            void show(id);
          }}
        />
      )}
      {batch && <BatchProgress id={batch} close={() => void show(undefined)} />}
    </>
  );
}

/** How many executions began since the list was read; they wait until they are asked for. */
function useFresh(
  asked: Record<string, string | string[]>,
  first: string | undefined,
): { count: number; at: number; isFailing: boolean } {
  const newest = useQuery({
    queryKey: ["executions", "newest", asked],
    queryFn: () => take(client.GET("/api/v1/executions", { params: { query: { ...asked, limit: 100 } } })),
    refetchInterval: every(10_000),
    enabled: first !== undefined,
  });
  const at = newest.data?.items.findIndex((row) => row.id === first) ?? 0;
  const count = at < 0 ? (newest.data?.items.length ?? 0) : at;
  return { count, at: newest.dataUpdatedAt, isFailing: newest.isError };
}

function Filter({ chips, set }: { chips: readonly Chip[]; set: (chips: Chip[]) => unknown }) {
  const [text, setText] = useState("");
  const [isWhole, setWhole] = useState(false); // the text is the whole filter, and there are no chips
  const field = useRef<HTMLInputElement>(null);
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
      {chips.length > 0 && !isWhole && (
        <button type="button" className="quiet" onClick={asText}>
          {acts.editText}
        </button>
      )}
    </form>
  );
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

function Rows(props: {
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
function RowStatus({ row }: { row: Row }) {
  if (row.status !== "paused") return <Status value={row.status} />;
  return row.waiting_summary?.kind === "operator" ? (
    <Status value="held" text={en.status.paused!} />
  ) : (
    <Status value="person" text={words.person} />
  );
}
