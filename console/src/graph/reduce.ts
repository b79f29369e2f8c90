/** An event of the stream, put into what the page already has: nothing is asked for again because of one event. */
import type { Schemas } from "../api/client";

type Graph = Schemas["Graph"];
type Execution = Schemas["Execution"];
type Event = Schemas["Event"];

/** The id in the graph of a context: all rounds of a loop are one node there; branches keep their names. */
export function graphId(context: string): string {
  return context
    .split(":")
    .map((part, i) => (i === 0 ? part : part.replace(/\.\d+$/, "")))
    .join(":");
}

const NODE_STATUS: Record<string, (event: Event) => string> = {
  NodeScheduled: (event) => (event.data.queued ? "queued" : "scheduled"),
  NodeStarted: () => "running",
  NodeCompleted: () => "completed",
  NodeFailed: (event) => (event.data.retry_at ? "backoff" : event.data.incident ? "incident" : "failed"),
  NodeInDoubt: () => "incident",
  NodeUndoFailed: (event) => (event.data.retry_at ? "backoff" : "incident"),
  PausePointOpened: () => "waiting",
  ScopeOpened: () => "entered",
};

/** The graph after an event; the same object if the event says nothing about it. */
export function reduceGraph(graph: Graph, event: Event): Graph {
  const status = NODE_STATUS[event.type]?.(event);
  if (status === undefined || !event.context_id) return graph;
  const id = graphId(event.context_id);
  const at = graph.nodes.findIndex((one) => one.id === id);
  if (at < 0) return graph;
  const nodes = [...graph.nodes];
  nodes[at] = { ...graph.nodes[at]!, status };
  if (event.type !== "NodeCompleted") return { ...graph, nodes };
  const port = typeof event.data.port === "string" ? event.data.port : "done";
  const edges = graph.edges.map((edge) =>
    edge.source === id && edge.port === port ? { ...edge, taken: edge.taken + 1 } : edge,
  );
  return { ...graph, nodes, edges };
}

const STATUS: Record<string, Execution["status"]> = {
  ExecutionStarted: "running",
  ExecutionPausing: "pausing",
  ExecutionPaused: "paused",
  ExecutionResumed: "running",
  ExecutionReopened: "running",
  ExecutionCompleted: "completed",
  ExecutionFailed: "failed",
  ExecutionCancelled: "cancelled",
};

export function reduceExecution(execution: Execution, event: Event): Execution {
  if (event.seq <= execution.last_seq) return execution;
  const status = STATUS[event.type] ?? execution.status;
  const output = event.type === "ExecutionCompleted" ? event.data.output : execution.output;
  return { ...execution, status, output: output as Execution["output"], last_seq: event.seq };
}

/** Events in their order, each once: after a loss a stream may say some of them again. */
export function append(events: readonly Event[], more: readonly Event[]): Event[] {
  const last = events.at(-1)?.seq ?? -1;
  return [...events, ...more.filter((one) => one.seq > last)];
}
