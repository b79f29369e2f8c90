/** What is around every screen: navigation, keyboard, settings. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { client } from "../api/client";
import { inboxQuery, sessionQuery, workflowsQuery } from "../api/queries";
import { signInPath } from "../lib/base";
import { useKeys } from "../lib/keys";
import { type Preferences, setPreferences, usePreferences } from "../lib/preferences";
import { isOperator } from "../screens/operations/tabs";
import { en } from "../words/en";
import { ops } from "../words/operations";
import { Dialog, Refused } from "./Frame";

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
  useLanding(session.data?.permissions);
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
        {session.error ? <Refused error={session.error} retry={() => void session.refetch()} /> : <Outlet />}
      </main>
      {open === "palette" && <Palette close={close} operates={operates} />}
      {open === "keys" && <KeySheet close={close} />}
      {open === "settings" && <Settings close={close} />}
    </div>
  );
}

/** Who operates and decides nothing lands on the executions; who goes to the inbox later stays there. */
function useLanding(permissions: readonly string[] | undefined): void {
  const navigate = useNavigate();
  const { pathname, search } = useRouterState({ select: (state) => state.location });
  const isFirst = useRef(true);
  useEffect(() => {
    if (permissions === undefined || !isFirst.current) return;
    isFirst.current = false;
    const lands = permissions.includes("execution:cancel") && !permissions.includes("approval:decide");
    if (lands && pathname === "/" && Object.keys(search).length === 0)
      void navigate({ to: "/executions", search: {}, replace: true });
  }, [permissions, pathname, search, navigate]);
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

function Settings({ close }: { close: () => void }) {
  const now = usePreferences();
  const queries = useQueryClient();
  return (
    <Dialog title={en.settings} close={close}>
      <div className="field">
        <label htmlFor="theme">{en.theme.label}</label>
        <select
          id="theme"
          value={now.theme}
          onChange={(e) => setPreferences({ theme: e.target.value as Preferences["theme"] })}
        >
          <option value="auto">{en.theme.auto}</option>
          <option value="light">{en.theme.light}</option>
          <option value="dark">{en.theme.dark}</option>
        </select>
      </div>
      <div className="field">
        <label htmlFor="zone">{en.zone.label}</label>
        <select
          id="zone"
          value={now.zone}
          onChange={(e) => setPreferences({ zone: e.target.value as Preferences["zone"] })}
        >
          <option value="local">{en.zone.local}</option>
          <option value="utc">{en.zone.utc}</option>
        </select>
      </div>
      <div className="field check">
        <input
          id="single"
          type="checkbox"
          checked={now.singleKeys}
          onChange={(e) => setPreferences({ singleKeys: e.target.checked })}
        />
        <label htmlFor="single">{en.singleKeys}</label>
      </div>
      <div className="acts">
        <button
          type="button"
          onClick={async () => {
            await client.DELETE("/api/v1/session");
            queries.clear();
            window.location.assign(signInPath());
          }}
        >
          {en.signOut}
        </button>
      </div>
    </Dialog>
  );
}

function Palette({ close, operates }: { close: () => void; operates: boolean }) {
  const navigate = useNavigate();
  const workflows = useQuery(workflowsQuery);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const go = (act: () => unknown) => {
    close();
    act();
  };
  const entries: { name: string; act: () => unknown }[] = [
    { name: en.nav.inbox, act: () => navigate({ to: "/" }) },
    { name: en.nav.executions, act: () => navigate({ to: "/executions", search: {} }) },
    { name: en.nav.workflows, act: () => navigate({ to: "/workflows" }) },
    ...(operates ? [{ name: ops.title, act: () => navigate({ to: "/operations", search: {} }) }] : []),
    ...(workflows.data?.items ?? []).map((one) => ({
      name: one.name,
      act: () => navigate({ to: "/workflows/$name", params: { name: one.name } }),
    })),
  ];
  const shown = entries.filter((one) => one.name.toLowerCase().includes(text.trim().toLowerCase())).slice(0, 12);
  if (text.trim())
    shown.push({
      name: `${en.nav.executions}: ${text.trim()}`,
      act: () => navigate({ to: "/executions", search: { q: text.trim() } }),
    });
  const chosen = Math.min(at, shown.length - 1);
  return (
    <Dialog title={en.palette.title} close={close}>
      <input
        data-first
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={`found-${chosen}`}
        aria-label={en.palette.hint}
        placeholder={en.palette.hint}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, shown.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter" && shown[chosen]) go(shown[chosen].act);
          else return;
          event.preventDefault();
        }}
      />
      <div id="found" role="listbox" aria-label={en.palette.title} className="found">
        {shown.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
          <div role="option" id={`found-${i}`} aria-selected={i === chosen} key={one.name} onClick={() => go(one.act)}>
            <bdi>{one.name}</bdi>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
