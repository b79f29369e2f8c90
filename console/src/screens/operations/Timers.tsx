/** What is due at a moment: the earliest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { timersQuery } from "../../api/operations";
import { age, moment } from "../../lib/time";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { List, Row } from "./List";

export function Timers() {
  const found = useInfiniteQuery(timersQuery);
  return (
    <List
      found={found}
      label={ops.tabs.timers}
      empty={<p className="big">{ops.timers.empty}</p>}
      name={(one) => one.execution_id}
      row={(one, now) => (
        <Row
          title={
            <>
              <Status value={one.status} />
              <Link to="/executions/$id" params={{ id: one.execution_id }} search={{}}>
                <bdi>{one.workflow}</bdi>
              </Link>
            </>
          }
          facts={
            <>
              <time dateTime={one.due_at} title={moment(one.due_at)} className={one.overdue ? "late" : undefined}>
                {Date.parse(one.due_at) <= now
                  ? ops.timers.overdue(age(one.due_at, now))
                  : ops.timers.in(age(one.due_at, now))}
              </time>
              {one.waiting_summary && <bdi>{one.waiting_summary.text}</bdi>}
              <span className="mono">{one.execution_id.slice(-12)}</span>
            </>
          }
        />
      )}
    />
  );
}
