/** What is around every screen: navigation, keyboard, settings. */
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Problem } from "../api/client";
import { inboxQuery, sessionQuery } from "../api/queries";
import { useSettings } from "../api/settings";
import { useKeys } from "../lib/keys";
import { preferences, usePreferences } from "../lib/preferences";
import { isOperator } from "../screens/operations/tabs";
import { en } from "../words/en";
import { ops } from "../words/operations";
import { Dialog, Refused } from "./Frame";
import { Palette } from "./Palette";
import { Settings } from "./Settings";

type Open = "" | "palette" | "keys" | "settings";

export function Shell() {
  const session = useQuery(sessionQuery);
  const inbox = useQuery(inboxQuery);
  const navigate = useNavigate();
  const operates = isOperator(session.data?.permissions);
  const [open, setOpen] = useState<Open>("");
  const close = () => setOpen("");
  useKeys({
    "ctrl k": () => setOpen("palette"),
    "?": () => setOpen("keys"),
    "g i": () => navigate({ to: "/" }),
    "g e": () => navigate({ to: "/executions", search: {} }),
    "g w": () => navigate({ to: "/workflows" }),
    // Who is signed in may not be known yet; the screen itself says what a person may not see.
    "g o": () => (operates || session.isPending) && navigate({ to: "/operations", search: {} }),
  });
  const waiting = inbox.data?.items.length ?? 0;
  const isSettled = useSettings(session.data !== undefined);
  // What is seen and typed stays where only a repeated question about the session failed.
  const isOver = session.error instanceof Problem && session.error.status === 401;
  useLanding(session.data?.permissions, isSettled);
  const { zone } = usePreferences();
  const side = useRef<HTMLElement>(null);
  const { pathname } = useRouterState({ select: (state) => state.location });
  // biome-ignore lint/correctness/useExhaustiveDependencies: where the page is may be out of sight on a phone
  useEffect(() => {
    const at = side.current?.querySelector<HTMLElement>('a[aria-current="page"]:not(.brand)');
    if (side.current && at) side.current.scrollLeft = at.offsetLeft - (side.current.clientWidth - at.clientWidth) / 2;
  }, [pathname, operates]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {en.skip}
      </a>
      <nav className="side" aria-label={en.nav.main} ref={side}>
        <Link to="/" className="brand">
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d="M5.5 3v10M10.5 3v10" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
          </svg>
          {en.name}
        </Link>
        <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
          {en.nav.inbox}
          {waiting > 0 && <span className="badge">{inbox.data?.next ? `${waiting}+` : waiting}</span>}
        </Link>
        <Link to="/executions" search={{}} activeOptions={{ includeSearch: false }}>
          {en.nav.executions}
        </Link>
        <Link to="/workflows">{en.nav.workflows}</Link>
        {operates && (
          <Link to="/operations" search={{}} activeOptions={{ includeSearch: false }}>
            {ops.title}
          </Link>
        )}
        <span className="grow" />
        <button
          type="button"
          className="who"
          onClick={() => setOpen("settings")}
          aria-label={`${en.settings}: ${session.data?.user ?? ""}`}
        >
          <bdi>{session.data?.user}</bdi>
        </button>
        <button type="button" className="who" onClick={() => setOpen("keys")} aria-label={en.keys.title}>
          ?
        </button>
      </nav>
      <main id="main" tabIndex={-1}>
        {session.error && (isOver || !session.data) ? (
          <>
            <h1 className="hidden">{en.name}</h1>
            <Refused error={session.error} retry={() => void session.refetch()} />
          </>
        ) : (
          <Outlet key={zone /* every time on the screen is written anew */} />
        )}
      </main>
      {open === "palette" && <Palette close={close} show={setOpen} />}
      {open === "keys" && <KeySheet close={close} />}
      {open === "settings" && <Settings close={close} operates={operates} />}
    </div>
  );
}

/** The console opens where its user wants it; else who operates and decides nothing lands on the executions. */
function useLanding(permissions: readonly string[] | undefined, isSettled: boolean): void {
  const navigate = useNavigate();
  const { pathname, search } = useRouterState({ select: (state) => state.location });
  const isFirst = useRef(true);
  useEffect(() => {
    if (permissions === undefined || !isSettled || !isFirst.current) return;
    isFirst.current = false;
    if (pathname !== "/" || Object.keys(search).length > 0) return;
    const usual = permissions.includes("execution:cancel") && !permissions.includes("approval:decide");
    const landing = preferences().landing ?? (usual ? "executions" : "inbox");
    if (landing === "executions" || landing === "operations")
      void navigate({ to: `/${landing}`, search: {}, replace: true });
    else if (landing === "workflows") void navigate({ to: "/workflows", replace: true });
  }, [permissions, isSettled, pathname, search, navigate]);
}

function KeySheet({ close }: { close: () => void }) {
  return (
    <Dialog title={en.keys.title} close={close}>
      <dl className="keys">
        {en.keys.rows.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
