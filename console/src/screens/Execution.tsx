/** One execution: how it stands, the whole graph, what happened, its data. It follows the stream as long as it is seen. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { client, key, type Schemas, take } from "../api/client";
import { executionQuery, graphQuery, sessionQuery, whyQuery } from "../api/queries";
import { Graph } from "../graph/Graph";
import { useKeys } from "../lib/keys";
import { clock, day, length } from "../lib/time";
import { Data, Dialog, Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { Stale } from "../parts/Stale";
import { Glyph, Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { inWords, nodeOf, sentence } from "../words/events";
import { ChildGraph } from "./ChildGraph";
import { NodeDrawer, PlanDialog } from "./NodeDrawer";
import { type Progress, useStream } from "./stream_state";

type Event = Schemas["Event"];
const words = en.execution;
const TABS = ["events", "data", "children", "logs"] as const;

export function Execution() {
  const { id } = useParams({ from: "/executions/$id" });
  const { tab = "events", node, rewind } = useSearch({ from: "/executions/$id" });
  const navigate = useNavigate();
  const found = useQuery(executionQuery(id));
  const graph = useQuery(graphQuery(id));
  const why = useQuery(whyQuery(id));
  const { events, progress, feed, heardAt, earlier } = useStream(id, found.data !== undefined);
  const [isFollowed, setFollowed] = useState(false);
  useKeys({ l: () => setFollowed(!isFollowed) });
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  useTitle(found.data ? `${found.data.workflow} ${found.data.correlation_id ?? ""}` : en.nav.executions);
  const show = (search: { tab?: string; node?: string; rewind?: string }) =>
    navigate({ to: "/executions/$id", params: { id }, search });
  const keep = tab === "events" ? {} : { tab };
  const canvas = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // React Flow selects a node by Enter; here that opens it.
    const onKey = (event: KeyboardEvent) => {
      const at = event.target instanceof HTMLElement ? event.target.closest<HTMLElement>(".react-flow__node") : null;
      if (event.key === "Enter" && at?.dataset.id)
        void navigate({ to: "/executions/$id", params: { id }, search: { node: at.dataset.id } });
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
        {permissions.includes("execution:cancel") && <Acts execution={one} isHeld={isHeld} />}
      </div>
      <p className="stands">
        <Standing execution={one} isHeld={isHeld} />{" "}
        <bdi>{one.error?.message ?? ended(one) ?? words.stands[one.status] ?? inWords(why.data?.summary ?? "")}</bdi>{" "}
        {one.waiting_on.some((wait) => wait.for && (wait.kind === "approval" || wait.kind === "form")) && (
          <Link to="/" search={{ point: one.waiting_on.find((wait) => wait.for)!.for! }} className="button main">
            {en.inbox.decide}
          </Link>
        )}
      </p>
      {found.error && <Refused error={found.error} />}
      <div className="split">
        <section className="sheet canvas" aria-label={words.graph} ref={canvas}>
          {graph.data ? (
            <Graph graph={graph.data} open={(to) => void show({ ...keep, node: to })} follow={isFollowed} />
          ) : graph.error ? (
            <Refused error={graph.error} />
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
          close={() => void show(keep)}
        />
      )}
    </>
  );
}

const GAP = 60_000; // a longer rest is folded

/** How it ended, if its workflow says so: "refused: too late". */
function ended(execution: Schemas["Execution"]): string | undefined {
  if (execution.status !== "completed" || !execution.outcome || execution.outcome === "executed") return undefined;
  return execution.outcome_reason ? `${execution.outcome}: ${execution.outcome_reason}` : execution.outcome;
}

/** `paused` is two things: a person is waited for, or an operator has paused it. */
function Standing({ execution, isHeld }: { execution: Schemas["Execution"]; isHeld: boolean }) {
  if (execution.status !== "paused") return <Status value={execution.status} />;
  const isPerson = execution.waiting_on.some((wait) => wait.kind === "approval" || wait.kind === "form");
  return isPerson && !isHeld ? <Status value="person" /> : <Status value="held" text={en.status.paused!} />;
}

/** How far the calls that run now have come, as they report it. */
function Reports({ progress }: { progress: ReadonlyMap<string, Progress> }) {
  return [...progress.values()].slice(0, 20).map((one) => (
    <p className="report" key={one.context_id}>
      <bdi>{nodeOf(one.context_id)}</bdi>
      <progress {...(one.total ? { max: one.total, value: one.done } : {})} aria-label={nodeOf(one.context_id)} />
      <bdi className="soft">{one.text}</bdi>
    </p>
  ));
}

function Timeline({ events, earlier }: { events: readonly Event[]; earlier: (() => Promise<void>) | undefined }) {
  const [most, setMost] = useState(300);
  const shown = events.flatMap((event) => {
    const told = sentence(event);
    return told ? [{ event, told }] : [];
  });
  const newest = shown.slice(-most).reverse();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <ol className="feed" tabIndex={0} aria-label={words.events}>
        {newest.map(({ event, told }, i) => {
          const before = newest[i + 1]?.event;
          const gap = before ? Date.parse(event.at) - Date.parse(before.at) : 0;
          const newDay = i === 0 || day(event.at) !== day(newest[i - 1]!.event.at);
          return (
            <li key={event.seq}>
              {newDay && <span className="day">{day(event.at)}</span>}
              <span className="line">
                <time className="soft" dateTime={event.at}>
                  {clock(event.at)}
                </time>
                <Glyph value={told.glyph} />
                <bdi>{told.text}</bdi>
              </span>
              {gap > GAP && <span className="gap">— {words.gap(length(gap))} —</span>}
            </li>
          );
        })}
        {(shown.length > most || earlier) && (
          <li>
            <button
              type="button"
              className="quiet"
              onClick={() => {
                setMost(most + 300);
                if (shown.length <= most + 300) void earlier?.();
              }}
            >
              {acts.earlier}
            </button>
          </li>
        )}
      </ol>
    </>
  );
}

function Children({ execution }: { execution: Schemas["Execution"] }) {
  const { id } = execution;
  const now = useNow();
  const found = useQuery({
    queryKey: ["execution", id, "children"],
    queryFn: () => take(client.GET("/api/v1/executions", { params: { query: { parent_id: id, limit: 100 } } })),
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} />;
  if (found.data.items.length === 0) return <p className="panel soft">{words.noChildren}</p>;
  return (
    <>
      <ChildGraph execution={execution} executions={found.data.items} />
      <ul className="panel plain">
        {found.data.items.map((one) => (
          <li key={one.id}>
            <Link to="/executions/$id" params={{ id: one.id }} search={{}}>
              <Status value={one.status} /> <bdi>{one.workflow}</bdi> <Time at={one.created_at} now={now} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function Logs({ id }: { id: string }) {
  const found = useQuery({
    queryKey: ["execution", id, "logs"],
    queryFn: () => take(client.GET("/api/v1/executions/{id}/logs", { params: { path: { id } } })),
    refetchInterval: 10_000,
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} />;
  if (found.data.items.length === 0) return <p className="panel soft">{words.noLogs}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <pre className="panel logs" tabIndex={0} role="region" aria-label={words.logs}>
      {found.data.items.map((line) => `${clock(line.at)} ${line.level} ${line.text}`).join("\n")}
    </pre>
  );
}

function Acts({ execution, isHeld }: { execution: Schemas["Execution"]; isHeld: boolean }) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState<"" | "cancel" | "retry">("");
  const [reason, setReason] = useState("");
  const isOver = ["completed", "failed", "cancelled"].includes(execution.status);
  const act = useMutation({
    mutationFn: (what: "pause" | "resume" | "cancel") => {
      const params = { path: { id: execution.id }, header: key() };
      const body = (what === "cancel" && reason ? { reason } : {}) as never;
      if (what === "pause") return take(client.POST("/api/v1/executions/{id}/pause", { params, body }));
      if (what === "resume") return take(client.POST("/api/v1/executions/{id}/resume", { params, body }));
      return take(client.POST("/api/v1/executions/{id}/cancel", { params, body }));
    },
    onSuccess: () => setAsking(""),
    onSettled: () => queries.invalidateQueries({ queryKey: ["execution", execution.id] }),
  });
  useKeys({ p: () => !isOver && act.mutate(isHeld ? "resume" : "pause") });
  return (
    <div className="acts">
      {!isOver && (
        <>
          <button
            type="button"
            className={isHeld ? "main" : ""}
            onClick={() => act.mutate(isHeld ? "resume" : "pause")}
            disabled={act.isPending}
          >
            {isHeld ? words.resume : words.pause}
          </button>
          <button type="button" onClick={() => setAsking("cancel")}>
            {words.cancel}
          </button>
        </>
      )}
      {execution.status === "failed" && (
        <button type="button" className="main" onClick={() => setAsking("retry")}>
          {words.retry}
        </button>
      )}
      {act.error && !asking && <Refused error={act.error} />}
      {asking === "retry" && <PlanDialog id={execution.id} close={() => setAsking("")} />}
      {asking === "cancel" && (
        <Dialog title={words.cancelTitle} close={() => setAsking("")}>
          <p>{words.cancelText}</p>
          <div className="field">
            <label htmlFor="reason">{words.reason}</label>
            <input id="reason" value={reason} onChange={(e) => setReason(e.target.value)} />
          </div>
          {act.error && <Refused error={act.error} />}
          <div className="acts">
            <button type="button" className="bad" onClick={() => act.mutate("cancel")}>
              {words.cancel.replace(" …", "")}
            </button>
            <button type="button" onClick={() => setAsking("")}>
              {en.close}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
