/**
 * What a function does while it runs is in no definition: what it records, asks and sleeps is put into its node as it comes,
 * one step below the other, so that the graph grows.
 */
import type { Schemas } from "../api/client";
import { shapeNumber } from "./overlay";
import { graphId } from "./reduce";

type Graph = Schemas["Graph"];
type GraphNode = Graph["nodes"][number];
type Event = Schemas["Event"];

interface Step {
  key: string;
  label: string;
  type: string;
  status: string;
}
interface Steps {
  context: string; // of the round that is shown: the latest
  steps: Map<string, Step>;
}

export const MOST_STEPS = 30; // drawn in one node, the newest; the timeline has all of them
const MARK = "/";
const ASKS = new Set(["approval", "form"]);
const ENDED: Record<string, string> = { PausePointExpired: "expired", PausePointCancelled: "cancelled" };
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The node that something in the graph belongs to: a step of a function leads to the function. */
export function nodeOfStep(id: string): string {
  return id.split(MARK)[0] ?? id;
}

/** Steps of functions by the id of their node in the graph. */
export function stepsOf(events: readonly Event[]): Map<string, Steps> {
  const found = new Map<string, Steps>();
  const points = new Map<string, Step>();
  const at = (context: string): Map<string, Step> => {
    const id = graphId(context);
    const known = found.get(id);
    if (known?.context === context) return known.steps;
    const steps = new Map<string, Step>();
    found.set(id, { context, steps });
    return steps;
  };
  for (const event of events) {
    const { context_id: context, data } = event;
    const key = text(data.key);
    const ended = ENDED[event.type];
    if (ended) {
      const step = points.get(text(data.point));
      if (step?.status === "waiting") step.status = ended;
    }
    if (!context) continue;
    if (event.type === "NodeScheduled" && data.cause === "reached") found.delete(graphId(context)); // it begins anew
    if (event.type === "NodeRecorded" && key) {
      const steps = at(context);
      const step = steps.get(key);
      if (step) step.status = "completed";
      else steps.set(key, { key, label: key, type: "once", status: "completed" });
    }
    if (event.type === "PausePointOpened" && key) {
      const title = text((data.details as { title?: unknown } | undefined)?.title);
      const step = { key, label: title || key, type: text(data.kind), status: "waiting" };
      at(context).set(key, step);
      points.set(text(data.point), step);
    }
  }
  return found;
}

/** The graph with the steps of functions inside their nodes; the same graph if there are none. */
export function grow(graph: Graph, events: readonly Event[], words: Record<string, string>): Graph {
  const all = stepsOf(events);
  const nodes: GraphNode[] = [];
  const edges = [...graph.edges];
  for (const one of graph.nodes) {
    nodes.push(one);
    const steps = [...(all.get(one.id)?.steps.values() ?? [])];
    if (steps.length === 0 || !one.status || one.status === "idle") continue;
    let before = "";
    for (const step of steps.slice(-MOST_STEPS)) {
      const id = `${one.id}${MARK}${step.key}`;
      nodes.push({
        ...{
          id,
          node: step.key,
          label: step.label,
          type: ASKS.has(step.type) ? step.type : (words[step.type] ?? step.type),
        },
        ...{ parent: one.id, branch: null, status: step.status, runs: {} },
      } as unknown as GraphNode);
      if (before) edges.push({ source: before, target: id, port: "done", taken: 1 } as Graph["edges"][number]);
      before = id;
    }
  }
  if (nodes.length === graph.nodes.length) return graph;
  const grown = { ...graph, nodes, edges };
  return { ...grown, version: shapeNumber(grown) };
}
