/** What waits for the person who is signed in: a list, and beside it what was opened. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useChanges } from "../api/changes";
import type { Schemas } from "../api/client";
import { askedQuery, donePointsQuery, inboxQuery, moreInboxQuery } from "../api/queries";
import { useKeys } from "../lib/keys";
import { age } from "../lib/time";
import { groupOf, MOST_TOGETHER } from "../lib/together";
import { Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { Stale } from "../parts/Stale";
import { Status } from "../parts/Status";
import { acts } from "../words/acts";
import { en } from "../words/en";
import { Point } from "./Point";
import { Deadline, Quorum, titleOf } from "./point/facts";
import { Together } from "./Together";

type PausePoint = Schemas["PausePoint"];
const words = en.inbox;
const TABS = ["me", "asked", "done"] as const;

export function Inbox() {
  useTitle(en.nav.inbox);
  const { tab, point, order } = useSearch({ from: "/" });
  const navigate = useNavigate();
  const now = useNow();
  const inbox = useQuery(inboxQuery);
  const [isMore, setMore] = useState(false);
  const behind = inbox.data?.next ?? "";
  const more = useInfiniteQuery({ ...moreInboxQuery(behind), enabled: isMore && behind !== "" });
  const byDeadline = order === "deadline";
  const keep = byDeadline ? { order } : {};
  const items = useMemo(
    () =>
      inOrder([...(inbox.data?.items ?? []), ...(more.data?.pages.flatMap((page) => page.items) ?? [])], byDeadline),
    [inbox.data, more.data, byDeadline],
  );
  const hasMore = behind !== "" && (!more.data || more.hasNextPage);
  const at = items.findIndex((one) => one.id === point);
  const open = (id: string | undefined) => navigate({ to: "/", search: { ...keep, ...(id ? { point: id } : {}) } });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [deciding, setDeciding] = useState<readonly PausePoint[]>([]);
  const together = items.filter((one) => chosen.has(one.id));
  const group = together[0] && groupOf(together[0]);
  const canChoose = (one: PausePoint) =>
    one.may?.answer !== false && (chosen.has(one.id) || group === undefined || group === groupOf(one));
  const choose = (one: PausePoint) => {
    if (!canChoose(one)) return;
    const next = new Set(together.map((other) => other.id));
    if (!next.delete(one.id) && next.size < MOST_TOGETHER) next.add(one.id);
    setChosen(next);
  };
  useKeys({
    x: () => items[at] && choose(items[at]),
    j: () => items.length && open(items[Math.min(at + 1, items.length - 1)]!.id),
    k: () => items.length && open(items[Math.max(at - 1, 0)]!.id),
    Escape: () => open(undefined),
  });
  useChanges();
  const current = TABS.find((one) => one === tab) ?? "me";
  return (
    <>
      <div className="head-line">
        <h1>{words.titles[current]}</h1>
        {current === "me" && <Stale at={inbox.dataUpdatedAt} after={inbox.isError ? 0 : 90_000} />}
        {current === "me" && items.length > 1 && (
          <button
            type="button"
            className="chip order"
            aria-pressed={byDeadline}
            onClick={() =>
              navigate({
                to: "/",
                search: { ...(point ? { point } : {}), ...(byDeadline ? {} : { order: "deadline" }) },
              })
            }
          >
            {words.byDeadline}
          </button>
        )}
        <nav className="tabs" aria-label={en.nav.inbox}>
          {TABS.map((one) => (
            <Link
              key={one}
              to="/"
              search={one === "me" ? {} : { tab: one }}
              aria-current={one === current ? "page" : undefined}
              activeProps={{}}
              activeOptions={{ exact: true }}
            >
              {words.tabs[one]}
            </Link>
          ))}
        </nav>
      </div>
      {current === "done" ? (
        <Done />
      ) : current === "asked" ? (
        <Asked />
      ) : inbox.isPending ? (
        <Loading />
      ) : inbox.error && !inbox.data ? (
        <Refused error={inbox.error} retry={() => void inbox.refetch()} />
      ) : items.length === 0 && !point ? (
        <div className="sheet empty">
          <p className="big">{words.empty}</p>
          <p className="soft">{words.emptyHint}</p>
          <NextDeadline now={now} />
        </div>
      ) : (
        <div className={point ? "inbox with-point" : "inbox"}>
          {together.length > 0 && (
            <div className="bulk" role="group" aria-label={acts.selected(together.length)}>
              <span>{acts.selected(together.length)}</span>
              <button type="button" className="main" onClick={() => setDeciding(together)}>
                {together[0]!.kind === "approval"
                  ? acts.together.open(together.length)
                  : acts.together.openForm(together.length)}
              </button>
              <button type="button" className="quiet" onClick={() => setChosen(new Set())}>
                {acts.clear}
              </button>
            </div>
          )}
          <ol className="sheet asks" aria-label={words.count(items.length)}>
            {items.map((one) => (
              <li key={one.id} className="choosable">
                <input
                  type="checkbox"
                  aria-label={acts.select(titleOf(one).slice(0, 200))}
                  title={canChoose(one) ? undefined : acts.together.only}
                  checked={chosen.has(one.id)}
                  disabled={!canChoose(one)}
                  onChange={() => choose(one)}
                />
                <Link
                  to="/"
                  search={{ ...keep, point: one.id }}
                  className="ask"
                  aria-current={one.id === point ? "true" : undefined}
                  activeProps={{}}
                >
                  <span className="ask-title">
                    <bdi>{titleOf(one)}</bdi>
                  </span>
                  <span className="soft ask-facts">
                    <Deadline point={one} now={now} />
                    <bdi>{one.workflow}</bdi>
                    {one.requester && <bdi>{words.requester(one.requester)}</bdi>}
                    <span>{words.waits(age(one.opened_at, now))}</span>
                    <Quorum point={one} />
                    {one.claimed_by && <bdi>{words.claimedBy(one.claimed_by)}</bdi>}
                  </span>
                  <span className="ask-act" aria-hidden="true">
                    {one.kind === "approval" ? words.decide : words.answerDots}
                  </span>
                </Link>
              </li>
            ))}
            {hasMore && (
              <li className="more">
                <button
                  type="button"
                  className="quiet"
                  disabled={more.isFetching}
                  onClick={() => (more.data ? void more.fetchNextPage() : setMore(true))}
                >
                  {en.more}
                </button>
                {byDeadline && <span className="soft">{words.sortedOnly(items.length)}</span>}
              </li>
            )}
          </ol>
          {point && (
            <Point
              key={point}
              id={point}
              next={items[at + 1]?.id ?? items.find((one) => one.id !== point)?.id}
              go={open}
            />
          )}
        </div>
      )}
      {deciding.length > 0 && (
        <Together
          points={deciding}
          close={(isDone) => {
            setDeciding([]);
            if (isDone) setChosen(new Set());
          }}
        />
      )}
    </>
  );
}

/** The oldest first, as the server has them, or what ends first; what has no deadline is last. Each question once. */
export function inOrder(points: readonly PausePoint[], byDeadline: boolean): PausePoint[] {
  const all = [...new Map(points.map((one) => [one.id, one])).values()];
  const end = (one: PausePoint) => (one.deadline ? Date.parse(one.deadline) : Number.POSITIVE_INFINITY);
  return byDeadline ? all.sort((a, b) => (end(a) === end(b) ? 0 : end(a) - end(b))) : all;
}

/** When nothing waits for a person, what they asked others may: the one that ends first. */
function NextDeadline({ now }: { now: number }) {
  const asked = useQuery(askedQuery);
  const first = (asked.data?.items ?? [])
    .filter((one) => one.deadline && Date.parse(one.deadline) > now)
    .sort((a, b) => Date.parse(a.deadline!) - Date.parse(b.deadline!))[0];
  if (!first) return null;
  return (
    <p className="next-deadline">
      {words.nextDeadline}{" "}
      <Link to="/" search={{ tab: "asked" }}>
        <bdi>{titleOf(first)}</bdi>
      </Link>
      <Deadline point={first} now={now} />
    </p>
  );
}

/** What others are asked, for what this person has started. */
function Asked() {
  const asked = useQuery(askedQuery);
  const now = useNow();
  if (asked.isPending) return <Loading />;
  if (asked.error && !asked.data) return <Refused error={asked.error} retry={() => void asked.refetch()} />;
  const items = asked.data?.items ?? [];
  if (items.length === 0)
    return (
      <div className="sheet empty">
        <p className="big">{words.askedEmpty}</p>
        <p className="soft">{words.askedHint}</p>
      </div>
    );
  return (
    <ol className="sheet asks">
      {items.map((one) => (
        <li key={one.id}>
          <Link to="/executions/$id" params={{ id: one.execution_id }} search={{}} className="ask">
            <span className="ask-title">
              <bdi>{titleOf(one)}</bdi>
            </span>
            <span className="soft ask-facts">
              <Deadline point={one} now={now} />
              <bdi>{one.workflow}</bdi>
              <bdi>{words.waitsFor([...(one.approvers?.users ?? []), ...(one.approvers?.roles ?? [])].join(", "))}</bdi>
              <span>{words.waits(age(one.opened_at, now))}</span>
              <Quorum point={one} />
              {one.claimed_by && <bdi>{words.claimedBy(one.claimed_by)}</bdi>}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}

function Done() {
  const done = useInfiniteQuery(donePointsQuery);
  const now = useNow();
  const items = done.data?.pages.flatMap((page) => page.items) ?? [];
  if (done.isPending) return <Loading />;
  if (done.error) return <Refused error={done.error} retry={() => void done.refetch()} />;
  return (
    <div className="sheet">
      {items.length === 0 && !done.hasNextPage && <p className="empty soft">{words.doneEmpty}</p>}
      <ol className="asks">
        {items.map((one) => (
          <li key={one.id}>
            <Link to="/" search={{ point: one.id }} className="ask" activeProps={{}}>
              <span className="ask-title">
                <bdi>{titleOf(one)}</bdi>
              </span>
              <span className="soft ask-facts">
                <Status value={one.status} />
                <bdi>{one.workflow}</bdi>
                {one.answered_by && <bdi>{one.answered_by}</bdi>}
                {one.answered_at && <Time at={one.answered_at} now={now} />}
              </span>
            </Link>
          </li>
        ))}
      </ol>
      {done.hasNextPage && (
        <button type="button" className="quiet" onClick={() => void done.fetchNextPage()}>
          {en.more}
        </button>
      )}
    </div>
  );
}
