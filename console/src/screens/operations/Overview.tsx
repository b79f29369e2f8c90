/** The whole at a glance: who drives, how much waits, what happened. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { instancesQuery, type Span, statsQuery } from "../../api/operations";
import { age, number } from "../../lib/time";
import { Loading, Refused, useNow } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Doctor } from "./Doctor";
import { Row, Stale } from "./List";

const Charts = lazy(() => import("./Charts"));
const SPANS: readonly Span[] = ["hour", "day", "week"];

export function Overview({ may }: { may: (permission: string) => boolean }) {
  const { span: asked } = useSearch({ from: "/operations" });
  const span = SPANS.find((one) => one === asked) ?? "hour";
  const stats = useQuery(statsQuery(span));
  const now = useNow(5_000);
  return (
    <>
      <Stale at={stats.dataUpdatedAt} now={now} />
      <Instances now={now} />
      <Doctor may={may} />
      <section aria-labelledby="queues">
        <h2 id="queues">{ops.queues.title}</h2>
        {stats.data ? (
          <Queues queues={stats.data.queues} now={now} />
        ) : stats.error ? (
          <Refused error={stats.error} retry={() => void stats.refetch()} />
        ) : (
          <Loading />
        )}
      </section>
      <section aria-labelledby="charts">
        <div className="head-line ops-head">
          <h2 id="charts">{ops.charts.title}</h2>
          <nav className="tabs" aria-label={ops.charts.title}>
            {SPANS.map((one) => (
              <Link
                key={one}
                to="/operations"
                search={one === "hour" ? {} : { span: one }}
                activeOptions={{ exact: true }}
                aria-current={one === span ? "page" : undefined}
              >
                {ops.charts.spans[one]}
              </Link>
            ))}
          </nav>
        </div>
        {stats.data && (
          <Suspense fallback={<Loading />}>
            <Charts stats={stats.data} />
          </Suspense>
        )}
      </section>
    </>
  );
}

function Instances({ now }: { now: number }) {
  const found = useQuery(instancesQuery);
  const words = ops.instances;
  return (
    <section aria-labelledby="instances">
      <h2 id="instances">{words.title}</h2>
      {found.isPending ? (
        <Loading />
      ) : found.error && !found.data ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : found.data?.items.length === 0 ? (
        <p className="sheet empty">{words.empty}</p>
      ) : (
        <ul className="sheet ops-list" aria-label={words.title}>
          {found.data?.items.map((one) => (
            <li key={one.name}>
              <Row
                title={
                  <>
                    <Status value={one.alive ? "completed" : "failed"} text={one.alive ? words.alive : words.lost} />
                    <bdi>{one.name}</bdi>
                    {one.here && <span className="tag">{words.here}</span>}
                  </>
                }
                facts={
                  <>
                    <span>{words.drives(one.executions ?? 0)}</span>
                    {one.since && <span>{words.since(age(one.since, now))}</span>}
                    {!one.since && one.seen_at && <span>{words.seen(age(one.seen_at, now))}</span>}
                    {!one.alive && <span>{words.lostHint}</span>}
                  </>
                }
              />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

type QueueLengths =
  NonNullable<ReturnType<typeof statsQuery>["queryFn"]> extends (...args: never[]) => infer R
    ? Awaited<R> extends { queues: infer Q }
      ? Q
      : never
    : never;

function Queues({ queues, now }: { queues: QueueLengths; now: number }) {
  const words = ops.queues;
  const by = (queues.executions ?? {}) as Record<string, number>;
  const inputs = Object.values((queues.inputs ?? {}) as Record<string, number>).reduce((sum, one) => sum + one, 0);
  const rows: [string, number, (string | null)?][] = [
    [words.running, (by.running ?? 0) + (by.pausing ?? 0) + (by.pending ?? 0)],
    [words.people, by.paused ?? 0, queues.oldest_pause],
    [words.timers, by.waiting ?? 0],
    [words.due, queues.due ?? 0, queues.oldest_due],
    [words.commands, queues.commands ?? 0],
    [words.messages, queues.messages ?? 0, queues.oldest_message],
    [words.inputs, inputs],
  ];
  return (
    <dl className="sheet figures">
      {rows.map(([name, count, oldest]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{number(count)}</strong>
            {count > 0 && oldest && <span className="soft">{words.oldest(age(oldest, now))}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
