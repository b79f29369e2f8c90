/** What a person has set: kept by the server for each of their browsers, and in this browser for the time before the answer. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Preferences, preferences, setPreferences } from "../lib/preferences";
import { client, type Schemas, take } from "./client";

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: () => take(client.GET("/api/v1/me/settings")),
  staleTime: 60_000,
});

/** Settings as the page has them; null if the person has set nothing yet: then those of this browser stay. */
export function toPreferences(found: Schemas["UserSettings"]): Preferences | null {
  if (found.changed_at === null) return null;
  const { theme, zone, single_keys: singleKeys, landing } = found;
  return { theme, zone, singleKeys, landing };
}

function save(wanted: Preferences): Promise<Schemas["UserSettings"]> {
  const { theme, zone, singleKeys: single_keys, landing } = wanted;
  return take(client.PUT("/api/v1/me/settings", { body: { theme, zone, single_keys, landing } }));
}

/** Take over what was set in any browser, once it is known who is signed in. Whether it has arrived, or never will. */
export function useSettings(isSignedIn: boolean): boolean {
  const { data, isFetched } = useQuery({ ...settingsQuery, enabled: isSignedIn });
  useEffect(() => {
    const found = data && toPreferences(data);
    if (found) setPreferences(found);
  }, [data]);
  return isFetched;
}

/** Change a setting: at once in this page, then in the server; what it refuses holds in this browser alone. */
export function useChange(): { change: (what: Partial<Preferences>) => void; error: Error | null } {
  const queries = useQueryClient();
  const sent = useMutation({
    mutationKey: settingsQuery.queryKey,
    scope: { id: "settings" }, // one after the other: the last one holds
    mutationFn: save,
    onSuccess: (found) => {
      const isLast = queries.isMutating({ mutationKey: settingsQuery.queryKey }) <= 1;
      if (isLast) queries.setQueryData(settingsQuery.queryKey, found);
    },
  });
  const change = (what: Partial<Preferences>) => {
    setPreferences(what);
    sent.mutate(preferences());
  };
  return { change, error: sent.error };
}
