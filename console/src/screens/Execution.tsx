/** One execution: how it stands, the whole graph, what happened, its data. It follows the stream as long as it is seen. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { executionQuery, graphQuery, sessionQuery, whyQuery } from "../api/queries";
import { Graph } from "../graph/Graph";
import { grow, nodeOfStep } from "../graph/grow";
import { useKeys } from "../lib/keys";
import { Data, Loading, Refused, useTitle } from "../parts/Frame";
import { Stale } from "../parts/Stale";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { inWords, nodeOf } from "../words/events";
import { Acts } from "./execution/Acts";
import { Children, Logs } from "./execution/Children";
import { ForkDialog } from "./execution/Plan";
import { ended, Standing } from "./execution/Standing";
import { Reports, Timeline } from "./execution/Timeline";
import { NodeDrawer } from "./NodeDrawer";
import { useStream } from "./stream_state";

const words = en.execution;
const NEWEST = "."; // a fork of an execution as it is now; no node has this name
const TABS = ["events", "data", "children", "logs"] as const;

export function Execution() {
  const { id } = useParams({ from: "/executions/$id" });
  const { tab = "events", node, rewind, fork } = useSearch({ from: "/executions/$id" });
  const navigate = useNavigate();
  const found = useQuery(executionQuery(id));
  const graph = useQuery(graphQuery(id));
  const why = useQuery(whyQuery(id));
  const { events, progress, feed, heardAt, earlier } = useStream(id, found.data?.last_seq);
  const grown = useMemo(() => graph.data && grow(graph.data, events, words.steps), [graph.data, events]);
  const [isFollowed, setFollowed] = useState(false);
  useKeys({ l: () => setFollowed(!isFollowed) });
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  useTitle(found.data ? `${found.data.workflow} ${found.data.correlation_id ?? ""}` : en.nav.executions);
  const show = (search: { tab?: string; node?: string; rewind?: string; fork?: string }) =>
    navigate({ to: "/executions/$id", params: { id }, search });
  const keep = tab === "events" ? {} : { tab };
  const canvas = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // React Flow selects a node by Enter; here that opens it.
    const onKey = (event: KeyboardEvent) => {
      const at = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>(".react-flow__node") : null;
      if (event.key === "Enter" && at?.dataset.id)
        void navigate({ to: "/executions/$id", params: { id }, search: { node: nodeOfStep(at.dataset.id) } });
    };
    const element = canvas.current;
    element?.addEventListener("keydown", onKey);
    return () => element?.removeEventListener("keydown", onKey);
  }, [id, navigate]);
  if (!found.data)
    return (
      <>
        <h1>{en.nav.executions}</h1>
        {found.isPending ? <Loading /> : <Refused error={found.error} retry={() => void found.refetch()} />}
      </>
    );
  const one = found.data;
  // An execution that waits for a person can be held by an operator at the same time.
  const isOperators = why.data?.reasons.some((reason) => reason.kind === "operator") ?? false;
  const isHeld = one.status === "pausing" || (one.status === "paused" && isOperators);
  const tabs = TABS.filter((name) => name !== "logs" || permissions.includes("execution:debug"));
  return (
    <>
      <p className="crumbs soft">
        <Link to="/executions" search={{}}>
          {en.nav.executions}
        </Link>{" "}
        /{" "}
        <Link to="/workflows/$name" params={{ name: one.workflow }} search={{}}>
          <bdi>{one.workflow}</bdi>
        </Link>
      </p>
      <div className="head-line">
        <h1>
          <bdi>{one.workflow}</bdi> {one.correlation_id && <bdi>· {one.correlation_id}</bdi>}{" "}
          <span className="soft version">{words.version(one.version)}</span>
        </h1>
        <Acts
          execution={one}
          isHeld={isHeld}
          permissions={permissions}
          fork={() => void show({ ...keep, fork: NEWEST })}
        />
      </div>
      <p className="stands">
        <Standing execution={one} isHeld={isHeld} />{" "}
        <bdi>{one.error?.message ?? ended(one) ?? words.stands[one.status] ?? inWords(why.data?.summary ?? "")}</bdi>{" "}
        <Decide execution={one} />
      </p>
      {found.error && <Refused error={found.error} />}
      <div className="split">
        <section className="sheet canvas" aria-label={words.graph} ref={canvas}>
          {grown ? (
            <Graph graph={grown} open={(to) => void show({ ...keep, node: nodeOfStep(to) })} follow={isFollowed} />
          ) : graph.error ? (
            <Refused error={graph.error} retry={() => void graph.refetch()} />
          ) : (
            <Loading />
          )}
        </section>
        <section className="sheet side-sheet">
          <div className="tabs" role="group" aria-label={words.events}>
            {tabs.map((name) => (
              <button
                type="button"
                key={name}
                aria-pressed={tab === name}
                onClick={() => void show(name === "events" ? {} : { tab: name })}
              >
                {name === "events" ? words.log : words[name]}
              </button>
            ))}
          </div>
          {tab === "events" && (
            <>
              <p className="soft feed-state">
                <span role="status">{words.feed[feed]}</span>
                <Stale at={feed === "live" || feed === "ended" ? 0 : heardAt} after={5_000} />
                <label className="follow">
                  <input type="checkbox" checked={isFollowed} onChange={(e) => setFollowed(e.target.checked)} />
                  {acts.follow}
                </label>
              </p>
              <Reports progress={progress} />
              <Timeline events={events} earlier={earlier} />
            </>
          )}
          {tab === "data" && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
            <div className="panel" tabIndex={0} role="region" aria-label={words.data}>
              <h2 className="hidden">{words.data}</h2>
              <Data label={words.input} value={one.input} />
              {one.output !== null && one.output !== undefined && <Data label={words.output} value={one.output} />}
              <Data label={words.variables} value={one.variables} />
              {one.error && <Data label={words.error} value={one.error} />}
            </div>
          )}
          {tab === "children" && <Children execution={one} />}
          {tab === "logs" && <Logs id={id} />}
        </section>
      </div>
      {node && graph.data && (
        <NodeDrawer
          execution={one}
          graph={graph.data}
          id={node}
          open={(to) => void show({ ...keep, node: to })}
          rewinding={rewind}
          rewind={(to) => void show({ ...keep, node, ...(to ? { rewind: to } : {}) })}
          fork={(from) => void show({ ...keep, fork: from })}
          close={() => void show(keep)}
        />
      )}
      {fork !== undefined && (
        <ForkDialog execution={one} from={fork === NEWEST ? "" : fork} close={() => void show(keep)} />
      )}
    </>
  );
}

/** Leads to what people are asked; of several questions, each has the name of its node. */
function Decide({ execution }: { execution: Schemas["Execution"] }) {
  const asked = execution.waiting_on.filter((wait) => wait.for && (wait.kind === "approval" || wait.kind === "form"));
  if (asked.length === 0) return null;
  if (asked.length === 1)
    return (
      <Link to="/" search={{ point: asked[0]!.for! }} className="button main">
        {en.inbox.decide}
      </Link>
    );
  return (
    <span className="asked">
      {asked.slice(0, 3).map((wait) => (
        <Link key={wait.for} to="/" search={{ point: wait.for! }} className="button main">
          {words.decideOn(nodeOf(wait.context_id))}
        </Link>
      ))}
      {asked.length > 3 && <span className="soft">{words.moreAsked(asked.length - 3)}</span>}
    </span>
  );
}
