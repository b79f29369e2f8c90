/** A dry run of the text as it is: what is given to it, and what it would do. */
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { FormFields } from "../forms/Form";
import { dataOf, fieldsOf, type Typed, typedOf } from "../forms/subset";
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
  schema: unknown; // of the input
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
  const change = (name: keyof Given, text: string) => {
    setGiven({ ...given, [name]: text });
    setWrong({ ...wrong, [name]: undefined });
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
      <InputForm schema={props.schema} json={given.input} change={(text) => change("input", text)} />
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
            onChange={(event) => change(name, event.target.value)}
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

/** The input as the form that its schema makes: it writes the JSON below it, and shows what is written there. */
function InputForm({ schema, json, change }: { schema: unknown; json: string; change: (json: string) => void }) {
  const [typed, setTyped] = useState<{ typed: Typed; json: string }>(); // what no JSON says, such as half a number
  const fields = fieldsOf(schema) ?? [];
  if (fields.length === 0) return null;
  const data = readObject(json);
  if (data === null) return null; // only the text itself can be mended
  const shown = { ...typedOf(fields, data), ...(typed?.json === json ? typed.typed : {}) };
  const { wrong } = dataOf(fields, shown);
  return (
    <fieldset className="of-input">
      <legend>{words.inputForm}</legend>
      <FormFields
        fields={fields}
        typed={shown}
        wrong={Object.fromEntries(Object.entries(wrong).filter(([, what]) => what !== "required"))}
        change={(next) => {
          const others = Object.entries(data).filter(([name]) => !fields.some((one) => one.name === name));
          const text = JSON.stringify({ ...Object.fromEntries(others), ...dataOf(fields, next).data });
          setTyped({ typed: next, json: text });
          change(text);
        }}
      />
    </fieldset>
  );
}

function readObject(json: string): Record<string, unknown> | null {
  try {
    const data: unknown = JSON.parse(json || "{}");
    return typeof data === "object" && data !== null && !Array.isArray(data) ? { ...data } : null;
  } catch {
    return null;
  }
}
