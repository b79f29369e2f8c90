/** What happened: events as sentences, the newest first, with longer rests folded, and how far running calls have come. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { clock, day, length } from "../../lib/time";
import { Glyph } from "../../parts/Status";
import { acts } from "../../words/acts";
import { en } from "../../words/en";
import { nodeOf, sentence } from "../../words/events";
import type { Progress } from "../stream_state";

type Event = Schemas["Event"];
const words = en.execution;
const GAP = 60_000; // a longer rest is folded

/** How far the calls that run now have come, as they report it. */
export function Reports({ progress }: { progress: ReadonlyMap<string, Progress> }) {
  return [...progress.values()].slice(0, 20).map((one) => (
    <p className="report" key={one.context_id}>
      <bdi>{nodeOf(one.context_id)}</bdi>
      <progress {...(one.total ? { max: one.total, value: one.done } : {})} aria-label={nodeOf(one.context_id)} />
      <bdi className="soft">{one.text}</bdi>
    </p>
  ));
}

export function Timeline({
  events,
  earlier,
}: {
  events: readonly Event[];
  earlier: (() => Promise<void>) | undefined;
}) {
  const [most, setMost] = useState(300);
  const shown = events.flatMap((event) => {
    const told = sentence(event);
    return told ? [{ event, told }] : [];
  });
  const newest = shown.slice(-most).reverse();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <ol className="feed" tabIndex={0} aria-label={words.events}>
        {newest.map(({ event, told }, i) => {
          const before = newest[i + 1]?.event;
          const gap = before ? Date.parse(event.at) - Date.parse(before.at) : 0;
          const newDay = i === 0 || day(event.at) !== day(newest[i - 1]!.event.at);
          return (
            <li key={event.seq}>
              {newDay && <span className="day">{day(event.at)}</span>}
              <span className="line">
                <time className="soft" dateTime={event.at}>
                  {clock(event.at)}
                </time>
                <Glyph value={told.glyph} />
                <bdi>{told.text}</bdi>
              </span>
              {gap > GAP && <span className="gap">— {words.gap(length(gap))} —</span>}
            </li>
          );
        })}
        {(shown.length > most || earlier) && (
          <li>
            <button
              type="button"
              className="quiet"
              onClick={() => {
                setMost(most + 300);
                if (shown.length <= most + 300) void earlier?.();
              }}
            >
              {acts.earlier}
            </button>
          </li>
        )}
      </ol>
    </>
  );
}
