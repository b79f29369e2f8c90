/** Several questions of one workflow, node and form: what differs in a table, one confirmation, and what was refused. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Problem, type Schemas } from "../api/client";
import { type Decide, send } from "../api/point_acts";
import { FormFields } from "../forms/Form";
import { dataOf, fieldsOf, type Typed } from "../forms/subset";
import { type Outcome, sendAll } from "../lib/parallel";
import { differences } from "../lib/together";
import { Dialog } from "../parts/Frame";
import { Long } from "../parts/Long";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { point as pointWords } from "../words/point";
import { titleOf } from "./point/facts";

type PausePoint = Schemas["PausePoint"];
const words = acts.together;

function reason(error: unknown): string {
  if (error instanceof Problem) return error.status === 0 ? en.unreachable : error.message;
  return String(error);
}

export function Together({ points, close }: { points: readonly PausePoint[]; close: (done: boolean) => void }) {
  // What was shown is what is decided on: later readings of the list change nothing here.
  const [shown] = useState(points);
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Typed>({});
  const [json, setJson] = useState("");
  const [comment, setComment] = useState("");
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [through, setThrough] = useState(0);
  const first = shown[0]!;
  const isApproval = first.kind === "approval";
  const isAsked = shown.some((point) => point.comment_required); // for a comment
  const fields = first.schema === null || first.schema === undefined ? [] : fieldsOf(first.schema);
  const { same, names, rows } = differences(shown, pointWords.ports);
  const all = useMutation({
    mutationFn: (what: Decide): Promise<Outcome<PausePoint>[]> =>
      sendAll(shown, (point) => send(point, what), setThrough),
    onSettled: () => queries.invalidateQueries({ queryKey: ["points"] }),
  });
  const decide = (act: Decide["act"]) => {
    if (act === "reject" && !comment.trim()) return setWrong({ comment: en.inbox.needsComment });
    if (isAsked && !comment.trim()) return setWrong({ comment: pointWords.needsComment });
    let data: unknown;
    let problems: Record<string, string> = {};
    if (fields === null) {
      try {
        data = json.trim() ? JSON.parse(json) : undefined;
      } catch {
        problems = { json: en.form.notJson };
      }
    } else if (fields.length > 0) ({ data, wrong: problems } = dataOf(fields, typed));
    setWrong(problems);
    if (Object.keys(problems).length === 0) all.mutate({ act, data, comment: comment.trim() });
  };
  const failed = all.data?.filter((one) => one.error !== null) ?? [];
  const n = shown.length;
  return (
    <Dialog title={words.title(n, first.node)} close={() => close(all.isSuccess)} wide>
      {all.data ? (
        <div role="status">
          <p className="big">{words.done(n - failed.length)}</p>
          {failed.length > 0 && (
            <>
              <p>{words.failed(failed.length)}</p>
              <ul className="plain">
                {failed.map(({ item, error }) => (
                  <li key={item.id} className="notice bad">
                    <p>
                      <bdi>{titleOf(item)}</bdi>
                    </p>
                    <p className="soft">
                      <bdi>{reason(error)}</bdi>
                    </p>
                  </li>
                ))}
              </ul>
            </>
          )}
          <div className="acts">
            <button type="button" className="main" data-first onClick={() => close(true)}>
              {en.close}
            </button>
          </div>
        </div>
      ) : (
        <>
          {same.length > 0 && (
            <section>
              <h3>{words.same}</h3>
              <dl className="pairs">
                {same.map(([name, value]) => (
                  <div key={name}>
                    <dt>
                      <bdi>{name}</bdi>
                    </dt>
                    <dd>
                      <Long text={value} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          )}
          <h3>{words.differ}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
          <div className="values" tabIndex={0} role="region" aria-label={words.differ}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{words.question}</th>
                  {names.map((name) => (
                    <th scope="col" key={name}>
                      <bdi>{name}</bdi>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map(({ point, values }) => (
                  <tr key={point.id}>
                    <td>
                      <bdi>{titleOf(point)}</bdi>
                    </td>
                    {values.map((value, i) => (
                      <td key={names[i]}>
                        <Long text={value} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <form
            className="answer"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              decide(isApproval ? "approve" : "answer");
            }}
          >
            {fields !== null && <FormFields fields={fields} typed={typed} wrong={wrong} change={setTyped} />}
            {fields === null && (
              <div className="field">
                <label htmlFor="together-json">{en.form.json}</label>
                <textarea
                  id="together-json"
                  className="mono"
                  rows={4}
                  value={json}
                  onChange={(e) => setJson(e.target.value)}
                />
                {wrong.json && <p className="wrong">{wrong.json}</p>}
              </div>
            )}
            <div className="field">
              <label htmlFor="together-comment">{isAsked ? pointWords.commentRequired : en.inbox.comment}</label>
              <textarea
                id="together-comment"
                rows={2}
                value={comment}
                aria-invalid={!!wrong.comment}
                onChange={(e) => setComment(e.target.value)}
              />
              {wrong.comment && (
                <p className="wrong" role="alert">
                  {wrong.comment}
                </p>
              )}
            </div>
            <div className="acts">
              <button type="submit" className="main" disabled={all.isPending}>
                {isApproval ? words.approve(n) : words.answer(n)}
              </button>
              {isApproval && (
                <button type="button" className="bad" disabled={all.isPending} onClick={() => decide("reject")}>
                  {words.reject(n)}
                </button>
              )}
              <button type="button" className="quiet" onClick={() => close(false)} disabled={all.isPending}>
                {en.cancel}
              </button>
              {all.isPending && <span role="status">{words.progress(through, n)}</span>}
            </div>
          </form>
        </>
      )}
    </Dialog>
  );
}
