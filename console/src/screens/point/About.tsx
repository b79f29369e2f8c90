/** What the sheet of a question says before it asks: who decides, what follows, the facts, what others have said. */
import type { Schemas } from "../../api/client";
import { moment } from "../../lib/time";
import { Data } from "../../parts/Frame";
import { Long } from "../../parts/Long";
import { Glyph } from "../../parts/Status";
import { en } from "../../words/en";
import { point as words } from "../../words/point";

type PausePoint = Schemas["PausePoint"];

/** What each answer leads to, in the words of the workflow. */
export function Consequences({ leads }: { leads: PausePoint["leads_to"] }) {
  const all = Object.entries(leads);
  if (all.length === 0) return null;
  return (
    <section>
      <h3>{en.inbox.leadsTo}</h3>
      <dl className="pairs">
        {all.map(([port, text]) => (
          <div key={port}>
            <dt>{words.ports[port] ?? port}</dt>
            <dd>
              <Long text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Who is asked, how many of them it takes, and whose turn it is. */
export function Rules({ point, me }: { point: PausePoint; me: string | null | undefined }) {
  const users = point.approvers?.users ?? [];
  const roles = point.approvers?.roles ?? [];
  const need = point.need ?? 1;
  const rejectNeed = point.reject_need ?? 1;
  const inTurn = point.order === "sequence";
  if (need < 2 && rejectNeed < 2 && !inTurn && users.length + roles.length === 0) return null;
  const decided = new Map(point.decisions.map((one) => [one.on_behalf_of ?? one.by, one.approved]));
  const turn = inTurn && point.status === "open" ? users.find((user) => !decided.has(user)) : undefined;
  const List = inTurn ? "ol" : "ul";
  return (
    <section>
      <h3>{words.rules}</h3>
      {(need > 1 || rejectNeed > 1) && <p>{words.need(need, rejectNeed)}</p>}
      {inTurn && <p>{words.inTurn}</p>}
      <List className="people">
        {users.map((user) => (
          <li key={user} data-turn={user === turn || undefined}>
            {decided.has(user) && <Glyph value={decided.get(user) ? "completed" : "failed"} />}
            <bdi>{user}</bdi>
            {user === turn && <span className="soft">{user === me ? words.yours : words.next}</span>}
            {user === me && user !== turn && <span className="soft">{words.deciding}</span>}
          </li>
        ))}
        {roles.map((role) => (
          <li key={`role ${role}`}>
            <bdi>{words.role(role)}</bdi>
          </li>
        ))}
        {users.length + roles.length === 0 && <li>{words.anybody}</li>}
      </List>
    </section>
  );
}

/** What the workflow shows: pairs if it is flat, else as data. */
export function Facts({ shown }: { shown: unknown }) {
  if (shown === null || shown === undefined) return null;
  if (typeof shown !== "object" || Array.isArray(shown)) return <Data label={en.inbox.facts} value={shown} />;
  const pairs = Object.entries(shown as Record<string, unknown>);
  if (pairs.length === 0) return null;
  return (
    <section>
      <h3>{en.inbox.facts}</h3>
      <dl className="pairs">
        {pairs.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <Fact value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A value as a person reads it: a short list of simple values with commas, what has parts as data. */
function Fact({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <span className="soft">–</span>;
  if (typeof value !== "object") return <Long text={String(value)} />;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return <Long text={value.join(", ")} />;
  const text = JSON.stringify(value, null, 2);
  return text.length > 2_000 ? <Long text={text} /> : <pre className="fact">{text}</pre>;
}

/** Who has decided what so far, and who took that back. */
export function Decisions({ point }: { point: PausePoint }) {
  if (point.decisions.length + point.taken_back_by.length === 0) return null;
  return (
    <section>
      <h3>{en.inbox.decisions}</h3>
      <ul className="said">
        {point.decisions.map((one) => (
          <li key={`${one.by} ${one.at}`}>
            <Glyph value={one.approved ? "completed" : "failed"} />
            <div>
              <bdi>{words.decided(one.by, one.approved, one.on_behalf_of)}</bdi>{" "}
              <span className="soft">{moment(one.at)}</span>
              {one.comment && (
                <blockquote>
                  <Long text={one.comment} />
                </blockquote>
              )}
            </div>
          </li>
        ))}
        {point.taken_back_by.map((one) => (
          <li key={`back ${one}`}>
            <Glyph value="cancelled" />
            <bdi>{words.takenBack(one)}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What was asked back, and what was said to it. */
export function Questions({ questions }: { questions: PausePoint["questions"] }) {
  return questions.map((one) => (
    <div key={one.number} className="asked-back">
      <p>
        <bdi>{words.asks(one.by, one.to)}</bdi>: <Long text={one.question} />
      </p>
      {one.reply === null || one.reply === undefined ? (
        <p className="soft">{words.noReply}</p>
      ) : (
        <p>
          <bdi>{one.replied_by ?? one.to}</bdi>: <Long text={one.reply} />
        </p>
      )}
    </div>
  ));
}

/** What became of a question that is not open any more. */
export function Outcome({ point }: { point: PausePoint }) {
  const { status } = point;
  if (status === "open") return null;
  const by = point.answered_by ?? words.states.deadline;
  const isApproved = (point.answer as { approved?: unknown } | null)?.approved === true;
  const outcome = point.on_deadline ? (en.inbox.outcomes[point.on_deadline] ?? "") : "";
  const answered = status === "answered" || status === "applied";
  const text = answered
    ? point.kind === "approval"
      ? words.states[isApproved ? "approved" : "rejected"](by)
      : words.states.answered(by)
    : status === "expired"
      ? words.states.expired(outcome)
      : words.states[status];
  const glyph = !answered ? status : point.kind === "approval" && !isApproved ? "failed" : "completed";
  return (
    <div className="notice" role="status">
      <p className="became">
        <Glyph value={glyph} />
        <strong>
          <bdi>{text}</bdi>
        </strong>{" "}
        {answered && point.answered_at && <span className="soft">{moment(point.answered_at)}</span>}
      </p>
    </div>
  );
}

/** What a form was answered with. An approval says it by its decisions. */
export function Given({ point }: { point: PausePoint }) {
  const { answer } = point;
  if (point.kind === "approval" || answer === null || answer === undefined) return null;
  return <Data label={words.answer} value={answer} />;
}
