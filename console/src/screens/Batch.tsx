/** One act on many executions, as a batch of the server: counted first, then followed, with a result for each. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, key, type Schemas, take } from "../api/client";
import { type Chip, filterOf } from "../lib/filter";
import { number } from "../lib/time";
import { useCanary } from "../parts/Canary";
import { Dialog, Loading, Refused } from "../parts/Frame";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";

export type BatchAct = "pause" | "resume" | "retry" | "cancel";
const words = acts.batch;

export function BatchStart(props: {
  act: BatchAct;
  ids: readonly string[];
  chips: readonly Chip[];
  close: () => void;
  begun: (id: string) => void;
}) {
  const { act, ids } = props;
  const whole = props.chips.length > 0 ? filterOf(props.chips) : null;
  const [isWhole, setWhole] = useState(false);
  const [reason, setReason] = useState("");
  const [canary, canaryFields] = useCanary();
  const where = isWhole && whole ? whole : { ids: [...ids] };
  const body = {
    ...{ act, where },
    ...(reason.trim() ? { with: { reason: reason.trim() } } : {}),
    ...(canary ? { canary } : {}),
  };
  const plan = useQuery({
    queryKey: ["batches", "plan", act, where],
    queryFn: () => take(client.POST("/api/v1/batches", { body: { act, where, dry_run: true } as never })),
    staleTime: 0,
  });
  const begin = useMutation({
    mutationFn: () => take(client.POST("/api/v1/batches", { params: { header: key() }, body: body as never })),
    onSuccess: (made) => made.id && props.begun(made.id),
  });
  return (
    <Dialog title={words.titles[act]!} close={props.close}>
      {whole && (
        <div className="field" role="radiogroup" aria-label={words.titles[act]}>
          <label className="choice">
            <input type="radio" checked={!isWhole} onChange={() => setWhole(false)} /> {words.these(ids.length)}
          </label>
          <label className="choice">
            <input type="radio" checked={isWhole} onChange={() => setWhole(true)} /> {words.all}
          </label>
        </div>
      )}
      {plan.error ? (
        <Refused error={plan.error} retry={() => void plan.refetch()} />
      ) : (
        <p role="status">
          {plan.data ? words.fits(plan.data.total, number(plan.data.total), plan.data.more) : words.counting}
        </p>
      )}
      {act === "cancel" && <p>{words.irrevocable}</p>}
      <div className="field">
        <label htmlFor="batch-reason">{en.execution.reason}</label>
        <input id="batch-reason" data-first value={reason} onChange={(e) => setReason(e.target.value)} />
      </div>
      {(plan.data?.total ?? 0) > 1 && canaryFields}
      {begin.error && <Refused error={begin.error} />}
      <div className="acts">
        <button
          type="button"
          className={act === "cancel" ? "bad" : "main"}
          disabled={!plan.data || plan.data.total === 0 || begin.isPending}
          onClick={() => begin.mutate()}
        >
          {words.acts[act]}
        </button>
        <button type="button" onClick={props.close}>
          {en.close}
        </button>
      </div>
    </Dialog>
  );
}

const OVER = new Set(["completed", "stopped", "failed"]);

export function BatchProgress({ id, close }: { id: string; close: () => void }) {
  const queries = useQueryClient();
  const path = { params: { path: { id } } };
  const found = useQuery({
    queryKey: ["batches", id],
    queryFn: () => take(client.GET("/api/v1/batches/{id}", path)),
    refetchInterval: (query) => (query.state.data && OVER.has(query.state.data.status) ? false : 1_000),
  });
  const stop = useMutation({
    mutationFn: () => take(client.POST("/api/v1/batches/{id}/stop", { ...path, body: {} as never })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["batches", id] }),
  });
  const batch = found.data;
  const through = batch ? batch.done + batch.failed : 0;
  const isOver = batch !== undefined && OVER.has(batch.status);
  return (
    <Dialog
      title={words.titles[batch?.act ?? ""] ?? batch?.act ?? ""}
      close={() => {
        void queries.invalidateQueries({ queryKey: ["executions"] });
        close();
      }}
      wide
    >
      {found.isPending && <Loading />}
      {found.error && <Refused error={found.error} retry={() => void found.refetch()} />}
      {batch && (
        <>
          <p role="status">
            <strong>{words.state[batch.status] ?? batch.status}</strong>
            {": "}
            {words.counts(number(batch.done), number(batch.skipped), number(batch.failed - batch.skipped))}
          </p>
          <progress max={Math.max(1, batch.total)} value={through} aria-label={words.titles[batch.act]} />
          {batch.reason && (
            <p className="soft">
              <bdi>{batch.reason}</bdi>
            </p>
          )}
          {!isOver && (
            <button type="button" onClick={() => stop.mutate()} disabled={stop.isPending}>
              {words.stop}
            </button>
          )}
          {stop.error && <Refused error={stop.error} />}
          <Results id={id} key={isOver ? "over" : Math.floor(through / 100)} />
        </>
      )}
    </Dialog>
  );
}

const ITEM_GLYPH: Record<ReturnType<typeof became>, string> = {
  pending: "pending",
  done: "completed",
  skipped: "skipped",
  failed: "failed",
};

/** What became of an item: `skipped` if it failed only since the act did not fit it any more. */
const became = (item: Schemas["BatchItem"]) => (item.skipped ? "skipped" : item.status);

/** What went wrong comes first; then all in their order. */
function Results({ id }: { id: string }) {
  const bad = useQuery({
    queryKey: ["batches", id, "failed"],
    queryFn: () => take(client.GET("/api/v1/batches/{id}/items", of(id, { status: "failed" }))),
    staleTime: 0,
  });
  const all = useInfiniteQuery({
    queryKey: ["batches", id, "items"],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      take(client.GET("/api/v1/batches/{id}/items", of(id, pageParam ? { cursor: pageParam } : {}))),
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 0,
  });
  const failed = bad.data?.items ?? [];
  const known = new Set(failed.map((one) => one.n));
  const items = [
    ...failed,
    ...(all.data?.pages.flatMap((page) => page.items) ?? []).filter((one) => !known.has(one.n)),
  ];
  if (all.error) return <Refused error={all.error} />;
  return (
    <section>
      <h3>{words.results}</h3>
      <ul className="plain results">
        {items.map((item) => (
          <li key={item.n}>
            <Status value={ITEM_GLYPH[became(item)]} text={words.items[became(item)]!} />
            <Link to="/executions/$id" params={{ id: item.execution_id ?? item.target }} search={{}} className="mono">
              {item.target.slice(-8)}
            </Link>
            <bdi className="soft">{item.reason}</bdi>
          </li>
        ))}
      </ul>
      {all.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void all.fetchNextPage()}>
          {en.more}
        </button>
      )}
    </section>
  );
}

function of(id: string, query: { status?: "failed"; cursor?: string }) {
  return { params: { path: { id }, query: { ...query, limit: 100 } } };
}
