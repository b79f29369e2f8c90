/** What is said of a pause point in a line or two, in lists and in its sheet. */

import type { Schemas } from "../../api/client";
import { brief } from "../../lib/brief";
import { length, moment } from "../../lib/time";
import { en } from "../../words/en";
import { point as words } from "../../words/point";

type PausePoint = Schemas["PausePoint"];

export function titleOf(point: PausePoint): string {
  return brief(point.title || point.node);
}

/** How much of the time is left, and what happens when it is over. */
export function Deadline({ point, now }: { point: PausePoint; now: number }) {
  if (!point.deadline) return <span>{en.inbox.noDeadline}</span>;
  const end = Date.parse(point.deadline);
  const part = Math.max(0, Math.min(1, (end - now) / Math.max(1, end - Date.parse(point.opened_at))));
  const outcome = point.on_deadline ? (en.inbox.outcomes[point.on_deadline] ?? point.on_deadline) : "";
  return (
    <span className="deadline" title={moment(point.deadline)}>
      <meter min={0} max={1} value={part} aria-hidden="true" />
      <span>{end > now ? en.inbox.left(length(end - now), outcome) : en.inbox.over}</span>
    </span>
  );
}

const MOST_PIPS = 9;

/** How many have decided of those that it takes, as pips and in words; nothing where one person decides. */
export function Quorum({ point }: { point: PausePoint }) {
  const need = point.need ?? 1;
  const rejectNeed = point.reject_need ?? 1;
  const approved = point.decisions.filter((one) => one.approved).length;
  const rejected = point.decisions.length - approved;
  if (need < 2 && rejectNeed < 2) return null;
  return (
    <>
      <span className="pips">
        <Pips n={approved} of={need} /> {words.approved(approved, need)}
      </span>
      {rejected > 0 && (
        <span className="pips bad">
          <Pips n={rejected} of={rejectNeed} /> {words.rejected(rejected, rejectNeed)}
        </span>
      )}
    </>
  );
}

function Pips({ n, of }: { n: number; of: number }) {
  const all = Math.min(of, MOST_PIPS);
  const filled = of > MOST_PIPS ? Math.floor((n / of) * all) : Math.min(n, all);
  return <span aria-hidden="true">{"●".repeat(filled) + "○".repeat(all - filled)}</span>;
}

/** Which of several alike it is: of a loop or a parallel. */
export function placeOf(point: PausePoint): string {
  const { loop_scope: loop, parallel_scope: parallel } = point;
  if (parallel && parallel.count > 1) return words.oneOf(parallel.index + 1, parallel.count);
  return loop ? words.iteration(loop.iteration + 1) : "";
}
