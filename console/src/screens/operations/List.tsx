/** A list of rows with all its states: loading, refused, empty, old, and more behind it. */
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { age } from "../../lib/time";
import { Loading, Refused, useNow } from "../../parts/Frame";
import { en } from "../../words/en";

const OLD = 30_000; // milliseconds after which data is said to be old

interface Props<T> {
  found: UseInfiniteQueryResult<InfiniteData<{ items: readonly T[] }>, unknown>;
  label: string;
  empty: React.ReactNode;
  row: (item: T, now: number) => React.ReactNode;
  name: (item: T) => string;
}

export function List<T>({ found, label, empty, row, name }: Props<T>) {
  const now = useNow(5_000);
  if (found.isPending) return <Loading />;
  const items = found.data?.pages.flatMap((page) => page.items) ?? [];
  if (found.error && !found.data) return <Refused error={found.error} retry={() => void found.refetch()} />;
  return (
    <>
      <Stale at={found.dataUpdatedAt} now={now} />
      {items.length === 0 ? (
        <div className="sheet empty">{empty}</div>
      ) : (
        <ul className="sheet ops-list" aria-label={label}>
          {items.map((item) => (
            <li key={name(item)}>{row(item, now)}</li>
          ))}
        </ul>
      )}
      {found.hasNextPage && (
        <p className="ops-more">
          <button type="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {en.more}
          </button>
        </p>
      )}
    </>
  );
}

/** Says that data is old, once it is. */
export function Stale({ at, now }: { at: number; now: number }) {
  if (!at || now - at < OLD) return null;
  return (
    <p className="soft" role="status">
      {en.stale(age(new Date(at).toISOString(), now))}
    </p>
  );
}

/** One row: what it is, facts about it, what can be done. */
export function Row(props: { title: React.ReactNode; facts: React.ReactNode; acts?: React.ReactNode }) {
  return (
    <div className="op">
      <div className="op-title">{props.title}</div>
      <div className="op-facts soft">{props.facts}</div>
      {props.acts && <div className="op-acts">{props.acts}</div>}
    </div>
  );
}

/** Choose one of a few states; the first means all. */
export function States(props: {
  label: string;
  value: string;
  states: Record<string, string>;
  any: string;
  set: (state: string) => void;
}) {
  return (
    <div className="chips" role="group" aria-label={props.label}>
      {[["", props.any] as const, ...Object.entries(props.states)].map(([state, word]) => (
        <button
          type="button"
          className="chip"
          key={state}
          aria-pressed={props.value === state}
          onClick={() => props.set(state)}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
