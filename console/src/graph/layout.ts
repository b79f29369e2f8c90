/** From the graph of the API to places: the inside of every container first, and then it is one box. */
import { type Box, edgeKey, layered, type Point } from "./layered";

export { edgeKey };

export interface GraphNode {
  id: string;
  node: string;
  type: string;
  label?: string | null;
  parent?: string | null;
  branch?: string | null;
}
export interface GraphEdge {
  source: string;
  target: string;
  port: string;
}
export interface Place {
  id: string;
  parent: string | null;
  kind: "node" | "container" | "branch";
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
}

export interface Layout {
  places: Place[];
  bends: Record<string, Point[]>; // of an edge, by `edgeKey`, as seen from what both ends stand in
}

export const NODE = { width: 196, height: 52 };
const HEAD = 40; // of a container, for its name
const PAD = 18;
const LANE = 26;

export function layout(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Layout {
  const inside = new Map<string, GraphNode[]>();
  const key = (parent: string | null | undefined, branch: string | null | undefined) =>
    `${parent ?? ""}\n${branch ?? ""}`;
  const lanes = new Map<string, Set<string>>();
  for (const one of nodes) {
    const k = key(one.parent, one.branch);
    const list = inside.get(k);
    if (list) list.push(one);
    else inside.set(k, [one]);
    if (one.parent) {
      const set = lanes.get(one.parent) ?? new Set<string>();
      set.add(one.branch ?? "");
      lanes.set(one.parent, set);
    }
  }
  const home = new Map(nodes.map((one) => [one.id, key(one.parent, one.branch)]));
  const within = new Map<string, [string, string][]>();
  for (const edge of edges) {
    const k = home.get(edge.source);
    if (k === undefined || k !== home.get(edge.target)) continue;
    const list = within.get(k);
    if (list) list.push([edge.source, edge.target]);
    else within.set(k, [[edge.source, edge.target]]);
  }
  const places: Place[] = [];
  const bends: Record<string, Point[]> = {};
  const flat = (parent: string | null, branch: string | null, owner: string | null, dx: number, dy: number) => {
    const k = key(parent, branch);
    const boxes: Box[] = (inside.get(k) ?? []).map((one) => ({
      id: one.id,
      ...(lanes.has(one.id) ? container(one) : NODE),
    }));
    const laid = layered(boxes, within.get(k) ?? []);
    for (const [key, points] of laid.bends) bends[key] = points.map((one) => ({ x: one.x + dx, y: one.y + dy }));
    const names = new Map((inside.get(k) ?? []).map((one) => [one.id, one]));
    for (const one of laid.placed) {
      const node = names.get(one.id)!;
      places.push({
        id: one.id,
        parent: owner,
        kind: lanes.has(one.id) ? "container" : "node",
        x: one.x + dx,
        y: one.y + dy,
        width: one.width,
        height: one.height,
        label: node.label ?? node.node,
      });
    }
    return laid;
  };
  const container = (one: GraphNode): { width: number; height: number } => {
    const branches = [...lanes.get(one.id)!];
    if (branches.length === 1 && branches[0] === "") {
      const laid = flat(one.id, null, one.id, PAD, HEAD + 4);
      return { width: Math.max(laid.width + 2 * PAD, 220), height: laid.height + HEAD + PAD + 4 };
    }
    let x = PAD,
      tall = 0;
    const at: Place[] = [];
    for (const branch of branches) {
      const id = `${one.id}\u0000${branch}`;
      const laid = flat(one.id, branch, id, PAD - 6, LANE + 8);
      const width = laid.width + 2 * (PAD - 6);
      at.push({
        id,
        parent: one.id,
        kind: "branch",
        x,
        y: HEAD + 2,
        width,
        height: laid.height + LANE + 8 + PAD,
        label: branch,
      });
      x += width + 14;
      tall = Math.max(tall, laid.height + LANE + 8 + PAD);
    }
    for (const lane of at) {
      lane.height = tall;
      places.push(lane);
    }
    return { width: x - 14 + PAD, height: tall + HEAD + PAD };
  };
  flat(null, null, null, 0, 0);
  const depth = new Map<string, number>();
  const parents = new Map(places.map((one) => [one.id, one.parent]));
  const deep = (id: string | null): number => {
    if (id === null) return 0;
    const known = depth.get(id);
    if (known !== undefined) return known;
    const found = 1 + deep(parents.get(id) ?? null);
    depth.set(id, found);
    return found;
  };
  places.sort((a, b) => deep(a.id) - deep(b.id));
  return { places, bends };
}
