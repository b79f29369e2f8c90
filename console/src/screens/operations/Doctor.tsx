/** What keeps the server, its database or the executions from working, and what to do: all of it for administrators. */
import { useQuery } from "@tanstack/react-query";
import { doctorQuery, readinessQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Loading, Refused, useNow } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";

const words = ops.doctor;
const LOOKS = { ok: "completed", warning: "waiting", problem: "failed" } as const;

export function Doctor({ may }: { may: (permission: string) => boolean }) {
  return <section aria-labelledby="doctor">{may("admin") ? <Examination /> : <Readiness />}</section>;
}

function Examination() {
  const found = useQuery(doctorQuery);
  const now = useNow(5_000);
  const all = found.data?.findings ?? [];
  const wrong = all.filter((one) => one.health !== "ok").sort((a, b) => (a.health < b.health ? -1 : 1));
  const fine = all.filter((one) => one.health === "ok");
  return (
    <>
      <div className="head-line ops-head">
        <h2 id="doctor">{words.title}</h2>
        <button type="button" disabled={found.isFetching} onClick={() => void found.refetch()}>
          {found.isFetching ? words.looking : words.again}
        </button>
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error && !found.data ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : (
        <div className="sheet">
          <ul className="findings" aria-label={words.title}>
            {wrong.length === 0 && (
              <li>
                <Status value="completed" text={words.allWell} />
                <span className="soft">{words.looked(age(new Date(found.dataUpdatedAt).toISOString(), now))}</span>
              </li>
            )}
            {wrong.map((one) => (
              <li key={`${one.what} ${one.text}`}>
                <Status value={LOOKS[one.health]} text={words.health[one.health]} />
                <div>
                  <p>
                    <strong>{capital(one.what)}</strong> <bdi>{one.text}</bdi>
                  </p>
                  {one.hint && <p className="soft">{one.hint}</p>}
                </div>
              </li>
            ))}
          </ul>
          <details className="findings-fine">
            <summary>{words.fine(fine.length)}</summary>
            <ul className="findings" aria-label={words.fine(fine.length)}>
              {fine.map((one) => (
                <li key={`${one.what} ${one.text}`}>
                  <Status value="completed" text={capital(one.what)} />
                  <bdi className="soft">{one.text}</bdi>
                </li>
              ))}
            </ul>
          </details>
        </div>
      )}
    </>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Whether work can be done at all, as the server that answers finds it. */
function Readiness() {
  const found = useQuery(readinessQuery);
  return (
    <>
      <h2 id="doctor">{words.title}</h2>
      {found.isPending ? (
        <Loading />
      ) : found.error && !found.data ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : (
        <ul className="sheet health" aria-label={words.title}>
          {Object.entries(found.data?.checks ?? {}).map(([name, check]) => (
            <li key={name}>
              <Status value={check.ok ? "completed" : "failed"} text={words.checks[name] ?? name} />
              <span className={check.ok ? "hidden" : "soft"}>
                {check.ok ? words.ok : <bdi>{check.detail || words.wrong}</bdi>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
