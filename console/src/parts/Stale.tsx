/** Says how old the data of a screen are once they are older than they should be. */
import { age } from "../lib/time";
import { acts } from "../words/acts";
import { useNow } from "./Frame";

export function Stale({ at, after }: { at: number; after: number }) {
  const now = useNow(1_000);
  if (at === 0 || now - at < after) return null;
  return (
    <span className="stale" role="status">
      {acts.stale(age(new Date(at).toISOString(), now))}
    </span>
  );
}
