import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
  redirect,
} from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { isPassing, Problem } from "./api/client";
import { base } from "./lib/base";
import { applyTheme } from "./lib/preferences";
import { Shell } from "./parts/Shell";
import { Executions } from "./screens/Executions";
import { Inbox } from "./screens/Inbox";
import "./styles.css";
import "./acts.css";

/** A text of the URL; the router reads a key such as `123` as a number. */
const text = (value: unknown): string | undefined =>
  value === undefined || value === null || value === "" || typeof value === "object" ? undefined : String(value);
/** The state of a screen in its URL: only what is known, only texts. */
function searched(...names: string[]): (search: Record<string, unknown>) => Record<string, string | undefined> {
  return (search) =>
    Object.fromEntries(names.flatMap((name) => (text(search[name]) ? [[name, text(search[name])]] : [])));
}

const root = createRootRoute({ component: Shell });
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: searched("tab", "point", "order") as (search: Record<string, unknown>) => {
    tab?: string;
    point?: string;
    order?: string;
  },
  component: Inbox,
});
const executions = createRoute({
  getParentRoute: () => root,
  path: "/executions",
  validateSearch: searched("q", "batch") as (search: Record<string, unknown>) => { q?: string; batch?: string },
  component: Executions,
});
const execution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$id",
  validateSearch: searched("tab", "node", "rewind", "fork") as (search: Record<string, unknown>) => {
    tab?: string;
    node?: string;
    rewind?: string;
    fork?: string;
  },
  component: lazyRouteComponent(() => import("./screens/Execution"), "Execution"),
});
const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  validateSearch: searched("q") as (search: Record<string, unknown>) => { q?: string },
  component: lazyRouteComponent(() => import("./screens/Workflows"), "Workflows"),
});
const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$name",
  validateSearch: searched("tab", "start", "view", "version", "diff", "move", "batch") as (
    search: Record<string, unknown>,
  ) => {
    tab?: string;
    start?: string;
    view?: string;
    version?: string;
    diff?: string;
    move?: string;
    batch?: string;
  },
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

const editWorkflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$name/edit",
  component: lazyRouteComponent(() => import("./screens/Editor"), "EditWorkflow"),
});
const newWorkflow = createRoute({
  getParentRoute: () => root,
  path: "/new-workflow",
  component: lazyRouteComponent(() => import("./screens/Editor"), "NewWorkflow"),
});

// Addresses that are easier to write: what is open beside a screen is in its search.
const nodeOfExecution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$id/node/$",
  beforeLoad: ({ params }) => {
    const { id, _splat: node = "" } = params;
    throw redirect({ to: "/executions/$id", params: { id }, search: { node }, replace: true });
  },
});
const rewindOfExecution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$id/rewind",
  validateSearch: searched("to") as (search: Record<string, unknown>) => { to?: string },
  beforeLoad: ({ params, search: { to } }) => {
    const search = to ? { node: to, rewind: to } : {};
    throw redirect({ to: "/executions/$id", params, search, replace: true });
  },
});
const startOfWorkflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$name/start",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/workflows/$name", params, search: { start: "1" }, replace: true });
  },
});

const router = createRouter({
  routeTree: root.addChildren([
    ...[inbox, executions, execution, nodeOfExecution, rewindOfExecution],
    ...[workflows, workflow, startOfWorkflow, editWorkflow, newWorkflow, operations],
  ]),
  basepath: `${base}/console`,
});
declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    // What cannot be sent fails at once, and is told: kept back, a decision would be made later, unseen.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 5_000,
      // A refusal is an answer; what did not arrive, or came too often, is asked again.
      retry: (count, error) => count < 3 && isPassing(error),
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
