/** Acts: done once however often they are sent, read again afterwards, and asked before where they cannot be undone. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { ops } from "../../words/operations";

/** Do something, then read again what the lists of this screen show. */
export function useAct<A, R>(act: (argument: A) => Promise<R>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queries.invalidateQueries({ queryKey: ["ops"] }),
  });
}

export function Confirm(props: {
  title: string;
  text: string;
  act: string;
  withReason?: boolean;
  done: () => void;
  close: () => void;
  run: (reason: string) => Promise<unknown>;
}) {
  const [reason, setReason] = useState("");
  const act = useAct(props.run);
  return (
    <Dialog title={props.title} close={props.close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate(reason, { onSuccess: props.done });
        }}
      >
        <p>{props.text}</p>
        {props.withReason && (
          <div className="field">
            <label htmlFor="ops-reason">{ops.reason}</label>
            <input id="ops-reason" value={reason} maxLength={255} onChange={(event) => setReason(event.target.value)} />
          </div>
        )}
        {act.error && <Refused error={act.error} />}
        <div className="acts">
          <button type="submit" className="main" disabled={act.isPending}>
            {props.act}
          </button>
          <button type="button" onClick={props.close}>
            {en.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
