/** The graph of a whole definition. Places come from a worker and depend on its shape alone; states change in place. */
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { memo, useEffect, useMemo, useState } from "react";
import "./flow.css";
import type { Schemas } from "../api/client";
import { usePreferences } from "../lib/preferences";
import { Loading } from "../parts/Frame";
import { Status } from "../parts/Status";
import { en } from "../words/en";
import { Follow } from "./Follow";
import type { Point } from "./layered";
import { edgeKey, type Layout, NODE } from "./layout";
import workerUrl from "./layout.worker.ts?worker&url";
import type { Mark, Marks } from "./overlay";

type Data = { name: string; type: string; status: string; total: number; mark: Mark | undefined };
const PEOPLE = new Set(["approval", "form"]);
const MANY = 150; // nodes; more are drawn only where they are seen

const handles = (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
);
const shownStatus = (data: Data) => (data.status === "waiting" && PEOPLE.has(data.type) ? "person" : data.status);
/** Of a definition that nothing has run, only what is marked is said; else how the node stands. */
const Stands = ({ data }: { data: Data }) =>
  data.mark ? (
    <span className={`mark m-${data.mark.tone}`}>{data.mark.text}</span>
  ) : data.status === "" ? null : (
    <Status value={shownStatus(data)} {...(shownStatus(data) === "person" ? { text: en.status.waiting! } : {})} />
  );
const look = (data: Data) => `s-${data.status || "plain"}${data.mark ? ` m-${data.mark.tone}` : ""}`;
const Step = memo(({ data }: NodeProps<Node<Data>>) => (
  <div className={`n ${look(data)}${PEOPLE.has(data.type) ? " person" : ""}`}>
    {handles}
    <span className="first">
      <bdi className="name">{data.name}</bdi>
      {data.total > 1 && <span>{en.execution.runs(data.total)}</span>}
    </span>
    <span className="what">
      <span>{data.type}</span>
      <Stands data={data} />
    </span>
  </div>
));
const Container = memo(({ data }: NodeProps<Node<Data>>) => (
  <div className={`box ${look(data)}`}>
    {handles}
    <div>
      <span>
        <bdi>{data.name}</bdi>
        {data.total > 1 && ` ${en.execution.runs(data.total)}`} <span className="soft">{data.type}</span>
      </span>
      <Stands data={data} />
    </div>
  </div>
));
const Lane = memo(({ data }: NodeProps<Node<Data>>) => (
  <div className="lane">
    <div>
      <bdi>{data.name}</bdi>
    </div>
  </div>
));
const NODE_TYPES = { node: Step, container: Container, branch: Lane };

type Bent = Edge<{ bends: Point[]; label: string }>;

/** A line through the bends that the layout has kept free, with rounded corners. */
const BentEdge = memo(
  ({ id, sourceX, sourceY, targetX, targetY, data, className }: EdgeProps<Bent> & { className?: string }) => {
    const points = [{ x: sourceX, y: sourceY }, ...(data?.bends ?? []), { x: targetX, y: targetY }];
    let path = `M${sourceX},${sourceY}`;
    for (let i = 1; i < points.length; i++) {
      const a = points[i - 1]!;
      const b = points[i]!;
      const half = (b.y - a.y) / 2;
      path += Math.abs(a.x - b.x) < 1 ? `L${b.x},${b.y}` : `C${a.x},${a.y + half} ${b.x},${b.y - half} ${b.x},${b.y}`;
    }
    const end = points[1]!;
    return (
      <>
        <BaseEdge id={id} path={path} {...(className ? { className } : {})} />
        {data?.label && (
          <EdgeLabelRenderer>
            <span
              className="edge-label"
              style={{
                transform: `translate(-50%,-50%) translate(${(sourceX + 2 * end.x) / 3}px,${(sourceY + 2 * end.y) / 3 - 4}px)`,
              }}
            >
              {data.label}
            </span>
          </EdgeLabelRenderer>
        )}
      </>
    );
  },
);
const EDGE_TYPES = { bent: BentEdge };

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}
let worker: Worker | null = null;
let count = 0;
function theWorker(): Worker {
  if (worker === null) {
    // The page's policy lets a worker be made by this one name alone.
    const policies = (window as unknown as { trustedTypes?: Policies }).trustedTypes;
    const policy = policies?.createPolicy("layover", { createScriptURL: (url) => url });
    const url = new URL(workerUrl, import.meta.url).href;
    worker = new Worker(policy?.createScriptURL(url) ?? url, { type: "module" });
  }
  return worker;
}
function laidOut(graph: Schemas["Graph"]): Promise<Layout> {
  const at = theWorker();
  const n = ++count;
  return new Promise((done) => {
    const onMessage = (message: MessageEvent<{ n: number; layout: Layout }>) => {
      if (message.data.n !== n) return;
      at.removeEventListener("message", onMessage);
      done(message.data.layout);
    };
    at.addEventListener("message", onMessage);
    at.postMessage({ n, nodes: graph.nodes, edges: graph.edges });
  });
}

const ALIVE = new Set(["waiting", "running", "failed", "entered", "incident"]);

export function Graph(props: {
  graph: Schemas["Graph"];
  open?: (id: string) => void;
  marks?: Marks;
  plain?: boolean; // a definition that nothing has run
  follow?: boolean;
}) {
  const { graph, open, marks, plain } = props;
  const [drawn, setDrawn] = useState<{ shape: string; laid: Layout } | null>(null);
  const laid = drawn?.laid ?? null;
  const { theme } = usePreferences();
  const shape = `${graph.workflow}/${graph.version}/${graph.nodes.length}/${graph.edges.length}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: places follow from the shape, not from the states
  useEffect(() => {
    let isCurrent = true;
    void laidOut(graph).then((found) => isCurrent && setDrawn({ shape, laid: found }));
    return () => {
      isCurrent = false;
    };
  }, [shape]);
  const nodes = useMemo<Node<Data>[]>(() => {
    const known = new Map(graph.nodes.map((one) => [one.id, one]));
    return (laid?.places ?? []).map((place) => {
      const one = known.get(place.id);
      const runs = Object.values(one?.runs ?? {}).reduce((a, b) => a + b, 0);
      const status = one?.status ?? (plain ? "" : "idle");
      const mark = marks?.[place.id];
      const data: Data = { name: place.label, type: one?.type ?? "", status, total: runs, mark };
      const told = mark?.text ?? en.status[status] ?? status;
      return {
        id: place.id,
        type: place.kind,
        position: { x: place.x, y: place.y },
        // Both, or every node is mounted once to be measured.
        measured: { width: place.width, height: place.height },
        handles: [
          { type: "target" as const, position: Position.Top, x: place.width / 2, y: 0, width: 1, height: 1 },
          {
            type: "source" as const,
            position: Position.Bottom,
            x: place.width / 2,
            y: place.height,
            width: 1,
            height: 1,
          },
        ],
        width: place.width,
        height: place.height,
        ...(place.parent ? { parentId: place.parent } : {}),
        draggable: false,
        connectable: false,
        focusable: place.kind !== "branch" && open !== undefined,
        zIndex: place.kind === "node" ? 2 : 0,
        ariaLabel: one ? [place.label, one.type, told].filter(Boolean).join(", ") : place.label,
        data,
      };
    });
  }, [laid, graph.nodes, open, marks, plain]);
  const edges = useMemo<Bent[]>(() => {
    const corner = absolutes(laid);
    const homes = new Map((laid?.places ?? []).map((place) => [place.id, place.parent]));
    const isPlaced = (id: string) => homes.has(id);
    return graph.edges.flatMap((one) => {
      if (!isPlaced(one.source) || !isPlaced(one.target)) return []; // its shape is laid out just now
      const at = corner.get(homes.get(one.source) ?? "") ?? { x: 0, y: 0 };
      const mark = marks?.[`${one.source}>${one.target}>${one.port}`];
      const bends = (laid?.bends[edgeKey(one.source, one.target)] ?? []).map((point) => ({
        x: point.x + at.x,
        y: point.y + at.y,
      }));
      return [
        {
          id: `${one.source}>${one.target}>${one.port}`,
          source: one.source,
          target: one.target,
          type: "bent",
          zIndex: 1,
          focusable: false,
          data: { bends, label: one.port === "done" ? "" : one.port },
          ...(one.taken ? { className: "taken" } : mark ? { className: `m-${mark.tone}` } : {}),
        },
      ];
    });
  }, [graph.edges, laid, marks]);
  if (laid === null) return <Loading />;
  const many = laid.places.length > MANY;
  const corners = absolutes(laid);
  const first = graph.nodes.find(
    (one) => one.status && ALIVE.has(one.status) && !graph.nodes.some((inner) => inner.parent === one.id),
  );
  const start = corners.get(first?.id ?? "") ?? { x: 0, y: 0 };
  return (
    <ReactFlow
      key={drawn?.shape /* another shape is seen whole, as soon as it has places */}
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      {...(many
        ? { defaultViewport: { x: 300 - start.x * 0.9, y: 200 - start.y * 0.9, zoom: 0.9 } }
        : { fitView: true, fitViewOptions: { maxZoom: 1, padding: 0.08 } })}
      minZoom={many ? 0.35 : 0.15}
      colorMode={theme === "auto" ? "system" : theme}
      onlyRenderVisibleElements={many}
      nodesDraggable={false}
      nodesConnectable={false}
      elementsSelectable={open !== undefined}
      proOptions={{ hideAttribution: true }}
      aria-label={en.execution.graph}
      onNodeClick={(_, node) => open?.(node.id)}
    >
      <Background gap={22} size={1} color="var(--line)" />
      <Controls showInteractive={false} />
      {props.follow && first && <Follow x={start.x + NODE.width / 2} y={start.y + NODE.height / 2} />}
    </ReactFlow>
  );
}

/** Where places stand on the whole canvas; parents come first. */
function absolutes(laid: Layout | null): Map<string, Point> {
  const found = new Map<string, Point>();
  for (const place of laid?.places ?? []) {
    const parent = found.get(place.parent ?? "") ?? { x: 0, y: 0 };
    found.set(place.id, { x: parent.x + place.x, y: parent.y + place.y });
  }
  return found;
}
