/** What the workflow screen and the editor read. */
import { queryOptions } from "@tanstack/react-query";
import { asText, client, take } from "../../api/client";
import "./workflow.css";

export const versionGraphQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ["workflow", name, "graph", version ?? "newest"],
    queryFn: () =>
      take(
        client.GET("/api/v1/workflows/{name}/graph", { params: { path: { name }, query: version ? { version } : {} } }),
      ),
  });

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name, "versions"],
    queryFn: () =>
      take(client.GET("/api/v1/workflows/{name}/versions", { params: { path: { name }, query: { limit: 100 } } })),
  });

export const diffQuery = (name: string, from: number, to: number) =>
  queryOptions({
    queryKey: ["workflow", name, "diff", from, to],
    queryFn: () =>
      take(client.GET("/api/v1/workflows/{name}/diff", { params: { path: { name }, query: { from, to } } })),
  });

/** The text of a version as it was written; of one that was never given as text, its definition as YAML. */
export const sourceQuery = (name: string, version?: number) =>
  queryOptions({
    queryKey: ["workflow", name, "source", version ?? "newest"],
    queryFn: () =>
      take(
        client.GET("/api/v1/workflows/{name}/source", {
          params: { path: { name }, query: version ? { version } : {} },
        }),
      ),
  });

/** What a text would mean to the executions of its workflow that are under way. */
export const planQuery = (name: string, text: string, map: Record<string, string> = {}) =>
  queryOptions({
    queryKey: ["workflow", name, "plan", text, map],
    queryFn: () => {
      const query = { allow_unknown: true, map: Object.entries(map).map(([old, fresh]) => `${old}=${fresh}`) };
      return take(client.POST("/api/v1/workflows/plan", { ...asText(text), params: { query } }));
    },
    gcTime: 0,
  });

export const restingQuery = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name, "resting"],
    queryFn: () => take(client.GET("/api/v1/workflows/{name}/resting", { params: { path: { name } } })),
    refetchInterval: 15_000,
  });

export const triggersQuery = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name, "triggers"],
    queryFn: () => take(client.GET("/api/v1/triggers", { params: { query: { workflow: name, limit: 100 } } })),
  });
