/** Filters that a person keeps under a name: one press shows them again, wherever they sign in. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, take } from "../api/client";
import { type Chip, chipsOf, filterOf, write } from "../lib/filter";
import { Dialog, Refused } from "../parts/Frame";
import { acts } from "../words/acts";
import { en } from "../words/en";

const words = acts.views;
const key = ["views"];
const PART_OF_PATH = /^(?!\.{1,2}$)[^/]+$/; // a browser would send other names elsewhere; the server judges the rest

export function SavedViews({ chips, set }: { chips: readonly Chip[]; set: (chips: Chip[]) => unknown }) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [name, setName] = useState("");
  const [isWrong, setWrong] = useState(false);
  const found = useQuery({ queryKey: key, queryFn: () => take(client.GET("/api/v1/me/views")), staleTime: 60_000 });
  const changed = () => queries.invalidateQueries({ queryKey: key });
  const save = useMutation({
    mutationFn: () =>
      take(
        client.PUT("/api/v1/me/views/{name}", {
          params: { path: { name: name.trim() } },
          body: { filter: filterOf(chips) } as never,
        }),
      ),
    onSuccess: () => {
      setAsking(false);
      setName("");
    },
    onSettled: changed,
  });
  const remove = useMutation({
    mutationFn: (which: string) =>
      take(client.DELETE("/api/v1/me/views/{name}", { params: { path: { name: which } } })),
    onSettled: changed,
  });
  const views = (found.data?.items ?? []).flatMap((one) => {
    const its = chipsOf(one.filter);
    return its === null ? [] : [{ name: one.name, chips: its }];
  });
  const now = write(chips);
  const current = views.find((one) => write(one.chips) === now);
  if (views.length === 0 && chips.length === 0) return null;
  return (
    <div className="views" role="group" aria-label={words.title}>
      {views.map((one) => (
        <button
          type="button"
          className="chip"
          key={one.name}
          aria-pressed={one === current}
          onClick={() => set(one === current ? [] : one.chips)}
        >
          <bdi>{one.name}</bdi>
        </button>
      ))}
      {current ? (
        <button
          type="button"
          className="quiet"
          disabled={remove.isPending}
          onClick={() => remove.mutate(current.name)}
          aria-label={words.removeNamed(current.name)}
        >
          {words.remove}
        </button>
      ) : (
        chips.length > 0 && (
          <button type="button" className="quiet" onClick={() => setAsking(true)}>
            {words.save}
          </button>
        )
      )}
      {remove.error && <Refused error={remove.error} />}
      {asking && (
        <Dialog title={words.saveTitle} close={() => setAsking(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              setWrong(!PART_OF_PATH.test(name.trim()));
              if (PART_OF_PATH.test(name.trim())) save.mutate();
            }}
          >
            <p className="mono">
              <bdi>{now}</bdi>
            </p>
            <div className="field">
              <label htmlFor="view-name">{words.name}</label>
              <input
                id="view-name"
                data-first
                value={name}
                maxLength={100}
                required
                onChange={(event) => setName(event.target.value)}
              />
            </div>
            {isWrong ? (
              <p className="notice bad" role="alert">
                {words.wrongName}
              </p>
            ) : (
              save.error && <Refused error={save.error} />
            )}
            <div className="acts">
              <button type="submit" className="main" disabled={save.isPending}>
                {words.saveDo}
              </button>
              <button type="button" onClick={() => setAsking(false)}>
                {en.cancel}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </div>
  );
}
