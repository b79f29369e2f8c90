/** A form to start an execution, made from the schema of the input. What was typed stays until it has started. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, key, take } from "../../api/client";
import { FormFields } from "../../forms/Form";
import { dataOf, fieldsOf, type Typed } from "../../forms/subset";
import { useDraft } from "../../lib/drafts";
import { Dialog, Refused } from "../../parts/Frame";
import { en } from "../../words/en";

const words = en.workflows;

export function Start({ name, schema, close }: { name: string; schema: unknown; close: () => void }) {
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
