/** What can be done at one node: answer what it asks, try it again, not wait any longer, go back to it, fork from it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, key, type Schemas, take } from "../../api/client";
import { moment } from "../../lib/time";
import { Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { planWords } from "../../words/plan";

const OVER = new Set(["completed", "failed", "cancelled"]);

export function NodeActs(props: {
  execution: Schemas["Execution"];
  run: Schemas["NodeExecution"];
  permissions: readonly string[];
  retry: () => void;
  rewind: () => void;
  fork: () => void;
}) {
  const { execution, run, permissions } = props;
  const queries = useQueryClient();
  const operates = permissions.includes("execution:cancel");
  const waits = execution.waiting_on.filter((wait) => wait.context_id === run.context_id);
  const asked = waits.find((wait) => wait.for && (wait.kind === "approval" || wait.kind === "form"));
  const isTimed = waits.some((wait) => wait.kind === "timer" || wait.kind === "retry") || run.status === "backoff";
  const isFailed = run.status === "failed" || run.status === "incident";
  const now = useMutation({
    mutationFn: () =>
      take(
        client.POST("/api/v1/executions/{id}/run-now", {
          params: { path: { id: execution.id }, header: key() },
          body: { context_id: run.context_id } as never,
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
  });
  return (
    <>
      {waits.some((wait) => wait.until) && (
        <p className="soft">{planWords.waitsUntil(moment(waits.find((wait) => wait.until)!.until!))}</p>
      )}
      <div className="acts">
        {asked && (
          <Link to="/" search={{ point: asked.for! }} className="button main">
            {asked.kind === "approval" ? en.inbox.decide : en.inbox.answerDots}
          </Link>
        )}
        {operates && isFailed && execution.status !== "completed" && (
          <button type="button" className="main" onClick={props.retry}>
            {en.execution.retry}
          </button>
        )}
        {operates && isTimed && !OVER.has(execution.status) && (
          <button type="button" disabled={now.isPending} onClick={() => now.mutate()}>
            {run.status === "backoff" ? planWords.retryNow : planWords.runNow}
          </button>
        )}
        {operates && run.status !== "scheduled" && (
          <button type="button" onClick={props.rewind}>
            {en.execution.rewind}
          </button>
        )}
        {permissions.includes("execution:start") && run.status !== "scheduled" && (
          <button type="button" className="quiet" onClick={props.fork}>
            {planWords.forkHere}
          </button>
        )}
      </div>
      {now.error && <Refused error={now.error} />}
    </>
  );
}
