import { expect, test } from "vitest";
import { layered } from "../src/graph/layered";
import { layout } from "../src/graph/layout";

const box = (id: string) => ({ id, width: 100, height: 40 });

test("a node stands below all that lead to it, and no two stand on each other", () => {
  const edges = [
    ["a", "b"],
    ["a", "c"],
    ["b", "d"],
    ["c", "d"],
    ["a", "d"],
  ] as const;
  const { placed, bends } = layered(["a", "b", "c", "d"].map(box), edges);
  const at = new Map(placed.map((one) => [one.id, one]));
  for (const [source, target] of edges) expect(at.get(source)!.y).toBeLessThan(at.get(target)!.y);
  expect(Math.abs(at.get("b")!.x - at.get("c")!.x)).toBeGreaterThanOrEqual(100);
  const [bend] = bends.get("a\nd")!;
  for (const one of [at.get("b")!, at.get("c")!]) expect(bend!.x > one.x && bend!.x < one.x + one.width).toBe(false);
});

test("what is in a container stands inside of it", () => {
  const node = (id: string, parent: string | null, branch: string | null) => ({
    id,
    node: id,
    type: "compute",
    parent,
    branch,
  });
  const nodes = [node("p", null, null), node("x:p.a", "p", "a"), node("y:p.b", "p", "b"), node("z", null, null)];
  const { places } = layout(nodes, [{ source: "p", target: "z", port: "done" }]);
  const at = new Map(places.map((one) => [one.id, one]));
  for (const id of ["x:p.a", "y:p.b"]) {
    const inner = at.get(id)!;
    const lane = at.get(inner.parent!)!;
    expect(inner.x + inner.width).toBeLessThanOrEqual(lane.width);
    expect(lane.x + lane.width).toBeLessThanOrEqual(at.get("p")!.width);
  }
  expect(at.get("z")!.y).toBeGreaterThan(at.get("p")!.height);
});

test("a graph of 2,000 nodes is laid out, each once", () => {
  const boxes = Array.from({ length: 2_000 }, (_, i) => box(`n${i}`));
  const edges = boxes.slice(8).map((one, i) => [`n${Math.floor(i / 8) * 8 + ((i * 5) % 8)}`, one.id] as const);
  expect(new Set(layered(boxes, edges).placed.map((one) => one.id)).size).toBe(2_000);
});
