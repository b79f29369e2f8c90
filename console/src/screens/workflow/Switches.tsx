/** Whether a workflow may run: paused, switched off, and what each means for what is under way. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, key, type Schemas, take } from "../../api/client";
import { Dialog, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { workflowWords as words } from "../../words/workflow";
import { restingQuery } from "./queries";
import { openCount } from "./Resting";

type Act = "pause" | "resume" | "activate" | "deactivate";

export function Switches({ workflow }: { workflow: Schemas["WorkflowVersion"] }) {
  const { name, state } = workflow;
  const queries = useQueryClient();
  const resting = useQuery(restingQuery(name)).data;
  const [asking, setAsking] = useState<"" | "pause" | "deactivate">("");
  const [running, setRunning] = useState(false);
  const [reason, setReason] = useState("");
  const turn = useMutation({
    mutationFn: (act: Act) => {
      const params = { path: { name }, header: key() };
      const why = reason ? { reason } : {};
      if (act === "pause")
        return take(client.POST("/api/v1/workflows/{name}/pause", { params, body: { ...why, running } as never }));
      if (act === "deactivate")
        return take(client.POST("/api/v1/workflows/{name}/deactivate", { params, body: why as never }));
      if (act === "activate") return take(client.POST("/api/v1/workflows/{name}/activate", { params, body: {} }));
      return take(client.POST("/api/v1/workflows/{name}/resume", { params, body: {} as never }));
    },
    onSuccess: (done) => {
      if (!done.more) setAsking("");
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["workflow", name] }),
  });
  const close = () => setAsking("");
  const open = resting ? openCount(resting) : 0;
  const many = resting?.more ?? false;
  const rest = (
    <>
      <div className="field">
        <label htmlFor="why">{words.reason}</label>
        <input id="why" value={reason} onChange={(event) => setReason(event.target.value)} maxLength={500} />
      </div>
      {turn.error && <Refused error={turn.error} />}
      {turn.data?.more && <p role="status">{words.moreLeft}</p>}
      <div className="acts">
        <button type="button" className="main" disabled={turn.isPending} onClick={() => turn.mutate(asking as Act)}>
          {asking === "pause" ? words.pauseDo : words.offDo}
        </button>
        <button type="button" onClick={close}>
          {en.cancel}
        </button>
      </div>
    </>
  );
  return (
    <>
      {state === "paused" ? (
        <button type="button" title={words.resumeText} disabled={turn.isPending} onClick={() => turn.mutate("resume")}>
          {en.workflows.resume}
        </button>
      ) : state === "inactive" ? (
        <button type="button" disabled={turn.isPending} onClick={() => turn.mutate("activate")}>
          {words.on}
        </button>
      ) : (
        <>
          <button type="button" onClick={() => setAsking("deactivate")}>
            {words.off}
          </button>
          <button type="button" onClick={() => setAsking("pause")}>
            {en.workflows.pause}
          </button>
        </>
      )}
      {turn.error && !asking && <Refused error={turn.error} />}
      {asking === "pause" && (
        <Dialog title={words.pauseTitle(name)} close={close}>
          <ul className="consequences">
            <li>{words.pauseNew}</li>
            <li>
              {words.pauseUnderWay(open, many)} {open > 0 && (running ? words.stop(open) : words.goOn(open))}
            </li>
            <li>{words.questionsStay}</li>
          </ul>
          {(open > 0 || many) && (
            <div className="field check">
              <input
                id="running"
                type="checkbox"
                checked={running}
                onChange={(event) => setRunning(event.target.checked)}
              />
              <label htmlFor="running">{words.runningToo}</label>
            </div>
          )}
          {rest}
        </Dialog>
      )}
      {asking === "deactivate" && (
        <Dialog title={words.offTitle(name)} close={close}>
          <ul className="consequences">
            <li>{words.offText}</li>
            <li>{words.offUnderWay(open, many)}</li>
          </ul>
          {rest}
        </Dialog>
      )}
    </>
  );
}
