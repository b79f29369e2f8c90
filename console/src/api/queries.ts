/** What screens read, by name: one place for keys of the cache. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { every } from "./changes";
import { client, type Schemas, take } from "./client";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => take(client.GET("/api/v1/session")),
  staleTime: 60_000,
});

type Mine = { for: "me" } | { requested_by: "me"; status: ["open"] };
const LOOKS = 10; // pages: each looks at so many points of others and no more

/** The first page of one's own points that has any. */
async function firstOf(mine: Mine): Promise<Schemas["PausePointPage"]> {
  let cursor: string | null | undefined;
  for (let n = 1; ; n++) {
    const query = { ...mine, limit: 100, ...(cursor ? { cursor } : {}) };
    const page = await take(client.GET("/api/v1/pause-points", { params: { query } }));
    cursor = page.next;
    if (page.items.length > 0 || !cursor || n === LOOKS) return page;
  }
}

export const inboxQuery = queryOptions({
  queryKey: ["points", "me"],
  queryFn: () => firstOf({ for: "me" }),
  refetchInterval: every(15_000),
});

/** What is behind the first page of one's own points, from a cursor on. */
export const moreInboxQuery = (cursor: string) =>
  infiniteQueryOptions({
    queryKey: ["points", "more", cursor],
    initialPageParam: cursor,
    queryFn: ({ pageParam }) =>
      take(client.GET("/api/v1/pause-points", { params: { query: { for: "me", limit: 100, cursor: pageParam } } })),
    getNextPageParam: (page) => page.next ?? undefined,
  });

/** What others are asked for what this person has started. */
export const askedQuery = queryOptions({
  queryKey: ["points", "asked"],
  queryFn: () => firstOf({ requested_by: "me", status: ["open"] }),
  refetchInterval: every(15_000),
});

export const donePointsQuery = infiniteQueryOptions({
  queryKey: ["points", "done"],
  initialPageParam: "",
  queryFn: ({ pageParam }) =>
    take(
      client.GET("/api/v1/pause-points", {
        params: { query: { decided_by: "me", limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } },
      }),
    ),
  getNextPageParam: (page) => page.next ?? undefined,
});

export const pointQuery = (id: string) =>
  queryOptions({
    queryKey: ["points", "one", id],
    queryFn: () => take(client.GET("/api/v1/pause-points/{id}", { params: { path: { id } } })),
  });

export const countsQuery = queryOptions({
  queryKey: ["executions", "counts"],
  queryFn: () => take(client.GET("/api/v1/executions/counts")),
  refetchInterval: every(15_000),
});

export const executionsQuery = (query: Record<string, string | string[]>) =>
  infiniteQueryOptions({
    queryKey: ["executions", "list", query],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      take(
        client.GET("/api/v1/executions", {
          params: { query: { ...query, limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

const one = (id: string) => ({ params: { path: { id } } });
export const executionQuery = (id: string) =>
  queryOptions({ queryKey: ["execution", id], queryFn: () => take(client.GET("/api/v1/executions/{id}", one(id))) });
export const graphQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "graph"],
    queryFn: () => take(client.GET("/api/v1/executions/{id}/graph", one(id))),
  });
export const whyQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution", id, "why"],
    queryFn: () => take(client.GET("/api/v1/executions/{id}/why", one(id))),
  });
/** What became of one node in one scope. */
export const runQuery = (id: string, context: string) =>
  queryOptions({
    queryKey: ["execution", id, "run", context],
    queryFn: () =>
      take(
        client.GET("/api/v1/executions/{id}/nodes", {
          params: { path: { id }, query: { context_id: context, limit: 1 } },
        }),
      ),
  });

const NAMES = 50; // pages: no more workflows than that are looked through

/** All workflows by name, which the palette and the list look through. */
export const workflowsQuery = queryOptions({
  queryKey: ["workflows"],
  queryFn: async () => {
    const items: Schemas["WorkflowVersion"][] = [];
    let cursor: string | null | undefined;
    for (let n = 0; n < NAMES; n++) {
      const query = { limit: 100, ...(cursor ? { cursor } : {}) };
      const page = await take(client.GET("/api/v1/workflows", { params: { query } }));
      items.push(...page.items);
      cursor = page.next;
      if (!cursor) break;
    }
    return { items, more: Boolean(cursor) };
  },
  staleTime: 30_000,
});
export const workflowQuery = (name: string) =>
  queryOptions({
    queryKey: ["workflow", name],
    queryFn: () => take(client.GET("/api/v1/workflows/{name}", { params: { path: { name } } })),
  });
