/** A canonical definition as an author would write it: edges as the `next` of nodes, a body without more as a list. */
type Tree = Record<string, unknown>;
interface Edge {
  source: string;
  target: string;
  port: string;
}

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);
const isEdge = (value: unknown): value is Edge =>
  isTree(value) &&
  Object.keys(value).length === 3 &&
  [value.source, value.target, value.port].every((one) => typeof one === "string");

export function shorthand(definition: unknown): unknown {
  return isTree(definition) && Array.isArray(definition.nodes) ? graph(definition) : definition;
}

function graph(tree: Tree): Tree {
  const nodes = (tree.nodes as unknown[]).filter(isTree);
  const ids = new Set(nodes.map((one) => one.id));
  const edges = Array.isArray(tree.edges) ? tree.edges : [];
  // Whatever is not as expected stays as it is: nothing is lost for the sake of a shorter text.
  if (nodes.length !== (tree.nodes as unknown[]).length || !edges.every((one) => isEdge(one) && ids.has(one.source)))
    return tree;
  const { edges: _, ...rest } = tree;
  return {
    ...rest,
    nodes: nodes.map((one) => node(one, edges.filter((edge) => (edge as Edge).source === one.id) as Edge[])),
  };
}

function node(tree: Tree, edges: readonly Edge[]): Tree {
  const written: Tree = { ...tree };
  if (isTree(tree.body)) written.body = body(tree.body);
  if (Array.isArray(tree.branches))
    written.branches = tree.branches.map((one) =>
      isTree(one) && isTree(one.body) ? { ...one, body: body(one.body) } : one,
    );
  if (edges.length > 0 && !("next" in tree)) {
    const ports: Record<string, string[]> = {};
    for (const { port, target } of edges) ports[port] = [...(ports[port] ?? []), target];
    const short = Object.fromEntries(Object.entries(ports).map(([port, to]) => [port, to.length === 1 ? to[0] : to]));
    written.next = Object.keys(short).length === 1 && "done" in short ? short.done : short;
  }
  return written;
}

function body(tree: Tree): unknown {
  if (!Array.isArray(tree.nodes)) return tree;
  const short = graph(tree);
  return Object.keys(short).length === 1 ? short.nodes : short;
}
