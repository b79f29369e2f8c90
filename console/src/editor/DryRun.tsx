/** A dry run of the text as it is: what is given to it, and what it would do. */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { useDraft } from "../lib/drafts";
import { Data, Refused } from "../parts/Frame";
import { Status } from "../parts/Status";
import { en } from "../words/en";
import { editorWords as words } from "../words/workflow";

const FIELDS = ["input", "answers", "outputs"] as const;
type Given = Record<(typeof FIELDS)[number], string>;

export function DryRun(props: {
  name: string;
  text: string;
  run: Schemas["DryRun"] | null;
  done: (run: Schemas["DryRun"]) => void;
}) {
  const [given, setGiven] = useDraft<Given>(`dry.${props.name}`, { input: "{}", answers: "{}", outputs: "{}" });
  const form = useRef<HTMLFormElement>(null);
  const [wrong, setWrong] = useState<Partial<Given>>({});
  const run = useMutation({
    mutationFn: (body: Record<string, unknown>) =>
      take(client.POST("/api/v1/workflows/dry-run", { body: { ...body, definition: props.text } as never })),
    onSuccess: (played) => {
      props.done(played);
      form.current?.scrollTo(0, 0); // where the result stands
    },
  });
  const send = () => {
    const body: Record<string, unknown> = {};
    const missed: Partial<Given> = {};
    for (const name of FIELDS)
      try {
        body[name] = JSON.parse(given[name] || (name === "input" ? "null" : "{}"));
      } catch {
        missed[name] = en.form.notJson;
      }
    setWrong(missed);
    if (Object.keys(missed).length === 0) run.mutate(body);
  };
  const played = props.run;
  const waits = (played?.waiting_on ?? []).map((one) => one.context_id.split(":")[0]).join(", ");
  return (
    <form
      ref={form}
      className="panel"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <p className="soft">{words.runHint}</p>
      {played && (
        <div role="status" className="played">
          <h2>{words.played}</h2>
          <p>
            <Status value={played.status} /> <bdi>{waits ? words.stands(waits) : (played.error?.message ?? "")}</bdi>
          </p>
          {played.output !== null && played.output !== undefined && <Data label={words.result} value={played.output} />}
        </div>
      )}
      {FIELDS.map((name) => (
        <div className="field" key={name}>
          <label htmlFor={`dry-${name}`}>{words[name]}</label>
          <textarea
            id={`dry-${name}`}
            className="mono"
            rows={2}
            spellCheck={false}
            value={given[name]}
            aria-invalid={wrong[name] !== undefined}
            onChange={(event) => setGiven({ ...given, [name]: event.target.value })}
          />
          {wrong[name] && <p className="wrong">{wrong[name]}</p>}
        </div>
      ))}
      <div className="acts">
        <button type="submit" className="main" disabled={run.isPending}>
          {words.run}
        </button>
      </div>
      {run.error && <Refused error={run.error} />}
    </form>
  );
}
