/** What people do at a pause point, each as one request. An answer names the view that was shown, and is refused if it changed. */
import { client, key, type Schemas, take } from "./client";

type PausePoint = Schemas["PausePoint"];

export type Decide = { act: "approve" | "reject" | "answer"; data: unknown; comment: string };
export type Act =
  | Decide
  | { act: "claim" | "take-over" | "release" | "take-back" }
  | { act: "delegate" | "reply"; text: string }
  | { act: "ask"; text: string; to?: string };

export function send(point: PausePoint, act: Act): Promise<PausePoint> {
  const header = key();
  const params = { path: { id: point.id }, header };
  const pinned = {
    path: { id: point.id },
    header: { ...header, ...(point.view ? { "If-Match": `"${point.view}"` } : {}) },
  };
  switch (act.act) {
    case "approve":
    case "reject": {
      const body = {
        ...(act.comment ? { comment: act.comment } : {}),
        ...(act.data === undefined ? {} : { data: act.data }),
      };
      return act.act === "approve"
        ? take(client.POST("/api/v1/approvals/{id}/approve", { params: pinned, body: body as never }))
        : take(client.POST("/api/v1/approvals/{id}/reject", { params: pinned, body: body as never }));
    }
    case "answer":
      return take(
        client.POST("/api/v1/pause-points/{id}/answer", {
          params: pinned,
          body: { data: act.data, ...(act.comment ? { comment: act.comment } : {}) } as never,
        }),
      );
    case "claim":
    case "take-over":
      return take(
        client.POST("/api/v1/pause-points/{id}/claim", { params, body: { take: act.act === "take-over" } as never }),
      );
    case "release":
      return take(client.DELETE("/api/v1/pause-points/{id}/claim", { params: { path: { id: point.id } } }));
    case "take-back":
      return take(client.POST("/api/v1/pause-points/{id}/take-back", { params, body: {} as never }));
    case "delegate":
      return take(client.POST("/api/v1/approvals/{id}/delegate", { params, body: { to: act.text } as never }));
    case "ask":
      return take(
        client.POST("/api/v1/pause-points/{id}/ask", {
          params,
          body: { question: act.text, ...(act.to ? { to: act.to } : {}) } as never,
        }),
      );
    case "reply":
      return take(client.POST("/api/v1/pause-points/{id}/reply", { params, body: { text: act.text } as never }));
  }
}
