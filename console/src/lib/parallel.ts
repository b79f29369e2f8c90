/** Many requests, a few at a time; one that came too soon is sent again when the server says so. */
import { Problem } from "../api/client";

const AT_ONCE = 4;
const TRIES = 5;
const sleep = (ms: number) => new Promise<void>((done) => window.setTimeout(done, ms));

export interface Outcome<T> {
  item: T;
  error: unknown; // null: done
}

/** Send each item, tell after each how many are through, and return what became of them, in their order. */
export async function sendAll<T>(
  items: readonly T[],
  send: (item: T) => Promise<unknown>,
  tell: (through: number) => void,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = items.map((item) => ({ item, error: null }));
  let at = 0;
  let through = 0;
  const work = async () => {
    for (let i = at++; i < items.length; i = at++) {
      outcomes[i] = { item: items[i]!, error: await attempt(() => send(items[i]!)) };
      tell(++through);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return outcomes;
}

async function attempt(send: () => Promise<unknown>): Promise<unknown> {
  for (let n = 1; ; n++) {
    try {
      await send();
      return null;
    } catch (error) {
      const again = error instanceof Problem && error.status === 429 && n < TRIES;
      if (!again) return error;
      await sleep(1_000 * Math.max(1, error.retryAfter));
    }
  }
}
