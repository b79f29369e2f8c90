import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { sessionQuery, workflowsQuery } from "../api/queries";
import { Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { en } from "../words/en";
import { workflowWords } from "../words/workflow";

export function Workflows() {
  useTitle(en.workflows.title);
  const now = useNow();
  const found = useQuery(workflowsQuery);
  const mayWrite = useQuery(sessionQuery).data?.permissions.includes("workflow:write");
  return (
    <>
      <div className="head-line">
        <h1>{en.workflows.title}</h1>
        {mayWrite && (
          <Link to="/new-workflow" className="button">
            {workflowWords.newOne}
          </Link>
        )}
      </div>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : found.data.items.length === 0 ? (
        <p className="sheet empty">{en.workflows.empty}</p>
      ) : (
        <ul className="sheet plain list">
          {found.data.items.map((one) => (
            <li key={one.name}>
              <Link to="/workflows/$name" params={{ name: one.name }} search={{}} className="ask">
                <span className="ask-title">
                  <bdi>{one.name}</bdi>
                </span>
                <span className="soft ask-facts">
                  <span>{en.execution.version(one.version)}</span>
                  <span className={`state-${one.state}`}>{en.workflows.state[one.state]}</span>
                  {one.description && <bdi>{one.description}</bdi>}
                  <Time at={one.created_at} now={now} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
