/** Events of a log as sentences. What only the engine needs has none, and is not listed. */
import type { Schemas } from "../api/client";
import { brief } from "../lib/brief";

type Event = Schemas["Event"];
const text = (value: unknown): string => (typeof value === "string" ? brief(value, 500) : "");
const by = (event: Event): string => (text(event.data.by) ? ` by ${text(event.data.by)}` : "");
const because = (event: Event): string => (text(event.data.reason) ? `: ${text(event.data.reason)}` : "");
const message = (event: Event): string => text((event.data.error as { message?: unknown } | undefined)?.message);

/** The node of an event as people know it: its id, without the scopes around it. */
export function nodeOf(context: string | null | undefined): string {
  return (context ?? "").split(":")[0] ?? "";
}

/** A sentence of the server with the names of nodes instead of their context ids. */
export function inWords(text: string): string {
  return text
    .replace(/`([^`:]+)(?::[^`]*)?`/g, "$1")
    .replace(ID, (id) => id.slice(-8)) // as the list of executions has them
    .replace(/\.( \(and \d+ more\))$/, "$1.");
}

const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

type Told = { glyph: string; text: string };
const SENTENCES: Record<string, (event: Event, node: string) => Told> = {
  ExecutionCreated: (e) => ({
    glyph: "pending",
    text: `created${text(e.data.user) ? ` by ${text(e.data.user)}` : ""}`,
  }),
  ExecutionStarted: () => ({ glyph: "running", text: "started" }),
  ExecutionPausing: (e) => ({ glyph: "pausing", text: `to be paused${by(e)}${because(e)}` }),
  ExecutionPaused: () => ({ glyph: "pausing", text: "paused" }),
  ExecutionResumed: (e) => ({ glyph: "running", text: `resumed${by(e)}${because(e)}` }),
  ExecutionCompleted: () => ({ glyph: "completed", text: "completed" }),
  ExecutionFailed: (e) => ({ glyph: "failed", text: `failed: ${message(e)}` }),
  ExecutionCancelled: (e) => ({ glyph: "cancelled", text: `cancelled${by(e)}${because(e)}` }),
  ExecutionReopened: (e) => ({ glyph: "running", text: `reopened for a ${text(e.data.why)}${by(e)}` }),
  NodeRewound: (e, n) => ({ glyph: "pending", text: `${n} was rewound${by(e)}${because(e)}` }),
  NodeStarted: (e, n) => ({
    glyph: "running",
    text: (e.attempt ?? 1) > 1 ? `${n} started, attempt ${e.attempt}` : `${n} started`,
  }),
  NodeCompleted: (e, n) => {
    const port = text(e.data.port);
    return { glyph: "completed", text: `${n} finished${port && port !== "done" ? `: ${port}` : ""}` };
  },
  NodeFailed: (e, n) => ({
    glyph: e.data.retry_at ? "waiting" : "failed",
    text: `${n} failed${e.data.retry_at ? ", tries again" : ""}: ${message(e)}`,
  }),
  NodeRecorded: (e, n) => ({ glyph: "completed", text: `${n} recorded ${text(e.data.key)}` }),
  NodeInDoubt: (_, n) => ({ glyph: "incident", text: `${n}: not known whether its call happened` }),
  NodeUndoRequested: (_, n) => ({ glyph: "person", text: `${n}: its lost call is to be undone` }),
  NodeUndone: (_, n) => ({ glyph: "running", text: `${n}: its lost call was undone` }),
  NodeUndoFailed: (e, n) => ({
    glyph: e.data.retry_at ? "waiting" : "failed",
    text: `${n}: the undo of its lost call failed${e.data.retry_at ? ", tries again" : ""}: ${message(e)}`,
  }),
  PausePointOpened: (e, n) => {
    const kind = text(e.data.kind);
    const title = text((e.data.details as { title?: unknown } | undefined)?.title);
    const people = kind === "approval" || kind === "form";
    return {
      glyph: people ? "person" : "waiting",
      text: people ? `${n} asks${title ? `: ${title}` : ""}` : `${n} waits (${kind})`,
    };
  },
  PausePointDecided: (e, n) => {
    const decision = e.data.decision as { by?: unknown; approved?: unknown } | undefined;
    return {
      glyph: "person",
      text: `${text(decision?.by)} ${decision?.approved ? "approved" : "rejected"}${n ? ` ${n}` : ""}`,
    };
  },
  PausePointAnswered: (e, n) => ({ glyph: "completed", text: `${n || "the question"} was answered${by(e)}` }),
  PausePointTakenBack: (e) => ({ glyph: "person", text: `the answer was taken back${by(e)}${because(e)}` }),
  PausePointExpired: (_, n) => ({ glyph: "waiting", text: n ? `the wait of ${n} is over` : "a wait is over" }),
  PausePointCancelled: (e, n) => ({
    glyph: "cancelled",
    text: `the wait${n ? ` of ${n}` : ""} was given up${by(e)}${because(e)}`,
  }),
  PausePointClaimed: (e) => ({ glyph: "person", text: `claimed${by(e)}` }),
  PausePointDelegated: (e) => ({ glyph: "person", text: `${text(e.data.giver)} delegated to ${text(e.data.taker)}` }),
  PausePointAsked: (e) => ({
    glyph: "person",
    text: `${text(e.data.by)} asked ${text(e.data.to)}: ${text(e.data.question)}`,
  }),
  PausePointReplied: (e) => ({ glyph: "person", text: `${text(e.data.by)} replied: ${text(e.data.reply)}` }),
  PausePointReminded: () => ({ glyph: "waiting", text: "a reminder was sent" }),
  PausePointEscalated: () => ({ glyph: "person", text: "more people were asked" }),
  PausePointReceived: (_, n) => ({ glyph: "waiting", text: `a signal arrived${n ? ` for ${n}` : ""}` }),
};

export function sentence(event: Event): Told | null {
  return SENTENCES[event.type]?.(event, nodeOf(event.context_id)) ?? null;
}
