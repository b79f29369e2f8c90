/** What the server finds in a text, asked for a moment after the last key; an answer about an older text is dropped. */
import { useEffect, useState } from "react";
import { asText, client, type Schemas, take } from "../api/client";

export type Checked = Schemas["CheckedDefinition"];
const PATIENCE = 400; // ms without a key

export interface Check {
  text: string; // that was checked
  found: Checked | null;
  error: unknown;
}

export function useCheck(text: string): Check {
  const [check, setCheck] = useState<Check>({ text: "", found: null, error: null });
  useEffect(() => {
    const controller = new AbortController();
    const timer = window.setTimeout(async () => {
      try {
        const found = await take(
          client.POST("/api/v1/workflows/check", { ...asText(text), signal: controller.signal }),
        );
        if (!controller.signal.aborted) setCheck({ text, found, error: null });
      } catch (error) {
        if (!controller.signal.aborted) setCheck((before) => ({ ...before, text, error }));
      }
    }, PATIENCE);
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [text]);
  return check;
}
