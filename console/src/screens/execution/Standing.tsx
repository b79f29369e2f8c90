/** How an execution stands, in a word and in a sentence. */
import type { Schemas } from "../../api/client";
import { Status } from "../../parts/Status";
import { en } from "../../words/en";

/** How it ended, if its workflow says so: "refused: too late". */
export function ended(execution: Schemas["Execution"]): string | undefined {
  if (execution.status !== "completed" || !execution.outcome || execution.outcome === "executed") return undefined;
  return execution.outcome_reason ? `${execution.outcome}: ${execution.outcome_reason}` : execution.outcome;
}

/** `paused` is two things: a person is waited for, or an operator has paused it. */
export function Standing({ execution, isHeld }: { execution: Schemas["Execution"]; isHeld: boolean }) {
  if (execution.status !== "paused") return <Status value={execution.status} />;
  const isPerson = execution.waiting_on.some((wait) => wait.kind === "approval" || wait.kind === "form");
  return isPerson && !isHeld ? <Status value="person" /> : <Status value="held" text={en.status.paused!} />;
}
