/** The list: counts on top, a filter as chips and as text, rows, and acts on many of them. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { every, useChanges } from "../api/changes";
import { client, take } from "../api/client";
import { executionsQuery, sessionQuery } from "../api/queries";
import { type Chip, parse, query, write } from "../lib/filter";
import { number } from "../lib/time";
import { Loading, Refused, useTitle } from "../parts/Frame";
import { Stale } from "../parts/Stale";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { type BatchAct, BatchProgress, BatchStart } from "./Batch";
import { Counts } from "./executions/Counts";
import { Filter } from "./executions/Filter";
import { MOST_CHOSEN, Rows } from "./executions/Rows";
import { SavedViews } from "./SavedViews";

const words = en.executions;

export function Executions() {
  useTitle(words.title);
  useChanges();
  const { q = "", batch } = useSearch({ from: "/executions" });
  const navigate = useNavigate();
  const chips = useMemo(() => parse(q), [q]);
  const asked = useMemo(() => query(chips), [chips]);
  const set = (next: readonly Chip[]) => navigate({ to: "/executions", search: next.length ? { q: write(next) } : {} });
  const list = useInfiniteQuery(executionsQuery(asked));
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const fresh = useFresh(asked, list.isSuccess, rows[0]?.id);
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
      <Counts chips={chips} set={set} />
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
  isRead: boolean,
  first: string | undefined,
): { count: number; at: number; isFailing: boolean } {
  const newest = useQuery({
    queryKey: ["executions", "newest", asked],
    queryFn: () => take(client.GET("/api/v1/executions", { params: { query: { ...asked, limit: 100 } } })),
    refetchInterval: every(10_000),
    enabled: isRead,
  });
  const at = newest.data?.items.findIndex((row) => row.id === first) ?? 0; // -1: all of them are new
  const count = at < 0 ? (newest.data?.items.length ?? 0) : at;
  return { count, at: newest.dataUpdatedAt, isFailing: newest.isError };
}
