/** Where the server is mounted: its page says so, so that one build serves under any path. */
export const base: string = document.querySelector<HTMLMetaElement>('meta[name="layover-base"]')?.content ?? "";

/** Leads to the sign-in, and from there back to where the page is now. Drafts stay in this browser tab. */
export function signInPath(): string {
  const here = window.location.pathname + window.location.search;
  return `${base}/sign-in?next=${encodeURIComponent(here)}`;
}
