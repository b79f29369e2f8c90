/** One workflow: its graph or its text, where executions rest, its versions and triggers, its switches, a start form. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { sessionQuery, workflowQuery } from "../api/queries";
import { Graph } from "../graph/Graph";
import { drawResting } from "../graph/overlay";
import { readDraft } from "../lib/drafts";
import { Loading, Refused, useTitle } from "../parts/Frame";
import { en } from "../words/en";
import { workflowWords } from "../words/workflow";
import { BatchProgress } from "./Batch";
import { Breakpoints } from "./workflow/Breakpoints";
import { Move } from "./workflow/Move";
import { restingQuery, versionGraphQuery } from "./workflow/queries";
import { Resting } from "./workflow/Resting";
import { SourceText } from "./workflow/SourceText";
import { Start } from "./workflow/Start";
import { Switches } from "./workflow/Switches";
import { Triggers } from "./workflow/Triggers";
import { VersionDiff, Versions } from "./workflow/Versions";

const words = en.workflows;
const TABS = ["now", "versions", "triggers"];

/** A version as addresses have it, such as v2. */
function versionOf(text: string | undefined): number | undefined {
  return Number.parseInt(text?.replace(/^v/, "") ?? "", 10) || undefined;
}

export function Workflow() {
  const { name } = useParams({ from: "/workflows/$name" });
  const search = useSearch({ from: "/workflows/$name" });
  const { start, tab = "now", view = "graph", diff, move, batch } = search;
  const asked = versionOf(search.version); // else the newest
  useTitle(name);
  const navigate = useNavigate();
  const found = useQuery(workflowQuery(name));
  const graph = useQuery(versionGraphQuery(name, asked));
  const resting = useQuery(restingQuery(name));
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  const marks = useMemo(() => drawResting(resting.data?.nodes ?? [], workflowWords.here), [resting.data]);
  const kept = {
    ...(tab === "now" ? {} : { tab }),
    ...(view === "graph" ? {} : { view }),
    ...(asked ? { version: `v${asked}` } : {}),
  };
  const show = (search: Record<string, string | undefined>) =>
    void navigate({ to: "/workflows/$name", params: { name }, search: { ...kept, ...search } });
  if (!found.data)
    return (
      <>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        {found.isPending ? <Loading /> : <Refused error={found.error} retry={() => void found.refetch()} />}
      </>
    );
  const one = found.data;
  const mayWrite = permissions.includes("workflow:write");
  return (
    <>
      <p className="crumbs soft">
        <Link to="/workflows">{words.title}</Link>
      </p>
      <div className="head-line">
        <h1>
          <bdi>{name}</bdi> <span className="soft version">{en.execution.version(one.version)}</span>
        </h1>
        <div className="acts">
          {mayWrite && (
            <>
              <Switches workflow={one} />
              <Link to="/workflows/$name/edit" params={{ name }} search={{}} className="button">
                {workflowWords.edit}
              </Link>
            </>
          )}
          {permissions.includes("execution:start") && (
            <Link to="/workflows/$name" params={{ name }} search={{ ...kept, start: "1" }} className="button main">
              {words.start}
            </Link>
          )}
        </div>
      </div>
      <p className="soft ask-facts">
        <span className={`state-${one.state}`}>{words.state[one.state]}</span>
        {one.state_reason && <bdi>{one.state_reason}</bdi>}
        {one.description && <bdi>{one.description}</bdi>}
        <Link to="/executions" search={{ q: `workflow:${name}` }}>
          {words.see}
        </Link>
      </p>
      {found.error && <Refused error={found.error} />}
      <Breakpoints workflow={one} may={mayWrite} />
      {mayWrite && readDraft(`edit.${name}`) !== undefined && (
        <p className="notice">
          {workflowWords.draft}{" "}
          <Link to="/workflows/$name/edit" params={{ name }} search={{}}>
            {workflowWords.draftGo}
          </Link>
        </p>
      )}
      <div className="split">
        <section className="sheet canvas viewed" aria-label={en.execution.graph}>
          <div className="tabs" role="group" aria-label={words.definition}>
            {(["graph", "yaml"] as const).map((which) => (
              <button type="button" key={which} aria-pressed={view === which} onClick={() => show({ view: which })}>
                {workflowWords.views[which]}
              </button>
            ))}
            {asked !== undefined && asked !== one.version && (
              <span className="of-version">
                {workflowWords.version(asked)}
                <button type="button" className="quiet" onClick={() => show({ version: undefined })}>
                  {workflowWords.toNewest}
                </button>
              </span>
            )}
          </div>
          {view === "yaml" ? (
            <SourceText name={name} {...(asked ? { version: asked } : {})} />
          ) : graph.data ? (
            <div className="grow">
              <Graph graph={graph.data} {...(asked === undefined || asked === one.version ? { marks } : {})} plain />
            </div>
          ) : graph.error ? (
            <Refused error={graph.error} retry={() => void graph.refetch()} />
          ) : (
            <Loading />
          )}
        </section>
        <section className="sheet side-sheet" aria-label={name}>
          <div className="tabs" role="group" aria-label={workflowWords.sections}>
            {TABS.map((which) => (
              <button type="button" key={which} aria-pressed={tab === which} onClick={() => show({ tab: which })}>
                {workflowWords.tabs[which]}
              </button>
            ))}
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
          <div className="panel" tabIndex={0} role="region" aria-label={workflowWords.tabs[tab]}>
            {tab === "versions" ? (
              <Versions
                name={name}
                read={(version) => show({ view: "yaml", version: `v${version}` })}
                move={permissions.includes("execution:cancel") ? (version) => show({ move: `v${version}` }) : undefined}
              />
            ) : tab === "triggers" ? (
              <Triggers name={name} />
            ) : resting.data ? (
              <Resting resting={resting.data} />
            ) : resting.error ? (
              <Refused error={resting.error} retry={() => void resting.refetch()} />
            ) : (
              <Loading />
            )}
          </div>
        </section>
      </div>
      {move && (
        <Move
          name={name}
          version={versionOf(move) ?? one.version}
          choose={(version) => show({ move: `v${version}` })}
          close={() => show({})}
          begun={(id) => show({ batch: id })}
        />
      )}
      {batch && <BatchProgress id={batch} close={() => show({})} />}
      {diff && <VersionDiff name={name} diff={diff} close={() => show({})} />}
      {start && (
        <Start
          name={name}
          schema={(one.definition as { input?: unknown } | null | undefined)?.input}
          close={() => show({})}
        />
      )}
    </>
  );
}
