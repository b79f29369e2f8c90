import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { base } from "./lib/base";
import { applyTheme } from "./lib/preferences";
import { Shell } from "./parts/Shell";
import { Executions } from "./screens/Executions";
import { Inbox } from "./screens/Inbox";
import "./styles.css";

const text = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined);
/** The state of a screen in its URL: only what is known, only texts. */
function searched(...names: string[]): (search: Record<string, unknown>) => Record<string, string | undefined> {
  return (search) =>
    Object.fromEntries(names.flatMap((name) => (text(search[name]) ? [[name, text(search[name])]] : [])));
}

const root = createRootRoute({ component: Shell });
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: searched("tab", "point") as (search: Record<string, unknown>) => { tab?: string; point?: string },
  component: Inbox,
});
const executions = createRoute({
  getParentRoute: () => root,
  path: "/executions",
  validateSearch: searched("q") as (search: Record<string, unknown>) => { q?: string },
  component: Executions,
});
const execution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$id",
  validateSearch: searched("tab", "node") as (search: Record<string, unknown>) => { tab?: string; node?: string },
  component: lazyRouteComponent(() => import("./screens/Execution"), "Execution"),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  component: lazyRouteComponent(() => import("./screens/Workflows"), "Workflows"),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$name",
  validateSearch: searched("tab", "start") as (search: Record<string, unknown>) => { tab?: string; start?: string },
  component: lazyRouteComponent(() => import("./screens/Workflow"), "Workflow"),
});
const operations = createRoute({
  getParentRoute: () => root,
  path: "/operations",
  validateSearch: searched("tab", "span", "state", "user", "act") as (search: Record<string, unknown>) => {
    tab?: string;
    span?: string;
    state?: string;
    user?: string;
    act?: string;
  },
  component: lazyRouteComponent(() => import("./screens/Operations"), "Operations"),
});

const router = createRouter({
  routeTree: root.addChildren([inbox, executions, execution, workflows, workflow, operations]),
  basepath: `${base}/console`,
});
declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal is an answer; what did not arrive, or came too often, is asked again.
      retry: (count, error) =>
        count < 3 && error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500),
      retryDelay: (count, error) =>
        error instanceof Problem && error.retryAfter ? error.retryAfter * 1_000 : 500 * 2 ** count,
    },
  },
  queryCache: new QueryCache({
    onError: (error, query) => {
      // What ended the session is seen by the shell at once, which says so.
      if (error instanceof Problem && error.status === 401 && query.queryKey[0] !== "session")
        void queries.invalidateQueries({ queryKey: ["session"] });
    },
  }),
});

applyTheme();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
