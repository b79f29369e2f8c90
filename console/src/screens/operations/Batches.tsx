/** Batches: how far each is, stop and continue, and what became of each item. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, type Schemas, take } from "../../api/client";
import { batchesQuery, batchItemsQuery } from "../../api/operations";
import { number } from "../../lib/time";
import { Dialog, Refused, Time } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Confirm, useAct } from "./acts";
import { List, Row, States } from "./List";

type Batch = Schemas["BatchInfo"];
const words = ops.batches;
const LOOKS: Record<string, string> = { watching: "waiting", done: "completed" };
const GOING = ["pending", "running", "watching"];

export function Batches({ may }: { may: (permission: string) => boolean }) {
  const found = useInfiniteQuery(batchesQuery);
  const [open, setOpen] = useState<{ id: string; how: "stop" | "items" } | null>(null);
  const go = useAct((id: string) => take(client.POST("/api/v1/batches/{id}/continue", { params: { path: { id } } })));
  const operates = ["execution:cancel", "approval:decide", "workflow:write", "admin"].some(may);
  const close = () => setOpen(null);
  return (
    <>
      {go.error && <Refused error={go.error} />}
      <List
        found={found}
        label={ops.tabs.batches}
        empty={
          <>
            <p className="big">{words.empty}</p>
            <p className="soft">{words.emptyHint}</p>
          </>
        }
        name={(one) => one.id ?? ""}
        row={(one, now) => (
          <Row
            title={
              <>
                <Status value={LOOKS[one.status] ?? one.status} text={words.states[one.status] ?? one.status} />
                <span>{words.of(words.acts[one.act] ?? one.act, words.items(one.total ?? 0), one.more ?? false)}</span>
              </>
            }
            facts={
              <>
                <Progress batch={one} />
                {one.user && <bdi>{words.by(one.user)}</bdi>}
                <Time at={one.created_at} now={now} />
                {one.reason && <bdi>{one.reason}</bdi>}
              </>
            }
            acts={
              one.id && (
                <>
                  <button type="button" onClick={() => setOpen({ id: one.id ?? "", how: "items" })}>
                    {words.show}
                  </button>
                  {operates && GOING.includes(one.status) && (
                    <button type="button" onClick={() => setOpen({ id: one.id ?? "", how: "stop" })}>
                      {words.stop}
                    </button>
                  )}
                  {operates && ["stopped", "failed"].includes(one.status) && (
                    <button type="button" disabled={go.isPending} onClick={() => go.mutate(one.id ?? "")}>
                      {words.continue}
                    </button>
                  )}
                </>
              )
            }
          />
        )}
      />
      {open?.how === "stop" && (
        <Confirm
          title={words.stopTitle}
          text={words.stopText}
          act={words.stop.replace(" …", "")}
          withReason
          close={close}
          done={close}
          run={(reason) =>
            take(client.POST("/api/v1/batches/{id}/stop", { params: { path: { id: open.id } }, body: { reason } }))
          }
        />
      )}
      {open?.how === "items" && <Items id={open.id} close={close} />}
    </>
  );
}

function Progress({ batch }: { batch: Batch }) {
  const total = Math.max(batch.total ?? 0, 1);
  const ended = (batch.done ?? 0) + (batch.failed ?? 0);
  const counts = { ...batch, failed: batch.failed - batch.skipped };
  const told = (["done", "skipped", "failed", "pending"] as const)
    .filter((name) => counts[name])
    .map((name) => `${number(counts[name])} ${words.counts[name]}`)
    .join(", ");
  return (
    <span className="ops-progress">
      <progress max={total} value={ended} aria-label={told} />
      {told}
    </span>
  );
}

function Items({ id, close }: { id: string; close: () => void }) {
  const [status, setStatus] = useState("");
  const found = useInfiniteQuery(batchItemsQuery(id, status));
  return (
    <Dialog title={words.results} close={close} side>
      <States label={ops.state} value={status} states={words.itemStates} any={ops.any} set={setStatus} />
      <List
        found={found}
        label={words.results}
        empty={<p>{words.noItems}</p>}
        name={(one) => String(one.n)}
        row={(one) => (
          <Row
            title={
              <>
                <Status
                  value={one.skipped ? "skipped" : (LOOKS[one.status] ?? one.status)}
                  text={one.skipped ? words.skipped : (words.itemStates[one.status] ?? "")}
                />
                {one.execution_id ? (
                  <Link to="/executions/$id" params={{ id: one.execution_id }} search={{}} className="mono">
                    {one.target}
                  </Link>
                ) : (
                  <bdi className="mono">{one.target}</bdi>
                )}
              </>
            }
            facts={
              <>
                {one.code && <span className="mono">{one.code}</span>}
                {one.reason && <bdi>{one.reason}</bdi>}
              </>
            }
          />
        )}
      />
    </Dialog>
  );
}
