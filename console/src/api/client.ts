/** The HTTP interface, typed by its own document. The header says that a request comes from the console's page. */
import createClient from "openapi-fetch";
import { base } from "../lib/base";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export const HEADERS = { "X-Layover-Console": "1" };
export const client = createClient<paths>({ baseUrl: base || window.location.origin, headers: HEADERS });

/** A refusal: what the server says about it, and the id by which its log has the request. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly requestId: string,
    readonly retryAfter: number,
    readonly errors: readonly { path?: string; message?: string }[] = [],
  ) {
    super(detail);
  }
}

/** Whether the same request may be answered a little later: it did not arrive, or came too often. */
export function isPassing(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500);
}

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Return what was answered, or throw what was refused. */
export async function take<T>(answer: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>;
  try {
    answered = await answer;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(0, "unreachable", error instanceof Error ? error.message : String(error), "", 0);
  }
  if (answered.response.ok) return answered.data as T;
  throw problemOf(answered.response, answered.error);
}

export function problemOf(response: Response, body: unknown): Problem {
  const told = (typeof body === "object" && body !== null ? body : {}) as {
    code?: string;
    detail?: string;
    title?: string;
    errors?: { path?: string; message?: string }[];
  };
  return new Problem(
    response.status,
    told.code ?? "unknown",
    told.detail ?? told.title ?? response.statusText,
    response.headers.get("x-request-id") ?? "",
    Number(response.headers.get("retry-after") ?? 0),
    told.errors ?? [],
  );
}

/** A definition as the text that it is: JSON if it can be read as that, else YAML. */
export function asText(text: string) {
  const type = text.trimStart().startsWith("{") && isJson(text) ? "json" : "yaml";
  const headers = { "Content-Type": `application/${type}` };
  return { headers, bodySerializer: (body: unknown) => body as string, body: text as never };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A key under which an act is done once, however often it is sent. */
export function key(): { "Idempotency-Key": string } {
  return { "Idempotency-Key": crypto.randomUUID() };
}
