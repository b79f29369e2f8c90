/** One pause point: the question, what follows, the facts, and every act that its person may do. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Problem, type Schemas } from "../api/client";
import { type Act, send } from "../api/point_acts";
import { pointQuery, sessionQuery } from "../api/queries";
import { FormFields } from "../forms/Form";
import { dataOf, fieldsOf, type Typed } from "../forms/subset";
import { useDraft } from "../lib/drafts";
import { useKeys } from "../lib/keys";
import { moment } from "../lib/time";
import { Data, Loading, Refused, useNow } from "../parts/Frame";
import { Long } from "../parts/Long";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { Deadline, Quorum, titleOf } from "./Inbox";

type PausePoint = Schemas["PausePoint"];
const words = en.inbox;
interface Draft {
  typed: Typed;
  json: string;
  comment: string;
}
const EMPTY: Draft = { typed: {}, json: "", comment: "" };

export function Point(props: { id: string; next: string | undefined; go: (id: string | undefined) => void }) {
  const found = useQuery(pointQuery(props.id));
  if (found.isPending)
    return (
      <div className="sheet point">
        <Loading />
      </div>
    );
  if (found.error)
    return (
      <div className="sheet point">
        <Refused error={found.error} retry={() => void found.refetch()} />
      </div>
    );
  return <PointSheet {...props} point={found.data} />;
}

function PointSheet(props: { point: PausePoint; next: string | undefined; go: (id: string | undefined) => void }) {
  const { point } = props;
  const now = useNow(5_000);
  const queries = useQueryClient();
  const me = useQuery(sessionQuery).data?.user;
  const [draft, setDraft, clearDraft] = useDraft<Draft>(`point.${point.id}`, EMPTY);
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [asking, setAsking] = useState<"" | "delegate" | "ask" | "reply">("");
  const [text, setText] = useState("");
  const [told, setTold] = useState(""); // what was done here last, if the point itself does not show it
  const fields = point.schema === null || point.schema === undefined ? [] : fieldsOf(point.schema);
  const act = useMutation({
    mutationFn: (what: Act) => send(point, what),
    onSuccess: (changed, what) => {
      queries.setQueryData(pointQuery(point.id).queryKey, changed);
      for (const list of ["me", "asked", "done"]) void queries.invalidateQueries({ queryKey: ["points", list] });
      void queries.invalidateQueries({ queryKey: ["execution", point.execution_id] });
      setAsking("");
      setText("");
      setTold(what.act === "delegate" ? acts.delegated(what.text) : what.act === "take-back" ? words.taken : "");
      if (what.act === "approve" || what.act === "reject" || what.act === "answer") {
        clearDraft();
        if (changed.final_at === null || changed.final_at === undefined) props.go(props.next);
      }
    },
    onError: (error) => {
      // What was seen is not what is there any more: show that.
      if (error instanceof Problem && (error.status === 409 || error.status === 412))
        void queries.invalidateQueries({ queryKey: ["points"] });
    },
  });
  const decide = (what: "approve" | "reject" | "answer") => {
    if (what === "reject" && !draft.comment.trim()) return setWrong({ comment: words.needsComment });
    let data: unknown;
    let problems: Record<string, string> = {};
    if (fields === null) {
      try {
        data = draft.json.trim() ? JSON.parse(draft.json) : undefined;
      } catch {
        problems = { json: "json" };
      }
    } else if (fields.length > 0) ({ data, wrong: problems } = dataOf(fields, draft.typed));
    setWrong(problems);
    if (Object.keys(problems).length === 0) act.mutate({ act: what, data, comment: draft.comment.trim() });
  };
  const may = point.may?.answer === true && point.status === "open";
  const isApproval = point.kind === "approval";
  const mine = point.answered_by === me || point.decisions.some((one) => one.by === me);
  const canTakeBack = mine && point.final_at && Date.parse(point.final_at) > now;
  const leads = Object.entries(point.leads_to);
  const approve = useRef<HTMLButtonElement>(null);
  const comment = useRef<HTMLTextAreaElement>(null);
  // A single key decides nothing: it leads to the button, and Enter confirms.
  useKeys({
    a: () => approve.current?.focus(),
    r: () => {
      if (!isApproval || !may) return;
      setWrong({ comment: words.needsComment });
      comment.current?.focus();
    },
  });
  return (
    <article
      className="sheet point"
      aria-label={titleOf(point)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && may && !isApproval) decide("answer");
      }}
    >
      <header>
        <p className="soft">
          <bdi>{point.workflow}</bdi> ·{" "}
          <Link to="/executions/$id" params={{ id: point.execution_id }} search={{}}>
            {words.execution}
          </Link>
        </p>
        <h2 className="question">
          <bdi>{titleOf(point)}</bdi>
        </h2>
        <p className="soft ask-facts">
          {point.status === "open" ? <Deadline point={point} now={now} /> : <Status value={point.status} />}
          {point.requester && <bdi>{words.requester(point.requester)}</bdi>}
          <Quorum point={point} />
          {point.queue_position && <span>{words.place(point.queue_position)}</span>}
          {point.claimed_by && <bdi>{words.claimedBy(point.claimed_by)}</bdi>}
        </p>
      </header>
      {leads.length > 0 && (
        <section>
          <h3>{words.leadsTo}</h3>
          <dl className="pairs">
            {leads.map(([port, text]) => (
              <div key={port}>
                <dt>{port}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      <Facts shown={point.shown} />
      {point.decisions.length > 0 && (
        <section>
          <h3>{words.decisions}</h3>
          {point.decisions.map((one) => (
            <p key={`${one.by} ${one.at}`}>
              <bdi>{words.decided(one.by, one.approved)}</bdi> <span className="soft">{moment(one.at)}</span>
              {one.comment && (
                <>
                  {" "}
                  <q>{one.comment}</q>
                </>
              )}
            </p>
          ))}
        </section>
      )}
      {point.questions.map((one) => (
        <p key={one.number}>
          <bdi>{one.by}</bdi>: <q>{one.question}</q> {one.reply && <q>{one.reply}</q>}
        </p>
      ))}
      {may && (
        <form
          className="answer"
          onSubmit={(event) => {
            event.preventDefault();
            decide(isApproval ? "approve" : "answer");
          }}
          noValidate
        >
          {fields !== null && (
            <FormFields
              fields={fields}
              typed={draft.typed}
              wrong={wrong}
              change={(typed) => setDraft({ ...draft, typed })}
            />
          )}
          {fields === null && (
            <div className="field">
              <label htmlFor="json">{en.form.json}</label>
              <textarea
                id="json"
                className="mono"
                rows={6}
                value={draft.json}
                onChange={(e) => setDraft({ ...draft, json: e.target.value })}
              />
              {wrong.json && <p className="wrong">{en.form.notJson}</p>}
            </div>
          )}
          <div className="field">
            <label htmlFor="comment">{words.comment}</label>
            <textarea
              id="comment"
              ref={comment}
              rows={2}
              value={draft.comment}
              aria-invalid={!!wrong.comment}
              onChange={(e) => setDraft({ ...draft, comment: e.target.value })}
            />
            {wrong.comment && (
              <p className="wrong" role="alert">
                {wrong.comment}
              </p>
            )}
          </div>
          <div className="acts">
            {isApproval ? (
              <>
                <button type="submit" className="main" disabled={act.isPending} ref={approve}>
                  {words.approve}
                </button>
                <button type="button" className="bad" disabled={act.isPending} onClick={() => decide("reject")}>
                  {words.reject}
                </button>
              </>
            ) : (
              <button type="submit" className="main" disabled={act.isPending}>
                {words.answer}
              </button>
            )}
            <span className="grow" />
            <button
              type="button"
              className="quiet"
              onClick={() => act.mutate({ act: point.claimed_by === me && me ? "release" : "claim" })}
            >
              {point.claimed_by === me && me ? words.release : words.claim}
            </button>
            {isApproval && (
              <button type="button" className="quiet" onClick={() => setAsking("delegate")}>
                {words.delegate}
              </button>
            )}
            <button type="button" className="quiet" onClick={() => setAsking("ask")}>
              {words.ask}
            </button>
          </div>
        </form>
      )}
      {asking && (
        <form
          className="answer"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) act.mutate({ act: asking, text: text.trim() });
          }}
        >
          <div className="field">
            <label htmlFor="asking">
              {asking === "ask" ? words.question : asking === "reply" ? acts.replyTo : words.delegateTo}
            </label>
            <input id="asking" value={text} onChange={(e) => setText(e.target.value)} required />
          </div>
          <div className="acts">
            <button type="submit" className="main">
              {(asking === "reply" ? words.reply : asking === "ask" ? words.ask : words.delegate).replace(" …", "")}
            </button>
            <button type="button" onClick={() => setAsking("")}>
              {en.cancel}
            </button>
          </div>
        </form>
      )}
      {!may && point.status === "open" && point.may?.why_not && (
        <p className="notice">
          {words.notYou}:{" "}
          {point.may.why_not.code === "claimed" && point.claimed_by ? (
            <bdi>{words.claimedBy(point.claimed_by)}</bdi>
          ) : (
            <bdi>{point.may.why_not.message}</bdi>
          )}{" "}
          {point.may.why_not.code === "claimed" && (
            <button type="button" onClick={() => act.mutate({ act: "take-over" })}>
              {acts.takeOver}
            </button>
          )}
        </p>
      )}
      {point.may?.reply && !asking && (
        <button type="button" onClick={() => setAsking("reply")}>
          {words.reply} …
        </button>
      )}
      {canTakeBack && (
        <div className="notice">
          <p>{words.until(moment(point.final_at!))}</p>
          <button type="button" onClick={() => act.mutate({ act: "take-back" })}>
            {words.takeBack}
          </button>
        </div>
      )}
      {told && (
        <p className="notice" role="status">
          <bdi>{told}</bdi>
        </p>
      )}
      {act.error && <Refused error={act.error} />}
      <p>
        <button type="button" className="quiet" onClick={() => props.go(undefined)}>
          {words.back}
        </button>
      </p>
    </article>
  );
}

/** What the workflow shows: pairs if it is flat, else as data. */
function Facts({ shown }: { shown: unknown }) {
  if (shown === null || shown === undefined) return null;
  if (typeof shown !== "object" || Array.isArray(shown)) return <Data label={words.facts} value={shown} />;
  const pairs = Object.entries(shown as Record<string, unknown>);
  return (
    <section>
      <h3>{words.facts}</h3>
      <dl className="pairs">
        {pairs.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <Long text={typeof value === "object" ? JSON.stringify(value) : String(value)} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
