/** Server-sent events by `fetch`: with our header, status codes, backoff, and `Last-Event-ID` after a loss. */
import { base } from "../lib/base";
import { HEADERS } from "./client";
import { inTurn } from "./turns";

export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Collects text as it comes, cut anywhere, and gives the messages that are whole. */
export class Cutter {
  #rest = "";

  add(text: string): Message[] {
    this.#rest += text;
    const messages: Message[] = [];
    for (;;) {
      // A "\r" at the very end may be half of a "\r\n".
      const end = /\r\n\r\n|\n\n|\r\r(?!$)/.exec(this.#rest);
      if (end === null) return messages;
      const message = messageOf(this.#rest.slice(0, end.index));
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (message !== null) messages.push(message);
    }
  }
}

function messageOf(block: string): Message | null {
  const message: Message = { id: "", event: "message", data: "" };
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue; // a comment, by which a quiet stream is kept open
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") message.id = value;
    else if (name === "event") message.event = value;
    else if (name === "data") data.push(value);
  }
  message.data = data.join("\n");
  return data.length > 0 || message.event !== "message" ? message : null;
}

export type Feed = "live" | "connecting" | "waiting" | "lost" | "ended" | "refused";
const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

/**
 * Follow a stream until the returned function is called. A hidden page follows nothing, and pages that are seen follow in turns
 * if there are many: HTTP/1.1 has six connections for each host, and streams would keep the next page from loading.
 */
export function follow(
  path: string,
  handlers: { take: (messages: Message[]) => void; tell: (feed: Feed) => void },
  last = "",
): () => void {
  let stopped = false;
  let controller = new AbortController();
  let wake = () => {};
  const onVisibility = () => {
    if (document.visibilityState === "hidden") controller.abort();
    else wake();
  };
  document.addEventListener("visibilitychange", onVisibility);

  const sleep = (ms: number) =>
    new Promise<void>((done) => {
      const timer = window.setTimeout(done, ms);
      wake = () => {
        window.clearTimeout(timer);
        done();
      };
    });

  let wait = FIRST_WAIT;
  let isOver = false; // there is nothing more to read

  async function read(signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = { ...HEADERS, Accept: "text/event-stream" };
    if (last) headers["Last-Event-ID"] = last;
    const response = await fetch(base + path, { headers, signal });
    if (response.status === 401 || response.status === 403 || response.status === 404) {
      isOver = true;
      handlers.tell("refused");
      return;
    }
    if (!response.ok || response.body === null) throw new Error(String(response.status));
    handlers.tell("live");
    wait = FIRST_WAIT;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const cutter = new Cutter();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const messages = cutter.add(value);
      for (const message of messages) if (message.id) last = message.id;
      if (messages.length > 0) handlers.take(messages);
      if (messages.some((message) => message.event === "end")) {
        isOver = true;
        handlers.tell("ended");
        return;
      }
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      if (document.visibilityState === "hidden") {
        await sleep(3_600_000);
        continue;
      }
      controller = new AbortController();
      handlers.tell("connecting");
      try {
        const hasGivenWay = await inTurn(controller.signal, () => handlers.tell("waiting"), read);
        if (hasGivenWay && !isOver && !stopped) {
          handlers.tell("waiting");
          continue;
        }
      } catch {
        // The loop tries again.
      }
      if (isOver) return;
      if (stopped) return;
      handlers.tell("lost");
      await sleep(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }
  void run();
  return () => {
    stopped = true;
    controller.abort();
    wake();
    document.removeEventListener("visibilitychange", onVisibility);
  };
}
