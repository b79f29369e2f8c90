/** One node in detail: where it stands, its input, output, error, attempts and logs, and what can be done there. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { runQuery, sessionQuery } from "../api/queries";
import { graphId } from "../graph/reduce";
import { clock, length, moment, number } from "../lib/time";
import { Data, Dialog, Loading, Refused } from "../parts/Frame";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { nodeOf } from "../words/events";
import { NodeActs } from "./execution/NodeActs";
import { PlanDialog } from "./execution/Plan";
import { Iterations, scopeName } from "./Iterations";

type NodeExecution = Schemas["NodeExecution"];
const words = en.node;

const LOOPS = new Set(["loop", "poll"]);

/**
 * Where to look for what became of a node. Outside of loops its id in the graph is its context id. In a loop there is a context for
 * each iteration: those of the outermost loop are listed, and one of them leads on to what is in it.
 */
function placeOf(graph: Schemas["Graph"], id: string): { context: string } | { loop: string; only: string } {
  if (graphId(id) !== id) return { context: id };
  const known = new Map(graph.nodes.map((one) => [one.id, one]));
  let found: { context: string } | { loop: string; only: string } = { context: id };
  for (let at = known.get(id); at?.parent; at = known.get(at.parent)) {
    const parent = known.get(at.parent);
    if (parent && LOOPS.has(parent.type)) found = { loop: parent.id, only: at.node };
  }
  return found;
}

/** The loops and parallels that something stands in, the outermost first: "each_order #3, setup hardware". */
export function scopesOf(context: string): string {
  return context.split(":").slice(1).map(scopeName).join(", ");
}

export function NodeDrawer(props: {
  execution: Schemas["Execution"];
  graph: Schemas["Graph"];
  id: string;
  open: (id: string) => void;
  rewinding: string | undefined; // the plan that is open
  rewind: (to: string | undefined) => void;
  fork: (from: string) => void;
  close: () => void;
}) {
  const { execution, graph, id, rewinding } = props;
  const [isRetried, setRetried] = useState(false);
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  const shape = graph.nodes.find((one) => one.id === graphId(id));
  const counts = Object.entries(shape?.runs ?? {});
  const runs = counts.reduce((sum, [, count]) => sum + count, 0) > 1 ? counts : []; // of one, the status says it
  const place = placeOf(graph, id);
  const isContainer = graph.nodes.some((one) => one.parent === graphId(id));
  const context = "context" in place ? place.context : "";
  const found = useQuery({ ...runQuery(execution.id, context), enabled: context !== "" });
  const run = found.data?.items[0];
  return (
    <>
      <Dialog title={words.title(shape?.label ?? shape?.node ?? nodeOf(id))} close={props.close} side>
        <p className="ask-facts">
          <Status value={run?.status ?? shape?.status ?? "idle"} /> <span className="soft">{shape?.type}</span>
          {runs.map(([status, count]) => (
            <span className="soft" key={status}>
              {number(count)} {en.status[status] ?? status}
            </span>
          ))}
        </p>
        {"loop" in place && (
          <Iterations execution={execution.id} container={place.loop} only={place.only} open={props.open} />
        )}
        {context !== "" && (
          <>
            {found.isPending && <Loading />}
            {found.error && <Refused error={found.error} retry={() => void found.refetch()} />}
            {found.data && !run && <p className="soft">{words.notReached}</p>}
            {run && (
              <>
                {scopesOf(run.context_id) && <p className="soft">{words.within(scopesOf(run.context_id))}</p>}
                {graphId(id) !== id && (
                  <p>
                    <button type="button" className="quiet" onClick={() => props.open(graphId(id))}>
                      {acts.iterations.up}
                    </button>
                  </p>
                )}
                {isContainer && <Iterations execution={execution.id} container={context} open={props.open} />}
                <Run run={run} />
                <NodeActs
                  execution={execution}
                  run={run}
                  permissions={permissions}
                  retry={() => setRetried(true)}
                  rewind={() => props.rewind(run.context_id)}
                  fork={() => props.fork(run.context_id)}
                />
                {permissions.includes("execution:debug") && !isContainer && (
                  <NodeLogs execution={execution.id} node={run.context_id} />
                )}
                <p className="soft mono context">{run.context_id}</p>
              </>
            )}
          </>
        )}
      </Dialog>
      {/* behind the drawer, so that it opens above it */}
      {isRetried && <PlanDialog id={execution.id} close={() => setRetried(false)} />}
      {rewinding && <PlanDialog id={execution.id} to={rewinding} close={() => props.rewind(undefined)} />}
    </>
  );
}

function NodeLogs({ execution, node }: { execution: string; node: string }) {
  const found = useQuery({
    queryKey: ["execution", execution, "logs", node],
    queryFn: () =>
      take(client.GET("/api/v1/executions/{id}/logs", { params: { path: { id: execution }, query: { node } } })),
  });
  if (!found.data?.items.length) return null;
  return (
    <Data
      label={acts.node.logs}
      value={found.data.items.map((line) => `${clock(line.at)} ${line.level} ${line.text}`).join("\n")}
    />
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
      {run.progress && (
        <p>
          <progress max={run.progress.total ?? 1} value={run.progress.total ? run.progress.done : 0} />{" "}
          <bdi>{run.progress.text}</bdi>
        </p>
      )}
      {run.input !== null && run.input !== undefined && <Data label={en.execution.input} value={run.input} />}
      {run.output !== null && run.output !== undefined && <Data label={en.execution.output} value={run.output} />}
      {(run.attempts.length > 1 || run.attempts.some((one) => one.retry_at)) && (
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
