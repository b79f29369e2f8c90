/** What an operator does with an execution: what its state asks for comes first. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, key, type Schemas, take } from "../../api/client";
import { useKeys } from "../../lib/keys";
import { Dialog, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { planWords } from "../../words/plan";
import { PlanDialog } from "./Plan";

const words = en.execution;

export function Acts(props: {
  execution: Schemas["Execution"];
  isHeld: boolean;
  permissions: readonly string[];
  fork: () => void;
}) {
  const { execution, isHeld } = props;
  const operates = props.permissions.includes("execution:cancel");
  const queries = useQueryClient();
  const [asking, setAsking] = useState<"" | "cancel" | "retry">("");
  const [reason, setReason] = useState("");
  const isOver = ["completed", "failed", "cancelled"].includes(execution.status);
  const act = useMutation({
    mutationFn: (what: "pause" | "resume" | "cancel") => {
      const params = { path: { id: execution.id }, header: key() };
      const body = (what === "cancel" && reason ? { reason } : {}) as never;
      if (what === "pause") return take(client.POST("/api/v1/executions/{id}/pause", { params, body }));
      if (what === "resume") return take(client.POST("/api/v1/executions/{id}/resume", { params, body }));
      return take(client.POST("/api/v1/executions/{id}/cancel", { params, body }));
    },
    onSuccess: () => setAsking(""),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
  });
  useKeys({ p: () => operates && !isOver && act.mutate(isHeld ? "resume" : "pause") });
  return (
    <div className="acts">
      {execution.status === "failed" && operates && (
        <button type="button" className="main" onClick={() => setAsking("retry")}>
          {words.retry}
        </button>
      )}
      {!isOver && operates && (
        <>
          <button
            type="button"
            className={isHeld ? "main" : ""}
            onClick={() => act.mutate(isHeld ? "resume" : "pause")}
            disabled={act.isPending}
          >
            {isHeld ? words.resume : words.pause}
          </button>
          <button type="button" onClick={() => setAsking("cancel")}>
            {words.cancel}
          </button>
        </>
      )}
      {props.permissions.includes("execution:start") && (
        <button type="button" className="quiet" onClick={props.fork}>
          {planWords.forkOpen}
        </button>
      )}
      {act.error && !asking && <Refused error={act.error} />}
      {asking === "retry" && <PlanDialog id={execution.id} close={() => setAsking("")} />}
      {asking === "cancel" && (
        <Dialog title={words.cancelTitle} close={() => setAsking("")}>
          <p>{words.cancelText}</p>
          <div className="field">
            <label htmlFor="reason">{words.reason}</label>
            <input id="reason" value={reason} onChange={(e) => setReason(e.target.value)} />
          </div>
          {act.error && <Refused error={act.error} />}
          <div className="acts">
            <button type="button" className="bad" onClick={() => act.mutate("cancel")}>
              {words.cancel.replace(" …", "")}
            </button>
            <button type="button" onClick={() => setAsking("")}>
              {en.close}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
