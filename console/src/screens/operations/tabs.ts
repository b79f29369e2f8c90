/** The tabs, and what a caller needs to see each. */
export const TABS = {
  overview: "execution:read",
  timers: "execution:read",
  batches: "execution:read",
  deliveries: "execution:read",
  destinations: "admin",
  triggers: "workflow:read",
  keys: "admin",
  audit: "audit:read",
} as const;
export type Tab = keyof typeof TABS;

export function visibleTabs(permissions: readonly string[]): Tab[] {
  return (Object.keys(TABS) as Tab[]).filter((tab) => permissions.includes(TABS[tab]));
}

/** Return the tab that an address asks for, the first one if it asks for none, and nothing if it may not be seen. */
export function firstTab(asked: string, permissions: readonly string[]): Tab | undefined {
  const shown = visibleTabs(permissions);
  return asked ? shown.find((tab) => tab === asked) : shown[0];
}

/** Operators, auditors and administrators have something to do here; others find nothing in the navigation. */
export function isOperator(permissions: readonly string[] | undefined): boolean {
  return ["execution:cancel", "audit:read", "admin"].some((one) => permissions?.includes(one));
}
