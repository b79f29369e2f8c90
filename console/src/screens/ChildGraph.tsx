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

const FEW = 3; // stand side by side; more are put into a box, in columns

/** One above, itself, and those below; the number of its shape changes with each that comes. */
export function childGraph(one: Execution, children: readonly Execution[]): Schemas["Graph"] {
  const shown = [...children].reverse().slice(-MOST); // the oldest first, as they came
  const node = (it: Execution, parent: string | null = null) => ({
    id: it.id,
    node: it.workflow,
    label: it.correlation_id || it.id.slice(-8),
    type: it.workflow,
    status: it.status,
    parent,
  });
  const edge = (source: string, target: string, taken = 1) => ({ source, target, port: "done", taken });
  const above = one.parent_id ? [{ id: one.parent_id, label: words.parent, type: "", status: null }] : [];
  const isBoxed = shown.length > FEW;
  const box = `${one.id}/began`;
  const columns = shown.length > 12 ? 4 : 2;
  const graph = {
    workflow: one.id,
    version: 0,
    nodes: [
      ...above,
      node(one),
      ...(isBoxed ? [{ id: box, node: "", label: words.began(shown.length), type: "", status: null }] : []),
      ...shown.map((it) => node(it, isBoxed ? box : null)),
    ],
    edges: [
      ...above.map((it) => edge(it.id, one.id)),
      ...(isBoxed ? [edge(one.id, box)] : shown.map((it) => edge(one.id, it.id))),
      // Not drawn: they only keep those of a column below each other.
      ...(isBoxed ? shown.slice(columns).map((it, i) => edge(shown[i]!.id, it.id, 0)) : []),
    ],
  } as unknown as Schemas["Graph"];
  return { ...graph, version: shapeNumber(graph) };
}

export function ChildGraph({ execution, executions }: { execution: Execution; executions: readonly Execution[] }) {
  const navigate = useNavigate();
  const graph = useMemo(() => childGraph(execution, executions), [execution, executions]);
  const canvas = useRef<HTMLDivElement>(null);
  const open = (id: string) => {
    if (id !== execution.id && !id.includes("/"))
      void navigate({ to: "/executions/$id", params: { id }, search: { tab: "children" } });
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
    <section
      className="canvas child-canvas"
      aria-label={words.children}
      ref={canvas}
      data-many={executions.length > FEW || undefined}
    >
      <Graph graph={graph} open={open} plain />
    </section>
  );
}
