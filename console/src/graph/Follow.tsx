/** Keeps what is alive in the middle of the graph, as long as it is followed. */
import { useReactFlow } from "@xyflow/react";
import { useEffect } from "react";

export function Follow({ x, y }: { x: number; y: number }) {
  const flow = useReactFlow();
  useEffect(() => {
    const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    void flow.setCenter(x, y, { zoom: Math.max(flow.getZoom(), 0.8), duration: isCalm ? 0 : 300 });
  }, [flow, x, y]);
  return null;
}
