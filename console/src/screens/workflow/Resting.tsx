/** Where executions rest now: how many have not ended, and at which nodes they wait. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { age, number } from "../../lib/time";
import { useNow } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { workflowWords as words } from "../../words/workflow";

const PEOPLE = new Set(["approval", "form"]);

export function openCount(resting: Schemas["Resting"]): number {
  return Object.values(resting.executions).reduce((a, b) => a + b, 0);
}

export function Resting({ resting }: { resting: Schemas["Resting"] }) {
  const now = useNow();
  const nodes = [...resting.nodes].sort((a, b) => b.count - a.count);
  return (
    <>
      <h2>{words.restTitle}</h2>
      <p>{words.open(openCount(resting))}</p>
      <ul className="resting">
        {Object.entries(resting.executions).map(([status, count]) => (
          <li key={status}>
            <Link to="/executions" search={{ q: `workflow:${resting.name} status:${status}` }}>
              <Status value={status} {...(status === "paused" ? { text: words.restPaused } : {})} />
            </Link>
            <span>{number(count)}</span>
          </li>
        ))}
      </ul>
      {nodes.length === 0 ? (
        <p className="soft">{words.nothingRests}</p>
      ) : (
        <ul className="resting">
          {nodes.map((one) => (
            <li key={`${one.id} ${one.kind}`}>
              <span>
                <bdi>{one.id.split(":")[0]}</bdi>{" "}
                <span className="soft">
                  <Link to="/executions" search={{ q: `workflow:${resting.name} on:${one.kind}` }}>
                    {words.waits[one.kind] ?? one.kind}
                  </Link>
                  , {words.oldest(age(one.since, now))}
                </span>
              </span>
              <span className={PEOPLE.has(one.kind) ? "s-person strong" : "strong"}>{number(one.count)}</span>
            </li>
          ))}
        </ul>
      )}
      {resting.more && <p className="soft">{words.someCounted}</p>}
    </>
  );
}
