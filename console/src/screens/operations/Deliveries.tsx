/** What was sent, what is yet to be, and what was given up: the dead letters. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { client, key, type Schemas, take } from "../../api/client";
import { deliveriesQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Refused, Time } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Attempts } from "./Attempts";
import { Confirm, useAct } from "./acts";
import { List, Row, States } from "./List";

type Delivery = Schemas["Delivery"];
const words = ops.deliveries;
const LOOKS: Record<string, string> = {
  pending: "waiting",
  sent: "completed",
  dead: "failed",
  moot: "cancelled",
  discarded: "cancelled",
};
const one = (id: string) => ({ params: { path: { id }, header: key() } });

export function Deliveries({ may }: { may: (permission: string) => boolean }) {
  const { state = "" } = useSearch({ from: "/operations" });
  const navigate = useNavigate();
  const found = useInfiniteQuery(deliveriesQuery(state));
  const [asking, setAsking] = useState("");
  const [reading, setReading] = useState("");
  const again = useAct((id: string) => take(client.POST("/api/v1/deliveries/{id}/redeliver", one(id))));
  const all = useAct(() =>
    take(
      client.POST("/api/v1/deliveries/redeliver", {
        body: { where: { state: "dead", limit: 1_000, destination: null, execution_id: null, cursor: null } },
      }),
    ),
  );
  const close = () => setAsking("");
  const operates = may("execution:cancel");
  return (
    <>
      <div className="head-line ops-head">
        <States
          label={ops.state}
          value={state}
          states={words.states}
          any={ops.any}
          set={(next) =>
            void navigate({ to: "/operations", search: { tab: "deliveries", ...(next ? { state: next } : {}) } })
          }
        />
        {operates && state === "dead" && (found.data?.pages[0]?.items.length ?? 0) > 0 && (
          <button type="button" onClick={() => setAsking("all")}>
            {words.redeliverAll}
          </button>
        )}
      </div>
      {again.error && <Refused error={again.error} />}
      {all.data && (
        <p className="notice" role="status">
          {words.redelivered(all.data.count)}
        </p>
      )}
      <List
        found={found}
        label={ops.tabs.deliveries}
        empty={<p className="big">{state ? words.emptyState : words.empty}</p>}
        name={(delivery) => delivery.id}
        row={(delivery, now) => (
          <Row
            title={
              <>
                <Status value={LOOKS[delivery.state] ?? "pending"} text={words.states[delivery.state] ?? ""} />
                <bdi>{delivery.destination}</bdi>
              </>
            }
            facts={<Facts delivery={delivery} now={now} />}
            acts={
              <>
                <button type="button" onClick={() => setReading(delivery.id)}>
                  {words.attemptsList}
                </button>
                {operates && delivery.state !== "pending" && (
                  <button type="button" disabled={again.isPending} onClick={() => again.mutate(delivery.id)}>
                    {words.redeliver}
                  </button>
                )}
                {operates && (delivery.state === "pending" || delivery.state === "dead") && (
                  <button type="button" className="bad" onClick={() => setAsking(delivery.id)}>
                    {words.discard}
                  </button>
                )}
              </>
            }
          />
        )}
      />
      {reading && <Attempts id={reading} close={() => setReading("")} />}
      {asking === "all" && (
        <Confirm
          title={words.redeliverTitle}
          text={words.redeliverText}
          act={words.redeliver}
          close={close}
          done={close}
          run={() => all.mutateAsync(undefined)}
        />
      )}
      {asking && asking !== "all" && (
        <Confirm
          title={words.discardTitle}
          text={words.discardText}
          act={words.discard.replace(" …", "")}
          close={close}
          done={close}
          run={() => take(client.POST("/api/v1/deliveries/{id}/discard", one(asking)))}
        />
      )}
    </>
  );
}

function Facts({ delivery, now }: { delivery: Delivery; now: number }) {
  const attempts = delivery.attempts ?? [];
  const last = attempts.at(-1);
  return (
    <>
      <span>{delivery.kind}</span>
      {delivery.user && <bdi>{words.to(delivery.user)}</bdi>}
      {delivery.execution_id && (
        <Link to="/executions/$id" params={{ id: delivery.execution_id }} search={{}}>
          <bdi>{delivery.workflow ?? ops.execution}</bdi>
        </Link>
      )}
      <Time at={delivery.created_at} now={now} />
      {attempts.length > 0 && <span>{words.attempts(attempts.length)}</span>}
      {delivery.state === "pending" && delivery.due_at && Date.parse(delivery.due_at) > now && (
        <span>{words.next(age(delivery.due_at, now))}</span>
      )}
      {(delivery.reason || last?.error) && <bdi className="wrong">{delivery.reason || last?.error}</bdi>}
    </>
  );
}
