import { type GraphEdge, type GraphNode, layout } from "./layout";

self.onmessage = (message: MessageEvent<{ n: number; nodes: GraphNode[]; edges: GraphEdge[] }>) => {
  const { n, nodes, edges } = message.data;
  self.postMessage({ n, layout: layout(nodes, edges) });
};
