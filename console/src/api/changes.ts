/** The stream of all changes, for pages with lists: rows change in place, and what is counted is read again at rest. */
import { type InfiniteData, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Schemas } from "./client";
import { type Feed, follow, type Message } from "./stream";

type Row = Schemas["ExecutionSummary"];
type Pages = InfiniteData<{ items: Row[]; next?: string | null }, string>;

const AT_REST = 5_000; // lists and counts are read again at most so often
const SELDOM = 60_000;
let feed: Feed = "connecting";

/** How long until a list is read again by itself: seldom while changes are told of. */
export function every(usual: number): () => number {
  return () => (feed === "live" ? SELDOM : usual);
}

/** Put executions as they are now into pages of a list; the same pages if none of them is there. */
export function reducePages(pages: Pages, changed: ReadonlyMap<string, Row>): Pages {
  if (!pages.pages.some((page) => page.items.some((row) => changed.has(row.id)))) return pages;
  const now = (row: Row) => {
    const other = changed.get(row.id);
    return other && other.last_seq >= row.last_seq ? other : row;
  };
  return { ...pages, pages: pages.pages.map((page) => ({ ...page, items: page.items.map(now) })) };
}

function take(queries: QueryClient, messages: readonly Message[]): void {
  const told = messages.filter((one) => one.event === "execution" && one.data);
  const changed = new Map(told.map((one) => JSON.parse(one.data) as Row).map((row) => [row.id, row]));
  queries.setQueriesData<Pages>({ queryKey: ["executions", "list"] }, (pages) => pages && reducePages(pages, changed));
}

function readAgain(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: ["points", "me"] });
  void queries.invalidateQueries({ queryKey: ["points", "asked"] });
  void queries.invalidateQueries({ queryKey: ["executions", "counts"] });
  void queries.invalidateQueries({ queryKey: ["executions", "newest"] });
}

/** Follow all changes while a page is seen. */
export function useChanges(): Feed {
  const queries = useQueryClient();
  const [state, setState] = useState<Feed>(feed);
  useEffect(() => {
    let due = 0;
    let readAt = Date.now(); // the page is being read
    let wasCut = false;
    const later = () => {
      if (due !== 0) return;
      const wait = Math.max(0, readAt + AT_REST - Date.now());
      due = window.setTimeout(() => {
        due = 0;
        readAt = Date.now();
        readAgain(queries);
      }, wait);
    };
    // Nobody says what became of rows meanwhile: they are read again, as far as they were read.
    const missed = () => {
      void queries.invalidateQueries({ queryKey: ["executions", "list"] }, { cancelRefetch: false });
      later();
    };
    const stop = follow("/api/v1/changes", {
      tell: (told) => {
        feed = told;
        setState(told);
        // What changed after a page was read and before it heard of changes was not told of.
        if (told === "live") wasCut ? missed() : later();
        wasCut = (wasCut && told !== "live") || told === "lost" || told === "waiting";
      },
      take: (messages) => {
        take(queries, messages);
        if (messages.some((one) => one.event === "lost")) missed();
        later();
      },
    });
    return () => {
      stop();
      window.clearTimeout(due);
      feed = "connecting";
    };
  }, [queries]);
  return state;
}
