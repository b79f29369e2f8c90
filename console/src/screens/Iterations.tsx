/** What is in a loop or a parallel, as a list that is read and drawn only where it is seen, however long it is. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { length, number } from "../lib/time";
import { Loading, Refused } from "../parts/Frame";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";

const words = acts.iterations;
const STATUSES = ["failed", "waiting", "running", "backoff", "incident", "completed", "skipped"];

/** The number of the innermost iteration that a context stands in, or its branch. */
export function scopeOf(context: string, container: string): string {
  const parent = container.split(":")[0] ?? "";
  const part = context.split(":").find((one, i) => i > 0 && one.startsWith(`${parent}.`));
  const rest = part?.slice(parent.length + 1) ?? "";
  return /^\d+$/.test(rest) ? words.row(Number(rest)) : rest;
}

/** A scope of a context in words: its node, and the number of the iteration or the name of the branch. */
export function scopeName(scope: string): string {
  const dot = scope.lastIndexOf(".");
  const [node, part] = dot < 0 ? [scope, ""] : [scope.slice(0, dot), scope.slice(dot + 1)];
  return `${node} ${/^\d+$/.test(part) ? words.row(Number(part)) : part}`.trim();
}

export function Iterations(props: {
  execution: string;
  container: string; // its context id
  only?: string; // a node in it
  open: (context: string) => void;
}) {
  const { execution, container, only } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState(""); // empty: whatever became of them
  const list = useInfiniteQuery({
    queryKey: ["execution", execution, "inside", container, status],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      take(
        client.GET("/api/v1/executions/{id}/nodes", {
          params: {
            path: { id: execution },
            query: {
              ...{ parent: container, limit: 100 },
              ...(status ? { status: [status] } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 30_000,
  });
  const rows = useMemo(
    () =>
      (list.data?.pages.flatMap((page) => page.items) ?? []).filter((one) => only === undefined || one.node === only),
    [list.data, only],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => 44,
    overscan: 8,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= rows.length - 20) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, rows.length]);
  if (list.isPending && status === "") return <Loading />;
  if (list.error && rows.length === 0) return <Refused error={list.error} retry={() => void list.refetch()} />;
  if (rows.length === 0 && status === "" && !hasNextPage) return <p className="soft">{words.empty}</p>;
  return (
    <section>
      <h3>
        {words.title} <span className="soft">{words.count(number(rows.length), hasNextPage)}</span>
      </h3>
      <select
        className="of-status"
        aria-label={words.only}
        value={status}
        onChange={(event) => setStatus(event.target.value)}
      >
        <option value="">{words.all}</option>
        {STATUSES.map((one) => (
          <option key={one} value={one}>
            {en.status[one] ?? one}
          </option>
        ))}
      </select>
      {list.isPending && <Loading />}
      {!list.isPending && rows.length === 0 && !hasNextPage && <p className="soft">{words.noneOf}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <div className="scroll inside" ref={scroll} tabIndex={0} role="region" aria-label={words.title}>
        <ul style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => (
            <li key={rows[item.index]!.context_id} style={{ transform: `translateY(${item.start}px)` }}>
              <Row row={rows[item.index]!} container={container} open={props.open} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function Row({
  row,
  container,
  open,
}: {
  row: Schemas["NodeExecution"];
  container: string;
  open: (id: string) => void;
}) {
  return (
    <button type="button" className="iteration" onClick={() => open(row.context_id)}>
      <span className="mono">{scopeOf(row.context_id, container)}</span>
      <bdi>{row.node}</bdi>
      <Status value={row.status} />
      <span className="soft">{typeof row.duration_ms === "number" ? length(row.duration_ms) : ""}</span>
    </button>
  );
}
