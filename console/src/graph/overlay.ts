/** What is drawn on the graph of a definition: differences, where executions rest, what a dry run did. */
import type { Schemas } from "../api/client";
import { graphId } from "./reduce";

type Graph = Schemas["Graph"];
export type Tone = "added" | "removed" | "changed" | "rest";
export interface Mark {
  tone: Tone;
  text: string;
}
export type Marks = Record<string, Mark>;

const PART = /(nodes|branches)\[([^\]]*)\]/g;

/** The id in the graph of the node that a path of the canonical form leads into; null outside of nodes. */
export function nodeOfPath(path: string): string | null {
  const scopes: string[] = [];
  let node: string | null = null;
  let branch = "";
  for (const [, list, id] of path.matchAll(PART)) {
    if (list === "branches") branch = `.${id}`;
    else {
      if (node !== null) scopes.push(node + branch);
      node = id!;
      branch = "";
    }
  }
  return node === null ? null : [node, ...scopes].join(":");
}

/** Both graphs in one: what is gone is drawn beside what came, and what is different is marked. */
export function drawDifferences(
  before: Graph,
  after: Graph,
  differences: readonly Schemas["Difference"][],
  words: Record<string, string>,
): { graph: Graph; marks: Marks; counts: Record<"added" | "removed" | "changed", number> } {
  const marks: Marks = {};
  const mark = (id: string, tone: "added" | "removed" | "changed") => {
    marks[id] ??= { tone, text: words[tone] ?? tone };
  };
  const old = new Set(before.nodes.map((one) => one.id));
  const fresh = new Set(after.nodes.map((one) => one.id));
  for (const one of after.nodes) if (!old.has(one.id)) mark(one.id, "added");
  const gone = before.nodes.filter((one) => !fresh.has(one.id));
  for (const one of gone) mark(one.id, "removed");
  for (const one of differences) {
    const id = nodeOfPath(one.path);
    if (id !== null && (fresh.has(id) || old.has(id))) mark(id, "changed");
  }
  const key = (edge: Graph["edges"][number]) => `${edge.source}>${edge.target}>${edge.port}`;
  const drawn = new Set(after.edges.map(key));
  const known = new Set(before.edges.map(key));
  const cut = before.edges.filter((edge) => !drawn.has(key(edge)));
  const counts = { added: 0, removed: 0, changed: 0 };
  for (const one of Object.values(marks)) counts[one.tone as keyof typeof counts] += 1;
  for (const edge of after.edges) if (!known.has(key(edge))) mark(key(edge), "added");
  for (const edge of cut) mark(key(edge), "removed");
  const graph = {
    ...after,
    version: shapeNumber(before, after),
    nodes: [...after.nodes, ...gone],
    edges: [...after.edges, ...cut],
  };
  return { graph, marks, counts };
}

export function drawResting(nodes: readonly Schemas["RestingNode"][], words: (count: number) => string): Marks {
  const counts: Record<string, number> = {};
  for (const one of nodes) counts[one.id] = (counts[one.id] ?? 0) + one.count;
  return Object.fromEntries(Object.entries(counts).map(([id, n]) => [id, { tone: "rest", text: words(n) }]));
}

/** The graph with the states in which a dry run has left its nodes, and the edges that it took. */
export function drawRun(graph: Graph, run: Schemas["DryRun"]): Graph {
  const runs: Record<string, Record<string, number>> = {};
  const latest: Record<string, string> = {};
  const left: Record<string, number> = {};
  for (const one of run.nodes) {
    const id = graphId(one.context_id);
    runs[id] ??= {};
    runs[id]![one.status] = (runs[id]![one.status] ?? 0) + 1;
    latest[id] = one.status;
    if (one.port) left[`${id}>${one.port}`] = (left[`${id}>${one.port}`] ?? 0) + 1;
  }
  for (const one of run.waiting_on ?? []) latest[graphId(one.context_id.split("/")[0]!)] = "waiting";
  return {
    ...graph,
    nodes: graph.nodes.map((one) => ({ ...one, status: latest[one.id] ?? null, runs: runs[one.id] ?? {} })),
    edges: graph.edges.map((one) => ({ ...one, taken: left[`${one.source}>${one.port}`] ?? 0 })),
  };
}

/** A number that another shape hardly has: places are kept as long as it stays. */
export function shapeNumber(...graphs: readonly Graph[]): number {
  let hash = 7;
  const text = JSON.stringify(graphs.map((graph) => [graph.nodes.map((one) => [one.id, one.label]), graph.edges]));
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return Math.abs(hash);
}
