/** What the operations screen reads. Lists are pages behind each other; figures are read again now and then. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client, type Schemas, take } from "./client";

const PAGE = 50;
const EVERY = 10_000;
export type Span = Schemas["Stats"]["span"];

const paging = <T extends { next?: string | null }>() => ({
  initialPageParam: "",
  getNextPageParam: (page: T) => page.next ?? undefined,
  refetchInterval: EVERY,
});
const at = (cursor: string) => ({ limit: PAGE, ...(cursor ? { cursor } : {}) });
/** Leave out what is not asked for. */
const given = <T extends Record<string, string | undefined>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as { [K in keyof T]?: NonNullable<T[K]> };

export const instancesQuery = queryOptions({
  queryKey: ["ops", "instances"],
  queryFn: () => take(client.GET("/api/v1/instances")),
  refetchInterval: EVERY,
});
/** What is wrong with the server is answered by 503, and its checks with it. */
export const readinessQuery = queryOptions({
  queryKey: ["ops", "readiness"],
  queryFn: async () => {
    const answered = await client.GET("/readyz");
    const checks = answered.data ?? answered.error;
    return checks && "checks" in checks ? checks : take(Promise.resolve(answered));
  },
  refetchInterval: 3 * EVERY,
});
/** It looks at many executions, so it is asked once, and again when a person wants it. */
export const doctorQuery = queryOptions({
  queryKey: ["ops", "doctor"],
  queryFn: () => take(client.GET("/api/v1/doctor")),
  staleTime: 6 * EVERY,
  refetchOnWindowFocus: false,
});
export const statsQuery = (span: Span) =>
  queryOptions({
    queryKey: ["ops", "stats", span],
    queryFn: () => take(client.GET("/api/v1/stats", { params: { query: { span } } })),
    refetchInterval: EVERY,
  });
export const timersQuery = infiniteQueryOptions({
  queryKey: ["ops", "timers"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/timers", { params: { query: at(pageParam) } })),
  ...paging<Schemas["DueTimerPage"]>(),
});
export const batchesQuery = infiniteQueryOptions({
  queryKey: ["ops", "batches"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/batches", { params: { query: at(pageParam) } })),
  ...paging<Schemas["BatchInfoPage"]>(),
});
export const batchItemsQuery = (id: string, status: string) =>
  infiniteQueryOptions({
    queryKey: ["ops", "batch", id, status],
    queryFn: ({ pageParam }) =>
      take(
        client.GET("/api/v1/batches/{id}/items", {
          params: { path: { id }, query: { ...at(pageParam), ...given({ status: status as "done" }) } },
        }),
      ),
    ...paging<Schemas["BatchItemPage"]>(),
  });
export const deliveriesQuery = (state: string) =>
  infiniteQueryOptions({
    queryKey: ["ops", "deliveries", state],
    queryFn: ({ pageParam }) =>
      take(
        client.GET("/api/v1/deliveries", {
          params: { query: { ...at(pageParam), ...given({ state: state as "dead" }) } },
        }),
      ),
    ...paging<Schemas["DeliveryPage"]>(),
  });
export const destinationsQuery = infiniteQueryOptions({
  queryKey: ["ops", "destinations"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/destinations", { params: { query: at(pageParam) } })),
  ...paging<Schemas["DestinationPage"]>(),
});
export const triggersQuery = infiniteQueryOptions({
  queryKey: ["ops", "triggers"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/triggers", { params: { query: at(pageParam) } })),
  ...paging<Schemas["TriggerPage"]>(),
});
export const triggerInputsQuery = (id: string, state: string) =>
  infiniteQueryOptions({
    queryKey: ["ops", "trigger", id, state],
    queryFn: ({ pageParam }) =>
      take(
        client.GET("/api/v1/triggers/{id}/inputs", {
          params: { path: { id }, query: { ...at(pageParam), ...given({ state: state as "pending" }) } },
        }),
      ),
    ...paging<Schemas["TriggerInputPage"]>(),
  });
export const keysQuery = infiniteQueryOptions({
  queryKey: ["ops", "keys"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/keys", { params: { query: at(pageParam) } })),
  ...paging<Schemas["ApiKeyPage"]>(),
});
export const sessionsQuery = infiniteQueryOptions({
  queryKey: ["ops", "sessions"],
  queryFn: ({ pageParam }) => take(client.GET("/api/v1/sessions", { params: { query: at(pageParam) } })),
  ...paging<Schemas["OpenSessionPage"]>(),
});
export const auditQuery = (wanted: { user?: string | undefined; act?: string | undefined }) =>
  infiniteQueryOptions({
    queryKey: ["ops", "audit", wanted.user ?? "", wanted.act ?? ""],
    queryFn: ({ pageParam }) =>
      take(client.GET("/api/v1/audit", { params: { query: { ...at(pageParam), ...given(wanted) } } })),
    ...paging<Schemas["AuditEntryPage"]>(),
  });
