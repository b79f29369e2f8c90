/** Nodes before which executions of a workflow pause, and why. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client, type Schemas, take } from "../../api/client";
import { Refused } from "../../parts/Frame";
import { workflowWords as words } from "../../words/workflow";

export function Breakpoints({ workflow, may }: { workflow: Schemas["WorkflowVersion"]; may: boolean }) {
  const { name, breakpoints } = workflow;
  const queries = useQueryClient();
  const clear = useMutation({
    mutationFn: (node: string) =>
      take(client.DELETE("/api/v1/workflows/{name}/breakpoints", { params: { path: { name }, query: { node } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["workflow", name] }),
  });
  return (
    <>
      {Object.entries(breakpoints ?? {}).map(([node, reason]) => (
        <p className="notice" key={node}>
          {words.breakpoint(node)} {reason && <bdi>{reason}</bdi>}{" "}
          {may && (
            <button
              type="button"
              aria-label={words.clearBreakpoint(node)}
              disabled={clear.isPending}
              onClick={() => clear.mutate(node)}
            >
              {words.clear}
            </button>
          )}
        </p>
      ))}
      {clear.error && <Refused error={clear.error} />}
    </>
  );
}
