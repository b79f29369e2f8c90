/**
 * What the server finds in a text, asked for a moment after the last key; an answer about an older text is dropped. What was not
 * answered is asked again by itself, as of every other screen; until then the text counts as not checked.
 */
import { useCallback, useEffect, useState } from "react";
import { asText, client, isPassing, Problem, type Schemas, take } from "../api/client";

export type Checked = Schemas["CheckedDefinition"];
const PATIENCE = 400; // ms without a key
const AGAIN = 5_000;

export interface Check {
  text: string; // that was checked
  found: Checked | null;
  error: unknown; // why the newest text could not be checked
}

export function useCheck(text: string): Check & { again: () => void } {
  const [check, setCheck] = useState<Check>({ text: "", found: null, error: null });
  const [tries, setTries] = useState(0);
  const again = useCallback(() => setTries((n) => n + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try asks about the same text
  useEffect(() => {
    const controller = new AbortController();
    let later = 0;
    const timer = window.setTimeout(async () => {
      try {
        const found = await take(
          client.POST("/api/v1/workflows/check", { ...asText(text), signal: controller.signal }),
        );
        if (!controller.signal.aborted) setCheck({ text, found, error: null });
      } catch (error) {
        if (controller.signal.aborted) return;
        setCheck((before) => ({ ...before, error }));
        if (isPassing(error))
          later = window.setTimeout(again, (error instanceof Problem && error.retryAfter * 1_000) || AGAIN);
      }
    }, PATIENCE);
    return () => {
      controller.abort();
      window.clearTimeout(timer);
      window.clearTimeout(later);
    };
  }, [text, tries]);
  return { ...check, again };
}
