/** The versions of a workflow, and what changed from one to another. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { moment } from "../../lib/time";
import { Dialog, Loading, Refused } from "../../parts/Frame";
import { workflowWords as words } from "../../words/workflow";
import { Changes } from "./Changes";
import { diffQuery, versionGraphQuery, versionsQuery } from "./queries";

export function Versions(props: {
  name: string;
  read: (version: number) => void;
  move: ((version: number) => void) | undefined; // missing if the caller may not
}) {
  const { name, move } = props;
  const navigate = useNavigate();
  const found = useQuery(versionsQuery(name));
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} retry={() => void found.refetch()} />;
  const compare = (from: number, to: number) =>
    navigate({ to: "/workflows/$name", params: { name }, search: { tab: "versions", diff: `${from}-${to}` } });
  const newest = found.data.items[0]?.version ?? 1;
  return (
    <>
      {move && newest > 1 && (
        <button type="button" onClick={() => move(newest)}>
          {words.moveHere}
        </button>
      )}
      <ol className="versions">
        {found.data.items.map((one, i) => (
          <li key={one.version}>
            <span>
              {words.version(one.version)} {i === 0 && <span className="soft">· {words.newest}</span>}
              <span className="soft block">{moment(one.created_at)}</span>
            </span>
            <span className="acts">
              {one.version > 1 && (
                <button
                  type="button"
                  aria-label={words.compareWith(one.version - 1, one.version)}
                  onClick={() => void compare(one.version - 1, one.version)}
                >
                  {words.compare}
                </button>
              )}
              <button type="button" aria-label={words.readVersion(one.version)} onClick={() => props.read(one.version)}>
                {words.read}
              </button>
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

export function VersionDiff({ name, diff, close }: { name: string; diff: string; close: () => void }) {
  const navigate = useNavigate();
  const [from = 1, to = 1] = diff.split("-").map((part) => Math.max(1, Number.parseInt(part, 10) || 1));
  const versions = useQuery(versionsQuery(name));
  const found = useQuery(diffQuery(name, from, to));
  const before = useQuery(versionGraphQuery(name, from));
  const after = useQuery(versionGraphQuery(name, to));
  const numbers = versions.data?.items.map((one) => one.version) ?? [from, to];
  const show = (a: number, b: number) =>
    void navigate({ to: "/workflows/$name", params: { name }, search: { tab: "versions", diff: `${a}-${b}` } });
  const error = found.error ?? before.error ?? after.error;
  const choice = (id: string, label: string, value: number, set: (n: number) => void) => (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(Number(event.target.value))}>
        {numbers.map((n) => (
          <option key={n} value={n}>
            {words.version(n)}
          </option>
        ))}
      </select>
    </div>
  );
  return (
    <Dialog title={words.compareWith(from, to)} close={close} side>
      <div className="pair">
        {choice("from", words.before, from, (n) => show(n, to))}
        {choice("to", words.after, to, (n) => show(from, n))}
      </div>
      {error ? (
        <Refused error={error} />
      ) : found.data && before.data && after.data ? (
        <Changes before={before.data} after={after.data} differences={found.data.differences} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}
