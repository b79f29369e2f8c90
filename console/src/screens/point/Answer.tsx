/** The form of a question: what is typed is a draft until it is sent, and what is wrong with it stands beside it. */
import { useImperativeHandle, useRef, useState } from "react";
import { Problem, type Schemas } from "../../api/client";
import type { Decide } from "../../api/point_acts";
import { FormFields } from "../../forms/Form";
import { dataOf, fieldsOf, type Typed } from "../../forms/subset";
import { en } from "../../words/en";
import { point as pointWords } from "../../words/point";

type PausePoint = Schemas["PausePoint"];
const words = en.inbox;

export interface Draft {
  typed: Typed;
  json: string;
  comment: string;
}
export const EMPTY: Draft = { typed: {}, json: "", comment: "" };
export interface Leads {
  toApprove: () => void;
  toReject: () => void;
}

export function Answer(props: {
  point: PausePoint;
  draft: Draft;
  change: (draft: Draft) => void;
  decide: (what: Decide) => void;
  isSending: boolean;
  refused: unknown; // what the server said of the last try
  ref: React.Ref<Leads>;
  children: React.ReactNode; // what can be done instead
}) {
  const { point, draft, change, isSending } = props;
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const isApproval = point.kind === "approval";
  const fields = point.schema === null || point.schema === undefined ? [] : fieldsOf(point.schema);
  const approve = useRef<HTMLButtonElement>(null);
  const comment = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const refuse = (problems: Record<string, string>) => {
    setWrong(problems);
    if (problems.comment) comment.current?.focus();
    // The first field that is wrong has the focus, once it is marked.
    else window.requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  useImperativeHandle(props.ref, () => ({
    toApprove: () => approve.current?.focus(),
    toReject: () => {
      setWrong({ comment: words.needsComment });
      comment.current?.focus();
    },
  }));
  const decide = (act: Decide["act"]) => {
    if (!draft.comment.trim() && act === "reject") return refuse({ comment: words.needsComment });
    if (!draft.comment.trim() && point.comment_required) return refuse({ comment: pointWords.needsComment });
    let data: unknown;
    let problems: Record<string, string> = {};
    if (fields === null) {
      try {
        data = draft.json.trim() ? JSON.parse(draft.json) : undefined;
      } catch {
        problems = { json: "json" };
      }
    } else if (fields.length > 0) ({ data, wrong: problems } = dataOf(fields, draft.typed));
    if (Object.keys(problems).length > 0) return refuse(problems);
    setWrong({});
    props.decide({ act, data, comment: draft.comment.trim() });
  };
  const shown = { ...refusedFields(props.refused, fields?.map((one) => one.name) ?? []), ...wrong };
  return (
    <form
      className="answer"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        decide(isApproval ? "approve" : "answer");
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isApproval) decide("answer");
      }}
      noValidate
    >
      {fields !== null && (
        <FormFields fields={fields} typed={draft.typed} wrong={shown} change={(typed) => change({ ...draft, typed })} />
      )}
      {fields === null && (
        <div className="field">
          <label htmlFor="json">{en.form.json}</label>
          <textarea
            id="json"
            className="mono"
            rows={6}
            value={draft.json}
            aria-invalid={!!shown.json}
            onChange={(e) => change({ ...draft, json: e.target.value })}
          />
          {shown.json && <p className="wrong">{en.form.notJson}</p>}
        </div>
      )}
      <div className="field">
        <label htmlFor="comment">{point.comment_required ? pointWords.commentRequired : words.comment}</label>
        <textarea
          id="comment"
          ref={comment}
          rows={2}
          value={draft.comment}
          aria-required={point.comment_required}
          aria-invalid={!!shown.comment}
          aria-describedby={shown.comment ? "comment-wrong" : undefined}
          onChange={(e) => change({ ...draft, comment: e.target.value })}
        />
        {shown.comment && (
          <p className="wrong" role="alert" id="comment-wrong">
            {shown.comment}
          </p>
        )}
      </div>
      <div className="acts">
        {isApproval ? (
          <>
            <button type="submit" className="main" disabled={isSending} ref={approve}>
              {words.approve}
            </button>
            <button type="button" className="bad" disabled={isSending} onClick={() => decide("reject")}>
              {words.reject}
            </button>
          </>
        ) : (
          <button type="submit" className="main" disabled={isSending}>
            {words.answer}
          </button>
        )}
        <span className="grow" />
        {props.children}
      </div>
    </form>
  );
}

/** What the server found wrong, by the fields of the form: `data.memory` is the field `memory`. */
export function refusedFields(error: unknown, names: readonly string[]): Record<string, string> {
  if (!(error instanceof Problem) || error.status !== 422) return {};
  const found: Record<string, string> = {};
  for (const { path = "", message = "" } of error.errors) {
    const name = names.find((one) => path.split(/[.[\]/]+/).includes(one));
    if (name && message) found[name] ??= message;
  }
  return found;
}
