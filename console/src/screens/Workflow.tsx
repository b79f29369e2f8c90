/** One workflow: its graph, its definition, its versions, what starts it, and a form to start it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { client, key, take } from "../api/client";
import { sessionQuery, workflowQuery } from "../api/queries";
import { FormFields } from "../forms/Form";
import { dataOf, fieldsOf, type Typed } from "../forms/subset";
import { Graph } from "../graph/Graph";
import { useDraft } from "../lib/drafts";
import { moment } from "../lib/time";
import { Data, Dialog, Loading, Refused, useTitle } from "../parts/Frame";
import { en } from "../words/en";

const words = en.workflows;

export function Workflow() {
  const { name } = useParams({ from: "/workflows/$name" });
  const { start } = useSearch({ from: "/workflows/$name" });
  useTitle(name);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const path = { params: { path: { name } } };
  const found = useQuery(workflowQuery(name));
  const graph = useQuery({
    queryKey: ["workflow", name, "graph"],
    queryFn: () => take(client.GET("/api/v1/workflows/{name}/graph", path)),
  });
  const versions = useQuery({
    queryKey: ["workflow", name, "versions"],
    queryFn: () => take(client.GET("/api/v1/workflows/{name}/versions", path)),
  });
  const triggers = useQuery({
    queryKey: ["workflow", name, "triggers"],
    queryFn: () => take(client.GET("/api/v1/triggers", { params: { query: { workflow: name } } })),
  });
  const permissions = useQuery(sessionQuery).data?.permissions ?? [];
  const [pausing, setPausing] = useState(false);
  const turn = useMutation({
    mutationFn: (what: "pause" | "resume") =>
      what === "pause"
        ? take(
            client.POST("/api/v1/workflows/{name}/pause", {
              params: { path: { name }, header: key() },
              body: {} as never,
            }),
          )
        : take(
            client.POST("/api/v1/workflows/{name}/resume", {
              params: { path: { name }, header: key() },
              body: {} as never,
            }),
          ),
    onSuccess: () => {
      setPausing(false);
      void queries.invalidateQueries({ queryKey: ["workflow", name] });
    },
  });
  const close = () => navigate({ to: "/workflows/$name", params: { name }, search: {} });
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} retry={() => void found.refetch()} />;
  const one = found.data;
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
          {permissions.includes("workflow:write") &&
            (one.state === "paused" ? (
              <button type="button" onClick={() => turn.mutate("resume")}>
                {words.resume}
              </button>
            ) : (
              <button type="button" onClick={() => setPausing(true)}>
                {words.pause}
              </button>
            ))}
          {permissions.includes("execution:start") && (
            <Link to="/workflows/$name" params={{ name }} search={{ start: "1" }} className="button main">
              {words.start}
            </Link>
          )}
        </div>
      </div>
      <p className="soft ask-facts">
        <span className={`state-${one.state}`}>{words.state[one.state]}</span>
        {one.description && <bdi>{one.description}</bdi>}
        <Link to="/executions" search={{ q: `workflow:${name}` }}>
          {words.see}
        </Link>
      </p>
      {turn.error && <Refused error={turn.error} />}
      <div className="split">
        <section className="sheet canvas" aria-label={en.execution.graph}>
          {graph.data ? (
            <Graph graph={graph.data as never} />
          ) : graph.error ? (
            <Refused error={graph.error} />
          ) : (
            <Loading />
          )}
        </section>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
        <section className="sheet side-sheet panel" tabIndex={0} aria-label={name}>
          <h2>{words.triggers}</h2>
          {triggers.data?.items.length === 0 && <p className="soft">{words.noTriggers}</p>}
          {triggers.data?.items.map((trigger) => (
            <p key={trigger.id}>
              <bdi>{trigger.name}</bdi> <span className="soft">{trigger.type}</span>{" "}
              {trigger.next_at && words.next(moment(trigger.next_at))}
            </p>
          ))}
          <h2>{words.versions}</h2>
          {versions.data?.items.map((version) => (
            <p key={version.version}>
              {en.execution.version(version.version)} <span className="soft">{moment(version.created_at)}</span>
            </p>
          ))}
          <Data label={words.definition} value={one.definition} />
        </section>
      </div>
      {pausing && (
        <Dialog title={words.pause.replace(" …", "")} close={() => setPausing(false)}>
          <p>{words.pauseText}</p>
          <div className="acts">
            <button type="button" className="main" onClick={() => turn.mutate("pause")}>
              {words.pause.replace(" …", "")}
            </button>
            <button type="button" onClick={() => setPausing(false)}>
              {en.cancel}
            </button>
          </div>
        </Dialog>
      )}
      {start && (
        <Start
          name={name}
          schema={(one.definition as { input?: unknown } | null | undefined)?.input}
          close={() => void close()}
        />
      )}
    </>
  );
}

function Start({ name, schema, close }: { name: string; schema: unknown; close: () => void }) {
  const navigate = useNavigate();
  const fields = fieldsOf(schema);
  const [draft, setDraft, clear] = useDraft<{ typed: Typed; json: string }>(`start.${name}`, { typed: {}, json: "{}" });
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const start = useMutation({
    mutationFn: (input: unknown) =>
      take(client.POST("/api/v1/executions", { params: { header: key() }, body: { workflow: name, input } as never })),
    onSuccess: (made) => {
      clear();
      void navigate({ to: "/executions/$id", params: { id: made.id }, search: {} });
    },
  });
  const send = () => {
    if (fields !== null) {
      const read = dataOf(fields, draft.typed);
      setWrong(read.wrong);
      if (Object.keys(read.wrong).length === 0) start.mutate(read.data);
      return;
    }
    try {
      setWrong({});
      start.mutate(JSON.parse(draft.json || "null"));
    } catch {
      setWrong({ json: en.form.notJson });
    }
  };
  return (
    <Dialog title={words.startTitle(name)} close={close}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {fields !== null ? (
          <FormFields
            fields={fields}
            typed={draft.typed}
            wrong={wrong}
            change={(typed) => setDraft({ ...draft, typed })}
          />
        ) : (
          <div className="field">
            <label htmlFor="input">{words.input}</label>
            <textarea
              id="input"
              className="mono"
              rows={6}
              value={draft.json}
              onChange={(e) => setDraft({ ...draft, json: e.target.value })}
            />
            {wrong.json && <p className="wrong">{wrong.json}</p>}
          </div>
        )}
        {start.error && <Refused error={start.error} />}
        <div className="acts">
          <button type="submit" className="main" disabled={start.isPending}>
            {words.start}
          </button>
          <button type="button" onClick={close}>
            {en.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
