/** What starts executions by itself, and what it has received. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, type Schemas, take } from "../../api/client";
import { triggerInputsQuery, triggersQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Dialog, Refused, Time } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { useAct } from "./acts";
import { List, Row, States } from "./List";

type Trigger = Schemas["Trigger"];
const words = ops.triggers;
const LOOKS: Record<string, string> = {
  active: "completed",
  paused: "held",
  error: "failed",
  initialized: "pending",
  started: "completed",
  delivered: "completed",
  rejected: "failed",
  discarded: "cancelled",
  pending: "waiting",
};

export function Triggers({ may }: { may: (permission: string) => boolean }) {
  const found = useInfiniteQuery(triggersQuery);
  const [open, setOpen] = useState<Trigger | null>(null);
  const turn = useAct(({ id, to }: { id: string; to: "pause" | "resume" }) =>
    to === "pause"
      ? take(client.POST("/api/v1/triggers/{id}/pause", { params: { path: { id } }, body: { reason: null } }))
      : take(client.POST("/api/v1/triggers/{id}/resume", { params: { path: { id } }, body: { catch_up: false } })),
  );
  const writes = may("workflow:write");
  return (
    <>
      {turn.error && <Refused error={turn.error} />}
      <List
        found={found}
        label={ops.tabs.triggers}
        empty={<p className="big">{words.empty}</p>}
        name={(one) => one.id}
        row={(one, now) => (
          <Row
            title={
              <>
                <Status value={LOOKS[one.state] ?? one.state} text={words.states[one.state] ?? one.state} />
                <bdi>
                  {one.workflow}/{one.name}
                </bdi>
              </>
            }
            facts={
              <>
                <span>{one.type}</span>
                {one.state === "active" && one.next_at && (
                  <span>{Date.parse(one.next_at) > now ? words.next(age(one.next_at, now)) : words.due}</span>
                )}
                {one.failures ? <span className="wrong">{words.failures(one.failures)}</span> : null}
                {one.reason && <bdi>{one.reason}</bdi>}
              </>
            }
            acts={
              <>
                <button type="button" onClick={() => setOpen(one)}>
                  {words.inputs}
                </button>
                {writes && one.state === "active" && (
                  <button
                    type="button"
                    disabled={turn.isPending}
                    onClick={() => turn.mutate({ id: one.id, to: "pause" })}
                  >
                    {words.pause}
                  </button>
                )}
                {writes && (one.state === "paused" || one.state === "error") && (
                  <button
                    type="button"
                    disabled={turn.isPending}
                    onClick={() => turn.mutate({ id: one.id, to: "resume" })}
                  >
                    {words.resume}
                  </button>
                )}
              </>
            }
          />
        )}
      />
      {open && <Inputs trigger={open} writes={writes} close={() => setOpen(null)} />}
    </>
  );
}

function Inputs({ trigger, writes, close }: { trigger: Trigger; writes: boolean; close: () => void }) {
  const [state, setState] = useState("");
  const found = useInfiniteQuery(triggerInputsQuery(trigger.id, state));
  const act = useAct(({ input, how }: { input: string; how: "replay" | "discard" }) => {
    const one = { params: { path: { id: trigger.id, input } } };
    return how === "replay"
      ? take(client.POST("/api/v1/triggers/{id}/inputs/{input}/replay", one))
      : take(client.POST("/api/v1/triggers/{id}/inputs/{input}/discard", one));
  });
  return (
    <Dialog title={words.inputsOf(`${trigger.workflow}/${trigger.name}`)} close={close} side>
      <States label={ops.state} value={state} states={words.inputStates} any={ops.any} set={setState} />
      {act.error && <Refused error={act.error} />}
      <List
        found={found}
        label={words.inputs}
        empty={<p>{words.noInputs}</p>}
        name={(one) => one.input_id}
        row={(one, now) => (
          <Row
            title={
              <>
                <Status value={LOOKS[one.state] ?? one.state} text={words.inputStates[one.state] ?? ""} />
                {one.execution_id ? (
                  <Link to="/executions/$id" params={{ id: one.execution_id }} search={{}}>
                    <bdi>{one.input_id}</bdi>
                  </Link>
                ) : (
                  <bdi>{one.input_id}</bdi>
                )}
              </>
            }
            facts={
              <>
                <Time at={one.received_at} now={now} />
                {one.reason && <bdi>{one.reason}</bdi>}
              </>
            }
            acts={
              writes &&
              (one.state === "rejected" || one.state === "pending") && (
                <>
                  {one.state === "rejected" && (
                    <button
                      type="button"
                      disabled={act.isPending}
                      onClick={() => act.mutate({ input: one.input_id, how: "replay" })}
                    >
                      {words.replay}
                    </button>
                  )}
                  <button
                    type="button"
                    className="bad"
                    disabled={act.isPending}
                    onClick={() => act.mutate({ input: one.input_id, how: "discard" })}
                  >
                    {words.discard}
                  </button>
                </>
              )
            }
          />
        )}
      />
    </Dialog>
  );
}
