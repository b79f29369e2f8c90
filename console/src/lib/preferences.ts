/** What a person has set, as this browser knows it: theme, time zone, single keys, where the console opens. */
import { useSyncExternalStore } from "react";

export interface Preferences {
  theme: "auto" | "light" | "dark";
  zone: "local" | "utc";
  singleKeys: boolean;
  landing: Screen | null; // null: by what they may do
}
export const SCREENS = ["inbox", "executions", "workflows", "operations"] as const;
export type Screen = (typeof SCREENS)[number];

const NAME = "layover.preferences";
const USUAL: Preferences = { theme: "auto", zone: "local", singleKeys: true, landing: null };
const listeners = new Set<() => void>();

function read(): Preferences {
  try {
    return { ...USUAL, ...(JSON.parse(localStorage.getItem(NAME) ?? "{}") as Partial<Preferences>) };
  } catch {
    return USUAL;
  }
}

let current = read();

export function preferences(): Preferences {
  return current;
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(NAME, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  const root = document.documentElement;
  if (current.theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = current.theme;
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
