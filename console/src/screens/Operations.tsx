/** Operations: what runs where, what is due, what was sent, and who did what. A tab that a caller may not see is not there. */
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { sessionQuery } from "../api/queries";
import { Loading, useTitle } from "../parts/Frame";
import { ops } from "../words/operations";
import { Audit } from "./operations/Audit";
import { Batches } from "./operations/Batches";
import { Deliveries } from "./operations/Deliveries";
import { Destinations } from "./operations/Destinations";
import { Keys } from "./operations/Keys";
import { Overview } from "./operations/Overview";
import { Timers } from "./operations/Timers";
import { Triggers } from "./operations/Triggers";
import { firstTab, TABS, type Tab, visibleTabs } from "./operations/tabs";
import "./operations/operations.css";

const SCREENS: Record<Tab, (props: { may: (permission: string) => boolean }) => React.ReactNode> = {
  overview: Overview,
  timers: () => <Timers />,
  batches: Batches,
  deliveries: Deliveries,
  destinations: () => <Destinations />,
  triggers: Triggers,
  keys: () => <Keys />,
  audit: () => <Audit />,
};

/** On a phone there are more tabs than fit: the chosen one is moved into sight. */
function showTab(link: HTMLAnchorElement | null): void {
  const nav = link?.parentElement;
  if (link && nav) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.clientWidth) / 2;
}

export function Operations() {
  useTitle(ops.title);
  const { tab = "" } = useSearch({ from: "/operations" });
  const session = useQuery(sessionQuery);
  if (!session.data) return <Loading />;
  const permissions = session.data.permissions;
  const shown = visibleTabs(permissions);
  const current = firstTab(tab, permissions);
  const Screen = current && SCREENS[current];
  return (
    <>
      <h1>{ops.title}</h1>
      {shown.length > 0 && (
        <nav className="tabs ops-tabs" aria-label={ops.title}>
          {shown.map((one) => (
            <Link
              key={one}
              to="/operations"
              search={one === "overview" ? {} : { tab: one }}
              activeOptions={{ exact: true }}
              aria-current={one === current ? "page" : undefined}
              ref={one === current ? showTab : undefined}
            >
              {ops.tabs[one]}
            </Link>
          ))}
        </nav>
      )}
      {Screen ? (
        <Screen may={(permission) => permissions.includes(permission)} />
      ) : (
        <div className="sheet empty">
          <p className="big">{ops.denied}</p>
          <p className="soft">{ops.deniedHint(TABS[tab as Tab] ?? "execution:read")}</p>
        </div>
      )}
    </>
  );
}
