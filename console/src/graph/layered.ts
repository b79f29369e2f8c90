/**
 * Layered layout of one flat graph without cycles: ranks by longest path, order by barycentres, places by medians.
 *
 * An edge over several ranks is threaded through a narrow vertex in each, which keeps room for it: where those end up
 * are its bends, so that no edge runs through a node.
 */
export interface Box {
  id: string;
  width: number;
  height: number;
}
export interface Placed extends Box {
  x: number;
  y: number;
}
export interface Point {
  x: number;
  y: number;
}
export interface Laid {
  placed: Placed[];
  bends: Map<string, Point[]>; // of edges over several ranks, by `edgeKey`
  width: number;
  height: number;
}

const ACROSS = 28;
const DOWN = 44;
const SWEEPS = 8;
const THREAD = 12; // the width that a passing edge keeps free

export function edgeKey(source: string, target: string): string {
  return `${source}\n${target}`;
}

interface Vertex {
  box: Box | null;
  rank: number;
  width: number;
  before: number[];
  after: number[];
  x: number;
  at: number;
}

export function layered(boxes: readonly Box[], edges: readonly (readonly [string, string])[]): Laid {
  const number = new Map(boxes.map((box, i) => [box.id, i]));
  const vertices: Vertex[] = boxes.map((box) => ({
    box,
    rank: 0,
    width: box.width,
    before: [],
    after: [],
    x: 0,
    at: 0,
  }));
  const pairs: [number, number][] = [];
  for (const [source, target] of edges) {
    const a = number.get(source),
      b = number.get(target);
    if (a !== undefined && b !== undefined && a !== b) pairs.push([a, b]);
  }
  rank(vertices, pairs);
  const threads = new Map<string, number[]>();
  for (const [a, b] of pairs) {
    const passed = thread(vertices, a, b);
    if (passed.length) threads.set(edgeKey(boxes[a]!.id, boxes[b]!.id), passed);
  }
  const rows: number[][] = [];
  vertices.forEach((one, i) => {
    const row = rows[one.rank];
    if (row) row.push(i);
    else rows[one.rank] = [i];
  });
  order(vertices, rows);
  place(vertices, rows);
  return finish(vertices, rows, threads);
}

function rank(vertices: Vertex[], pairs: [number, number][]): void {
  const into = new Array<number>(vertices.length).fill(0);
  const out: number[][] = vertices.map(() => []);
  for (const [a, b] of pairs) {
    into[b]!++;
    out[a]!.push(b);
  }
  const ready = into.flatMap((count, i) => (count === 0 ? [i] : []));
  const seen = new Set<number>();
  for (let i = 0; i < ready.length; i++) {
    const a = ready[i]!;
    seen.add(a);
    for (const b of out[a]!) {
      vertices[b]!.rank = Math.max(vertices[b]!.rank, vertices[a]!.rank + 1);
      if (--into[b]! === 0) ready.push(b);
    }
  }
}

function thread(vertices: Vertex[], a: number, b: number): number[] {
  const passed: number[] = [];
  let from = a;
  const low = vertices[a]!.rank,
    high = vertices[b]!.rank;
  for (let r = low + 1; r < high; r++) {
    const i = vertices.push({ box: null, rank: r, width: THREAD, before: [from], after: [], x: 0, at: 0 }) - 1;
    vertices[from]!.after.push(i);
    passed.push(i);
    from = i;
  }
  if (high > low) {
    vertices[from]!.after.push(b);
    vertices[b]!.before.push(from);
  }
  return passed;
}

function order(vertices: Vertex[], rows: number[][]): void {
  for (const row of rows)
    row.forEach((v, i) => {
      vertices[v]!.at = i;
    });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const sequence = down ? rows.slice(1) : rows.slice(0, -1).reverse();
    for (const row of sequence) {
      const key = new Map<number, number>();
      for (const v of row) {
        const near = down ? vertices[v]!.before : vertices[v]!.after;
        key.set(v, near.length ? near.reduce((sum, n) => sum + vertices[n]!.at, 0) / near.length : vertices[v]!.at);
      }
      row.sort((p, q) => key.get(p)! - key.get(q)! || vertices[p]!.at - vertices[q]!.at);
      row.forEach((v, i) => {
        vertices[v]!.at = i;
      });
    }
  }
}

function place(vertices: Vertex[], rows: number[][]): void {
  for (const row of rows) {
    let x = 0;
    for (const v of row) {
      vertices[v]!.x = x + vertices[v]!.width / 2;
      x += vertices[v]!.width + ACROSS;
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) settle(vertices, row, down);
  }
}

/** Put a row where its neighbours want it, as near as the distances between its boxes allow (pool adjacent violators). */
function settle(vertices: Vertex[], row: number[], down: boolean): void {
  const offset: number[] = [];
  let x = 0;
  row.forEach((v, i) => {
    const prev = row[i - 1];
    if (prev !== undefined) x += (vertices[prev]!.width + vertices[v]!.width) / 2 + ACROSS;
    offset.push(x);
  });
  const blocks: { sum: number; weight: number; count: number }[] = [];
  row.forEach((v, i) => {
    const one = vertices[v]!;
    const near = (down ? one.before : one.after).map((n) => vertices[n]!.x).sort((p, q) => p - q);
    const middle = near.length ? (near[(near.length - 1) >> 1]! + near[near.length >> 1]!) / 2 : one.x;
    const weight = near.length ? (one.box ? 1 : 4) : 0.05;
    let block = { sum: (middle - offset[i]!) * weight, weight, count: 1 };
    for (let top = blocks.at(-1); top && top.sum / top.weight >= block.sum / block.weight; top = blocks.at(-1)) {
      block = { sum: block.sum + top.sum, weight: block.weight + top.weight, count: block.count + top.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let i = 0;
  for (const block of blocks)
    for (let k = 0; k < block.count; k++, i++) vertices[row[i]!]!.x = block.sum / block.weight + offset[i]!;
}

function finish(vertices: Vertex[], rows: number[][], threads: Map<string, number[]>): Laid {
  let left = Infinity,
    right = -Infinity,
    y = 0;
  const placed: Placed[] = [];
  const middle = new Map<number, number>();
  for (const row of rows) {
    const tall = row.reduce((most, v) => Math.max(most, vertices[v]!.box?.height ?? 0), 0);
    for (const v of row) {
      const one = vertices[v]!;
      if (!one.box) {
        left = Math.min(left, one.x - THREAD);
        right = Math.max(right, one.x + THREAD);
        middle.set(v, y + tall / 2);
        continue;
      }
      left = Math.min(left, one.x - one.width / 2);
      right = Math.max(right, one.x + one.width / 2);
      placed.push({ ...one.box, x: one.x - one.width / 2, y });
    }
    y += tall + DOWN;
  }
  for (const one of placed) one.x -= left;
  const bends = new Map(
    [...threads].map(([key, passed]) => [key, passed.map((v) => ({ x: vertices[v]!.x - left, y: middle.get(v)! }))]),
  );
  return { placed, bends, width: placed.length ? right - left : 0, height: Math.max(0, y - DOWN) };
}
