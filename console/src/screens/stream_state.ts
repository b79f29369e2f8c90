/** What the stream of an execution has brought: events, reports of progress, lines, and whether it is live. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { client, type Schemas, take } from "../api/client";
import { executionQuery, graphQuery } from "../api/queries";
import { type Feed, follow, type Message } from "../api/stream";
import { append, reduceExecution, reduceGraph } from "../graph/reduce";

type Event = Schemas["Event"];
export interface Progress {
  context_id: string;
  done: number;
  total?: number | null;
  text?: string;
}
export interface Followed {
  events: readonly Event[];
  progress: ReadonlyMap<string, Progress>;
  feed: Feed;
  heardAt: number; // when the stream was last known to be whole
  earlier: (() => Promise<void>) | undefined; // reads what was before the first event
}

const AT_REST = 5_000; // queries are read again at most so often
const FIRST = 500; // events that are read at first, the newest
const MOST = 2_000; // events that are kept while more arrive: a page that is open for days does not grow
const PAGE = 100;
const LARGEST = 4_000; // bytes of a value in an event: sentences need no more, and queries have all of it
const ENDS = new Set(["NodeCompleted", "NodeFailed", "NodeInDoubt", "NodeUndone", "NodeUndoFailed"]);

function readAll<T>(messages: readonly Message[], name: (event: string) => boolean): T[] {
  return messages.filter((one) => one.data && name(one.event)).map((one) => JSON.parse(one.data) as T);
}

/**
 * Follow an execution once the number of its newest event is known: from its newest events on, however long its log is. A stream
 * ends with its execution; one that is retried or rewound has more to tell, and is followed again.
 */
export function useStream(id: string, newest: number | undefined): Followed {
  const isKnown = newest !== undefined;
  const queries = useQueryClient();
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map());
  const [feed, setFeed] = useState<Feed>("connecting");
  const [heardAt, setHeardAt] = useState(() => Date.now());
  const due = useRef(0);
  const read = useRef({ id, seq: 0 }); // the last event that has come
  const [again, setAgain] = useState({ id, seq: 0 }); // up to which event it is followed again
  useEffect(() => {
    if (!isKnown) return;
    const isSame = read.current.id === id;
    if (!isSame) {
      read.current = { id, seq: 0 };
      setEvents([]);
      setProgress(new Map());
    }
    const known = queries.getQueryData(executionQuery(id).queryKey)?.last_seq ?? 0;
    const since = again.seq > 0 && isSame ? read.current.seq : Math.max(0, known - FIRST);
    const later = () => {
      if (due.current !== 0) return;
      due.current = window.setTimeout(() => {
        due.current = 0;
        void queries.invalidateQueries({ queryKey: ["execution", id] });
      }, AT_REST);
    };
    let wasLive = true;
    const stop = follow(`/api/v1/executions/${id}/stream?since=${since}&largest=${LARGEST}`, {
      tell: (state) => {
        setFeed(state);
        // The data are as old as the loss; tries that fail make them no younger.
        if (state === "live" || (wasLive && (state === "lost" || state === "waiting"))) setHeardAt(Date.now());
        wasLive = state === "live" || (wasLive && state === "connecting");
      },
      take: (messages) => {
        const reports = readAll<Progress>(messages, (name) => name === "progress");
        if (readAll(messages, (name) => name === "log").length > 0)
          void queries.invalidateQueries({ queryKey: ["execution", id, "logs"] });
        const isOther = (name: string) => name === "end" || name === "progress" || name === "log";
        const told = readAll<Event>(messages, (name) => !isOther(name)).filter((one) => typeof one.seq === "number");
        if (reports.length > 0 || told.some((one) => ENDS.has(one.type)))
          setProgress((before) => {
            const next = new Map(before);
            for (const one of reports) next.set(one.context_id, one);
            for (const one of told) if (ENDS.has(one.type) && one.context_id) next.delete(one.context_id);
            return next;
          });
        if (told.length === 0) return;
        read.current.seq = Math.max(read.current.seq, told.at(-1)!.seq);
        setEvents((before) => append(before, told).slice(-MOST));
        const before = queries.getQueryData(executionQuery(id).queryKey)?.last_seq ?? -1;
        const fresh = told.filter((one) => one.seq > before);
        if (fresh.length === 0) return;
        queries.setQueryData(graphQuery(id).queryKey, (graph) => graph && fresh.reduce(reduceGraph, graph));
        queries.setQueryData(executionQuery(id).queryKey, (one) => one && fresh.reduce(reduceExecution, one));
        later();
      },
    });
    return () => {
      stop();
      window.clearTimeout(due.current);
      due.current = 0;
    };
  }, [id, isKnown, queries, again]);
  useEffect(() => {
    // Each number of events once: a log whose newest events were not sent is not asked for again and again.
    const tried = again.id === id ? again.seq : 0;
    if (
      feed === "ended" &&
      newest !== undefined &&
      read.current.id === id &&
      newest > read.current.seq &&
      newest > tried
    )
      setAgain({ id, seq: newest });
  }, [id, feed, newest, again]);
  const first = events[0]?.seq ?? 0;
  const earlier = async () => {
    const since = Math.max(0, first - PAGE);
    const query = { since, limit: Math.min(PAGE, first - since) };
    const page = await take(client.GET("/api/v1/executions/{id}/history", { params: { path: { id }, query } }));
    setEvents((now) => [...page.items.filter((one) => one.seq < (now[0]?.seq ?? 0)), ...now]);
  };
  return { events, progress, feed, heardAt, earlier: first > 1 ? earlier : undefined };
}
