/** A definition as text: checked while it is typed, drawn, tried out, and saved as a new version once its changes are seen. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { CodeEditor, type EditorHandle } from "../editor/CodeEditor";
import { DryRun } from "../editor/DryRun";
import { SaveDialog } from "../editor/SaveDialog";
import { useCheck } from "../editor/useCheck";
import { Graph } from "../graph/Graph";
import { drawRun, shapeNumber } from "../graph/overlay";
import { readDraft, writeDraft } from "../lib/drafts";
import { useKeys } from "../lib/keys";
import { Dialog, Loading, Refused, useTitle } from "../parts/Frame";
import { en } from "../words/en";
import { editorWords as words } from "../words/workflow";
import { sourceQuery } from "./workflow/queries";

/** A first text that can be saved as it is. */
const EXAMPLE = `name: my-workflow
description: What it is for, in one sentence.
nodes:
  - id: review
    type: approval
    title: May it go on?
    deadline: 48h
    on_deadline: reject
    next: done
  - id: done
    type: end
`;

interface Draft {
  text: string;
  base: number; // the version that it began with; 0: none
  seen?: string; // when the text that it began with was written
}

export function EditWorkflow() {
  const { name } = useParams({ from: "/workflows/$name/edit" });
  const found = useQuery({ ...sourceQuery(name), refetchOnWindowFocus: false });
  if (!found.data)
    return (
      <>
        <h1>
          <bdi>{words.title(name)}</bdi>
        </h1>
        {found.error ? <Refused error={found.error} retry={() => void found.refetch()} /> : <Loading />}
      </>
    );
  const { text, version: base, changed_at: seen } = found.data;
  return <Editor key={name} name={name} stored={{ text, base, seen }} isWritten={found.data.as_written} />;
}

export function NewWorkflow() {
  return <Editor name="" stored={{ text: EXAMPLE, base: 0 }} isWritten />;
}

function Editor({ name, stored, isWritten }: { name: string; stored: Draft; isWritten: boolean }) {
  const navigate = useNavigate();
  const isNew = stored.base === 0;
  const place = isNew ? "new" : `edit.${name}`;
  const [typed, setTyped] = useState<Draft | undefined>(() => readDraft<Draft>(place));
  const draft = typed ?? stored; // what nobody has typed in follows what is stored
  const [tab, setTab] = useState<"graph" | "run">("graph");
  const [asking, setAsking] = useState<"" | "save" | "discard">("");
  const [run, setRun] = useState<Schemas["DryRun"] | null>(null);
  const editor = useRef<EditorHandle>(null);
  const isChanged = draft.text !== stored.text;
  const { text: checkedText, found, error, again } = useCheck(draft.text);
  const title = isNew ? words.newTitle : words.title(name);
  useTitle(title);
  useEffect(() => {
    // What is kept in this tab is lost with it.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    if (isChanged) window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isChanged]);
  const forget = () => {
    writeDraft(place, undefined);
    setTyped(undefined);
  };
  const change = (text: string) => {
    if (text === draft.text) return; // the editor has taken over what was stored meanwhile
    setRun(null);
    if (text === stored.text) return forget();
    const next = { ...draft, text };
    setTyped(next);
    writeDraft(place, next);
  };
  const problems = useMemo(() => found?.problems ?? [], [found]);
  const errors = problems.filter((one) => one.severity !== "warning").length;
  const isCurrent = checkedText === draft.text;
  const [graph, setGraph] = useState<Schemas["Graph"] | null>(null);
  const [schema, setSchema] = useState<unknown>();
  useEffect(() => {
    if (!found?.graph) return; // the last sound text is drawn
    setGraph({ ...found.graph, version: shapeNumber(found.graph) });
    setSchema(found.input);
  }, [found]);
  const drawn = useMemo(() => (graph && run ? drawRun(graph, run) : graph), [graph, run]);
  const own = found?.graph?.workflow ?? "";
  const maySave = isChanged && isCurrent && errors === 0 && found !== null && (isNew || own === name);
  useKeys({ "ctrl s": () => maySave && setAsking("save") });
  return (
    <>
      <p className="crumbs soft">
        <Link to="/workflows">{en.workflows.title}</Link>
        {!isNew && (
          <>
            {" / "}
            <Link to="/workflows/$name" params={{ name }} search={{}}>
              <bdi>{name}</bdi>
            </Link>
          </>
        )}
      </p>
      <div className="head-line">
        <h1>
          <bdi>{title}</bdi> <span className="soft version">{en.execution.version(draft.base)}</span>
        </h1>
        <div className="acts">
          {isChanged && (
            <button type="button" onClick={() => setAsking("discard")}>
              {words.discard}
            </button>
          )}
          <button type="button" className="main" disabled={!maySave} onClick={() => setAsking("save")}>
            {words.save}
          </button>
        </div>
      </div>
      <p className="soft">{isChanged ? words.kept : isWritten ? words.unchanged : words.fromProgram}</p>
      <div className="split edit-split">
        <section className="sheet edit-sheet" aria-label={words.text}>
          <CodeEditor handle={editor} text={draft.text} change={change} problems={problems} label={words.text} />
          <div className="problems" role="region" aria-label={words.problems}>
            <p role="status" className={errors > 0 ? "wrong" : "soft"}>
              {!isCurrent
                ? error === null
                  ? words.checking
                  : words.unchecked
                : problems.length === 0
                  ? words.fine
                  : words.found(errors, problems.length - errors)}
            </p>
            {error !== null && <Refused error={error} retry={again} />}
            {!isNew && isCurrent && own !== "" && own !== name && <p className="wrong">{words.otherName(name, own)}</p>}
            <ul>
              {problems.map((one) => (
                <li key={`${one.path} ${one.code} ${one.line}`}>
                  <button type="button" className="quiet" onClick={() => editor.current?.goTo(one)}>
                    <span className={one.severity === "warning" ? "s-waiting strong" : "s-failed strong"}>
                      {words.severity[one.severity ?? "error"]}
                    </span>
                    <bdi>{one.message}</bdi>
                    {one.line && <span className="soft">{words.at(one.line, one.column)}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        </section>
        <section className="sheet side-sheet" aria-label={words.preview}>
          <div className="tabs" role="group" aria-label={words.preview}>
            {(["graph", "run"] as const).map((which) => (
              <button type="button" key={which} aria-pressed={tab === which} onClick={() => setTab(which)}>
                {words.tabs[which]}
              </button>
            ))}
          </div>
          <div className="canvas preview-canvas">
            {drawn ? (
              <Graph key={tab} graph={drawn} plain={run === null} />
            ) : (
              <p className="soft panel">{words.noPreview}</p>
            )}
          </div>
          {graph && errors > 0 && <p className="soft feed-state">{words.stalePreview}</p>}
          {tab === "run" && <DryRun name={place} text={draft.text} schema={schema} run={run} done={setRun} />}
        </section>
      </div>
      {asking === "discard" && (
        <Dialog title={words.discardTitle} close={() => setAsking("")}>
          <p>{words.discardText}</p>
          <div className="acts">
            <button
              type="button"
              className="bad"
              onClick={() => {
                forget();
                setRun(null);
                setAsking("");
              }}
            >
              {words.discardDo}
            </button>
            <button type="button" onClick={() => setAsking("")}>
              {en.cancel}
            </button>
          </div>
        </Dialog>
      )}
      {asking === "save" && found?.graph && (
        <SaveDialog
          name={own}
          text={draft.text}
          graph={found.graph}
          isNew={isNew}
          base={draft.base}
          seen={draft.seen ?? stored.seen ?? ""}
          close={() => setAsking("")}
          saved={(one) => {
            forget();
            void navigate({ to: "/workflows/$name", params: { name: one.name }, search: { tab: "versions" } });
          }}
        />
      )}
    </>
  );
}
