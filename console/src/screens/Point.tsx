/** One pause point: the question, what follows, the facts, and every act that its person may do. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Problem, type Schemas } from "../api/client";
import { type Act, send } from "../api/point_acts";
import { pointQuery, sessionQuery } from "../api/queries";
import { useDraft, writeDraft } from "../lib/drafts";
import { useKeys } from "../lib/keys";
import { age, clock, length } from "../lib/time";
import { Loading, Refused, useNow } from "../parts/Frame";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { point as pointWords } from "../words/point";
import { Consequences, Decisions, Facts, Given, Outcome, Questions, Rules } from "./point/About";
import { Answer, type Draft, EMPTY, type Leads } from "./point/Answer";
import { Deadline, placeOf, Quorum, titleOf } from "./point/facts";
import { Talk, type Talking } from "./point/Talk";
import "./point/point.css";

type PausePoint = Schemas["PausePoint"];
const words = en.inbox;

export function Point(props: { id: string; next: string | undefined; go: (id: string | undefined) => void }) {
  const found = useQuery(pointQuery(props.id));
  if (found.data) return <PointSheet {...props} point={found.data} />;
  return (
    <div className="sheet point">
      {found.isPending ? <Loading /> : <Refused error={found.error} retry={() => void found.refetch()} />}
      <Back go={props.go} />
    </div>
  );
}

function PointSheet(props: { point: PausePoint; next: string | undefined; go: (id: string | undefined) => void }) {
  const { point } = props;
  const now = useNow(1_000);
  const queries = useQueryClient();
  const me = useQuery(sessionQuery).data?.user;
  const [draft, setDraft, clearDraft] = useDraft<Draft>(`point.${point.id}`, EMPTY);
  const [talking, setTalking] = useState<Talking | "">("");
  const [told, setTold] = useState(""); // what was done here last, if the point itself does not show it
  const leads = useRef<Leads>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  // After a decision the next question is here, and the button that was pressed is gone.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  const act = useMutation({
    mutationFn: (what: Act) => send(point, what),
    onSuccess: (changed, what) => {
      queries.setQueryData(pointQuery(point.id).queryKey, changed);
      for (const list of ["me", "asked", "done"]) void queries.invalidateQueries({ queryKey: ["points", list] });
      void queries.invalidateQueries({ queryKey: ["execution", point.execution_id] });
      writeDraft(`point.${point.id}.${what.act}`, undefined); // of what was said to others
      setTalking("");
      setTold(what.act === "delegate" ? acts.delegated(what.text) : what.act === "take-back" ? words.taken : "");
      if (what.act === "approve" || what.act === "reject" || what.act === "answer") {
        clearDraft();
        if (!finalOf(changed, me)) props.go(props.next);
      }
    },
    onError: (error) => {
      // What was seen is not what is there any more: show that.
      if (error instanceof Problem && (error.status === 409 || error.status === 412))
        void queries.invalidateQueries({ queryKey: ["points"] });
    },
  });
  const may = point.may?.answer === true && point.status === "open";
  const isApproval = point.kind === "approval";
  const finalAt = finalOf(point, me);
  const left = finalAt ? Date.parse(finalAt) - now : 0;
  const isMine = !!me && point.claimed_by === me;
  // A single key decides nothing: it leads to the button, and Enter confirms.
  useKeys({
    a: () => leads.current?.toApprove(),
    r: () => isApproval && leads.current?.toReject(),
  });
  return (
    <article className="sheet point" aria-label={titleOf(point)}>
      <header>
        <p className="soft">
          <bdi>{point.workflow}</bdi> ·{" "}
          <Link to="/executions/$id" params={{ id: point.execution_id }} search={{}}>
            {words.execution}
          </Link>
        </p>
        <h2 className="question" ref={heading} tabIndex={-1}>
          <bdi>{titleOf(point)}</bdi>
        </h2>
        <p className="soft ask-facts">
          {point.status === "open" ? <Deadline point={point} now={now} /> : <Status value={point.status} />}
          {point.requester && <bdi>{words.requester(point.requester)}</bdi>}
          {point.status === "open" && <span>{words.waits(age(point.opened_at, now))}</span>}
          {placeOf(point) && <span>{placeOf(point)}</span>}
          <Quorum point={point} />
          {point.queue_position && <span>{words.place(point.queue_position)}</span>}
          {point.claimed_by && <bdi>{claimOf(point, me)}</bdi>}
        </p>
      </header>
      <Outcome point={point} />
      {left > 0 && (
        <div className="notice">
          <p>{pointWords.takeBackFor(length(left))}</p>
          <button type="button" onClick={() => act.mutate({ act: "take-back" })} disabled={act.isPending}>
            {words.takeBack}
          </button>
        </div>
      )}
      {point.failure && point.status === "open" && (
        <p className="notice bad">
          {pointWords.failure}: <bdi>{point.failure.message}</bdi>
        </p>
      )}
      {point.status === "open" && <Consequences leads={point.leads_to} />}
      <Facts shown={point.shown} />
      <Given point={point} />
      {point.status === "open" && <Rules point={point} me={me} />}
      <Decisions point={point} />
      <Questions questions={point.questions} />
      {may && (
        <Answer
          point={point}
          draft={draft}
          change={setDraft}
          decide={(what) => act.mutate(what)}
          isSending={act.isPending}
          refused={act.error}
          ref={leads}
        >
          <button
            type="button"
            className="quiet"
            disabled={act.isPending}
            onClick={() => act.mutate({ act: isMine ? "release" : "claim" })}
          >
            {isMine ? words.release : words.claim}
          </button>
          {isApproval && (
            <button type="button" className="quiet" onClick={() => setTalking("delegate")}>
              {words.delegate}
            </button>
          )}
          <button type="button" className="quiet" onClick={() => setTalking("ask")}>
            {words.ask}
          </button>
        </Answer>
      )}
      {talking && (
        <Talk
          key={talking}
          kind={talking}
          point={point}
          send={(what) => act.mutate(what)}
          isSending={act.isPending}
          close={() => setTalking("")}
        />
      )}
      {!may && point.status === "open" && (
        <Refusal point={point} me={me} takeOver={() => act.mutate({ act: "take-over" })} />
      )}
      {point.may?.reply && !talking && (
        <p>
          <button type="button" onClick={() => setTalking("reply")}>
            {words.reply} …
          </button>
        </p>
      )}
      {told && (
        <p className="notice" role="status">
          <bdi>{told}</bdi>
        </p>
      )}
      {act.error && <Refused error={act.error} words={pointWords.refusals} />}
      <Back go={props.go} />
    </article>
  );
}

function Back({ go }: { go: (id: undefined) => void }) {
  return (
    <p>
      <button type="button" className="quiet" onClick={() => go(undefined)}>
        {words.back}
      </button>
    </p>
  );
}

/** Until when a person can take back what they said, if they can at all. */
export function finalOf(point: PausePoint, me: string | null | undefined): string | null {
  if (!me || (point.status !== "open" && point.status !== "answered")) return null;
  const own = point.decisions.find((one) => one.by === me);
  return own?.final_at ?? (point.answered_by === me ? (point.final_at ?? null) : null);
}

function claimOf(point: PausePoint, me: string | null | undefined): string {
  const by = point.claimed_by === me ? pointWords.you : (point.claimed_by ?? "");
  return point.claimed_until
    ? pointWords.claimedUntil(by, clock(point.claimed_until).slice(0, 5))
    : words.claimedBy(by);
}

/** Why a person cannot answer a question that is open, and what they can do about it. */
function Refusal(props: { point: PausePoint; me: string | null | undefined; takeOver: () => void }) {
  const { point, me } = props;
  const code = point.may?.why_not?.code;
  const wait = pointWords.waits[point.kind];
  if (wait) return <p className="notice">{wait}</p>;
  if (!code) return null;
  const own = point.decisions.find((one) => one.by === me);
  if (code === "already_decided" && own)
    return <p className="notice">{own.approved ? pointWords.mine.approved : pointWords.mine.rejected}</p>;
  return (
    <div className="notice">
      <p>
        {words.notYou}: <bdi>{code === "claimed" ? claimOf(point, me) : point.may?.why_not?.message}</bdi>
      </p>
      {code === "claimed" && (
        <button type="button" onClick={props.takeOver}>
          {acts.takeOver}
        </button>
      )}
    </div>
  );
}
