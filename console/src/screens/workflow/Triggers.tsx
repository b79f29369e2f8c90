/** What starts a workflow by itself: how each trigger stands, when it is due next, and what it has received. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, key, type Schemas, take } from "../../api/client";
import { sessionQuery } from "../../api/queries";
import { moment } from "../../lib/time";
import { Loading, Refused, Time, useNow } from "../../parts/Frame";
import { workflowWords as words } from "../../words/workflow";
import { triggersQuery } from "./queries";

const FEW = 5;

export function Triggers({ name }: { name: string }) {
  const found = useQuery(triggersQuery(name));
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} retry={() => void found.refetch()} />;
  if (found.data.items.length === 0) return <p className="soft">{words.noTriggers}</p>;
  return (
    <ul className="triggers">
      {found.data.items.map((one) => (
        <li key={one.id}>
          <Trigger trigger={one} />
        </li>
      ))}
    </ul>
  );
}

function Trigger({ trigger }: { trigger: Schemas["Trigger"] }) {
  const queries = useQueryClient();
  const now = useNow();
  const { id, type, state } = trigger;
  const mayWrite = useQuery(sessionQuery).data?.permissions.includes("workflow:write");
  const params = { path: { id } };
  const next = useQuery({
    queryKey: ["trigger", id, "next"],
    queryFn: () => take(client.GET("/api/v1/triggers/{id}/next", { params: { ...params, query: { count: FEW } } })),
    enabled: type === "schedule" && state === "active",
  });
  const inputs = useQuery({
    queryKey: ["trigger", id, "inputs"],
    queryFn: () => take(client.GET("/api/v1/triggers/{id}/inputs", { params: { ...params, query: { limit: FEW } } })),
  });
  const turn = useMutation({
    mutationFn: () => {
      const with_ = { params: { ...params, header: key() }, body: {} as never };
      return state === "paused"
        ? take(client.POST("/api/v1/triggers/{id}/resume", with_))
        : take(client.POST("/api/v1/triggers/{id}/pause", with_));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: triggersQuery(trigger.workflow).queryKey }),
  });
  return (
    <>
      <div className="head-line">
        <h2>
          <bdi>{trigger.name}</bdi> <span className="soft">{type}</span>
        </h2>
        {mayWrite && (state === "active" || state === "paused") && (
          <button type="button" onClick={() => turn.mutate()} disabled={turn.isPending}>
            {state === "paused" ? words.resumeTrigger : words.pauseTrigger}
          </button>
        )}
      </div>
      <p>
        <span className={`state-${state === "error" ? "failing" : state}`}>{words.states[state] ?? state}</span>{" "}
        {trigger.reason && <bdi className="soft">{trigger.reason}</bdi>}{" "}
        <span className="soft mono">{described(trigger.definition ?? {})}</span>
      </p>
      {turn.error && <Refused error={turn.error} />}
      {next.data && (
        <>
          <h3>{words.next}</h3>
          {next.data.items.length === 0 ? (
            <p className="soft">{words.noNext}</p>
          ) : (
            <ol className="moments">
              {next.data.items.map((one) => (
                <li key={one.at}>{moment(one.starts_at ?? one.at)}</li>
              ))}
            </ol>
          )}
        </>
      )}
      <h3>{words.inputs}</h3>
      {inputs.error ? (
        <Refused error={inputs.error} />
      ) : inputs.data?.items.length === 0 ? (
        <p className="soft">{words.noInputs}</p>
      ) : (
        <ul className="moments">
          {inputs.data?.items.map((one) => (
            <li key={one.input_id}>
              <Time at={one.received_at} now={now} />{" "}
              {one.execution_id ? (
                <Link to="/executions/$id" params={{ id: one.execution_id }} search={{}}>
                  {words.inputStates[one.state] ?? one.state}
                </Link>
              ) : (
                (words.inputStates[one.state] ?? one.state)
              )}{" "}
              {one.reason && <bdi className="soft">{one.reason}</bdi>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** What a trigger listens to, as its definition says it. */
function described(definition: Record<string, unknown>): string {
  return ["cron", "zone", "every", "at", "signal", "path", "source"]
    .flatMap((name) => (definition[name] === undefined ? [] : [String(definition[name])]))
    .join(" ");
}
