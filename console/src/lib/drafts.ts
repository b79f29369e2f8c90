/** What was typed and not sent: kept for this tab, so that a reload or a sign-in loses nothing. */
import { useCallback, useState } from "react";

const PREFIX = "layover.draft.";

export function readDraft<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

export function writeDraft(name: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A full or forbidden store: the draft lives as long as the page.
  }
}

export function useDraft<T>(name: string, usual: T): [T, (value: T) => void, () => void] {
  const [value, setValue] = useState<T>(() => readDraft<T>(name) ?? usual);
  const set = useCallback(
    (next: T) => {
      setValue(next);
      writeDraft(name, next);
    },
    [name],
  );
  const clear = useCallback(() => writeDraft(name, undefined), [name]);
  return [value, set, clear];
}
