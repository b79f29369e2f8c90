/** The executions that one has begun, and the lines that its nodes have logged. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, type Schemas, take } from "../../api/client";
import { clock } from "../../lib/time";
import { Loading, Refused, Time, useNow } from "../../parts/Frame";
import { en } from "../../words/en";
import { ChildGraph } from "../ChildGraph";
import { about, RowStatus } from "../executions/Rows";

const words = en.execution;

export function Children({ execution }: { execution: Schemas["Execution"] }) {
  const { id } = execution;
  const now = useNow();
  const found = useQuery({
    queryKey: ["execution", id, "children"],
    queryFn: () => take(client.GET("/api/v1/executions", { params: { query: { parent_id: id, limit: 100 } } })),
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} />;
  if (found.data.items.length === 0) return <p className="panel soft">{words.noChildren}</p>;
  return (
    <>
      <ChildGraph execution={execution} executions={found.data.items} />
      <ul className="panel plain">
        {found.data.items.map((one) => (
          <li key={one.id}>
            <Link to="/executions/$id" params={{ id: one.id }} search={{}}>
              <RowStatus row={one} /> <bdi>{one.workflow}</bdi>{" "}
              <bdi className="mono">{one.correlation_id ?? one.id.slice(-8)}</bdi>{" "}
              <bdi className="soft">{about(one)}</bdi> <Time at={one.created_at} now={now} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Logs({ id }: { id: string }) {
  const found = useQuery({
    queryKey: ["execution", id, "logs"],
    queryFn: () => take(client.GET("/api/v1/executions/{id}/logs", { params: { path: { id } } })),
    refetchInterval: 10_000,
  });
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} />;
  if (found.data.items.length === 0) return <p className="panel soft">{words.noLogs}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <pre className="panel logs" tabIndex={0} role="region" aria-label={words.logs}>
      {found.data.items.map((line) => `${clock(line.at)} ${line.level} ${line.text}`).join("\n")}
    </pre>
  );
}
