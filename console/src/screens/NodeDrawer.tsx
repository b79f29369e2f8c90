/** One node in detail, and what a retry or a rewind would do before it is done. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, key, type Schemas, take } from "../api/client";
import { nodesQuery, sessionQuery } from "../api/queries";
import { graphId } from "../graph/reduce";
import { length, moment } from "../lib/time";
import { Data, Dialog, Loading, Refused } from "../parts/Frame";
import { Status } from "../parts/Status";
import { en } from "../words/en";
import { nodeOf } from "../words/events";

type NodeExecution = Schemas["NodeExecution"];
const words = en.node;

export function NodeDrawer(props: {
  execution: Schemas["Execution"];
  graph: Schemas["Graph"];
  id: string;
  close: () => void;
}) {
  const { execution, id } = props;
  const nodes = useQuery(nodesQuery(execution.id));
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  const [rewinding, setRewinding] = useState("");
  const node = props.graph.nodes.find((one) => one.id === id);
  const runs = nodes.data?.items.filter((one) => graphId(one.context_id) === id) ?? [];
  const newest = runs.slice(-20).reverse();
  return (
    <Dialog title={words.title(node?.label ?? node?.node ?? nodeOf(id))} close={props.close} side>
      <p className="ask-facts">
        <Status value={node?.status ?? "idle"} /> <span className="soft">{node?.type}</span>
      </p>
      {nodes.isPending && <Loading />}
      {nodes.error && <Refused error={nodes.error} retry={() => void nodes.refetch()} />}
      {nodes.data && runs.length === 0 && <p className="soft">{words.notReached}</p>}
      {newest.map((run, i) => (
        <details key={run.context_id} open={i === 0} className="run">
          <summary>
            <Status value={run.status} /> <span className="mono">{run.context_id}</span>
          </summary>
          <Run run={run} />
          {permissions.includes("execution:cancel") && run.status !== "scheduled" && (
            <button type="button" onClick={() => setRewinding(run.context_id)}>
              {en.execution.rewind}
            </button>
          )}
        </details>
      ))}
      {rewinding && <PlanDialog id={execution.id} to={rewinding} close={() => setRewinding("")} />}
    </Dialog>
  );
}

function Run({ run }: { run: NodeExecution }) {
  return (
    <>
      {run.started_at && (
        <p className="soft">
          {moment(run.started_at)}{" "}
          {run.duration_ms !== null && run.duration_ms !== undefined && `· ${words.took(length(run.duration_ms))}`}
        </p>
      )}
      {run.error && (
        <div className="notice bad">
          <p>
            <bdi>{run.error.message}</bdi>
          </p>
          <p className="soft mono">{run.error.code}</p>
          {run.error.traceback && <Data label={words.traceback} value={run.error.traceback} />}
        </div>
      )}
      {run.input !== null && run.input !== undefined && <Data label={en.execution.input} value={run.input} />}
      {run.output !== null && run.output !== undefined && <Data label={en.execution.output} value={run.output} />}
      {run.attempts.length > 1 && (
        <section>
          <h3>{words.attempts}</h3>
          {run.attempts.map((one) => (
            <p key={one.attempt}>
              {words.attempt(one.attempt)} <span className="soft">{moment(one.started_at ?? one.scheduled_at)}</span>{" "}
              {one.error && <bdi>{one.error.message}</bdi>} {one.retry_at && words.retryAt(moment(one.retry_at))}
            </p>
          ))}
        </section>
      )}
    </>
  );
}

/** What would be repeated, dropped and closed; only then it can be applied. */
export function PlanDialog({ id, to, close }: { id: string; to?: string; close: () => void }) {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const plan = useQuery({
    queryKey: ["execution", id, "plan", to ?? ""],
    queryFn: () =>
      to
        ? take(client.GET("/api/v1/executions/{id}/rewind", { params: { path: { id }, query: { to } } }))
        : take(client.GET("/api/v1/executions/{id}/retry", { params: { path: { id } } })),
    staleTime: 0,
  });
  const apply = useMutation({
    mutationFn: () => {
      const params = { path: { id }, header: key() };
      return to
        ? take(
            client.POST("/api/v1/executions/{id}/rewind", {
              params,
              body: { to, ...(reason ? { reason } : {}) } as never,
            }),
          )
        : take(client.POST("/api/v1/executions/{id}/retry", { params, body: {} as never } as never));
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["execution", id] });
      close();
    },
  });
  const rows = plan.data
    ? ([
        [en.plan.calls, plan.data.calls],
        [en.plan.repeated, plan.data.repeated],
        [en.plan.dropped, plan.data.dropped],
        [en.plan.superseded, plan.data.superseded],
      ] as const)
    : [];
  return (
    <Dialog title={to ? en.plan.rewind(nodeOf(to)) : en.plan.retry} close={close}>
      {plan.isPending && <Loading />}
      {plan.error && <Refused error={plan.error} retry={() => void plan.refetch()} />}
      <dl className="pairs">
        {rows.map(([name, ids]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{ids.length ? ids.map(nodeOf).join(", ") : en.plan.nothing}</dd>
          </div>
        ))}
      </dl>
      {to && (
        <div className="field">
          <label htmlFor="why">{en.execution.reason}</label>
          <input id="why" value={reason} onChange={(e) => setReason(e.target.value)} />
        </div>
      )}
      {apply.error && <Refused error={apply.error} />}
      <div className="acts">
        <button type="button" className="main" disabled={!plan.data || apply.isPending} onClick={() => apply.mutate()}>
          {en.plan.apply}
        </button>
        <button type="button" onClick={close}>
          {en.cancel}
        </button>
      </div>
    </Dialog>
  );
}
