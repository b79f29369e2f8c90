/** The executions that one has begun, as a graph that grows: what was not known beforehand is drawn as it comes. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import type { Schemas } from "../api/client";
import { Graph } from "../graph/Graph";
import { shapeNumber } from "../graph/overlay";
import { workflowWords as words } from "../words/workflow";
import "./workflow/workflow.css";

type Execution = Pick<Schemas["Execution"], "id" | "workflow" | "status" | "correlation_id" | "parent_id">;
const MOST = 100; // drawn; a list has the others

/** One above, itself, and those below; the number of its shape changes with each that comes. */
export function childGraph(one: Execution, children: readonly Execution[]): Schemas["Graph"] {
  const shown = [...children].reverse().slice(-MOST); // the oldest first, as they came
  const node = (it: Execution) => ({
    id: it.id,
    label: it.correlation_id || it.workflow,
    type: it.workflow,
    status: it.status,
  });
  const above = one.parent_id ? [{ id: one.parent_id, label: words.parent, type: "", status: null }] : [];
  const graph = {
    workflow: one.id,
    version: 0,
    nodes: [...above, node(one), ...shown.map(node)],
    edges: [
      ...above.map((it) => ({ source: it.id, target: one.id, port: "done", taken: 1 })),
      ...shown.map((it) => ({ source: one.id, target: it.id, port: "done", taken: 1 })),
    ],
  } as unknown as Schemas["Graph"];
  return { ...graph, version: shapeNumber(graph) };
}

export function ChildGraph({ execution, executions }: { execution: Execution; executions: readonly Execution[] }) {
  const navigate = useNavigate();
  const graph = useMemo(() => childGraph(execution, executions), [execution, executions]);
  const canvas = useRef<HTMLDivElement>(null);
  const open = (id: string) => {
    if (id !== execution.id) void navigate({ to: "/executions/$id", params: { id }, search: { tab: "children" } });
  };
  const opening = useRef(open);
  opening.current = open;
  useEffect(() => {
    // React Flow selects a node by Enter; here that opens it.
    const onKey = (event: KeyboardEvent) => {
      const at = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>(".react-flow__node") : null;
      if (event.key === "Enter" && at?.dataset.id) opening.current(at.dataset.id);
    };
    const element = canvas.current!;
    element.addEventListener("keydown", onKey);
    return () => element.removeEventListener("keydown", onKey);
  }, []);
  return (
    <section className="canvas child-canvas" aria-label={words.children} ref={canvas}>
      <Graph graph={graph} open={open} plain />
    </section>
  );
}
