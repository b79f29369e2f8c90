/** What a person sets for themselves: theme, time zone, single keys, the first screen; and the way out. */
import { useQueryClient } from "@tanstack/react-query";
import { client } from "../api/client";
import { useChange } from "../api/settings";
import { signInPath } from "../lib/base";
import { type Preferences, SCREENS, usePreferences } from "../lib/preferences";
import { en } from "../words/en";
import { ops } from "../words/operations";
import { Dialog } from "./Frame";

export function Settings({ close, operates }: { close: () => void; operates: boolean }) {
  const now = usePreferences();
  const { change, error } = useChange();
  const queries = useQueryClient();
  return (
    <Dialog title={en.settings} close={close}>
      <div className="field">
        <label htmlFor="theme">{en.theme.label}</label>
        <select
          id="theme"
          value={now.theme}
          onChange={(e) => change({ theme: e.target.value as Preferences["theme"] })}
        >
          <option value="auto">{en.theme.auto}</option>
          <option value="light">{en.theme.light}</option>
          <option value="dark">{en.theme.dark}</option>
        </select>
      </div>
      <div className="field">
        <label htmlFor="zone">{en.zone.label}</label>
        <select id="zone" value={now.zone} onChange={(e) => change({ zone: e.target.value as Preferences["zone"] })}>
          <option value="local">{en.zone.local}</option>
          <option value="utc">{en.zone.utc}</option>
        </select>
      </div>
      <div className="field check">
        <input
          id="single"
          type="checkbox"
          checked={now.singleKeys}
          onChange={(e) => change({ singleKeys: e.target.checked })}
        />
        <label htmlFor="single">{en.singleKeys}</label>
      </div>
      <div className="field">
        <label htmlFor="landing">{en.landing.label}</label>
        <select
          id="landing"
          value={now.landing ?? ""}
          onChange={(e) => change({ landing: (e.target.value || null) as Preferences["landing"] })}
        >
          <option value="">{en.landing.usual}</option>
          {SCREENS.filter((one) => one !== "operations" || operates).map((one) => (
            <option key={one} value={one}>
              {one === "operations" ? ops.title : en.nav[one]}
            </option>
          ))}
        </select>
      </div>
      <p className="soft">{error ? en.keptHere : en.keptForYou}</p>
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
