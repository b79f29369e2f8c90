/** What is different between two definitions: drawn on the graph, and listed with what was and what is. */
import { useMemo } from "react";
import type { Schemas } from "../../api/client";
import { Graph } from "../../graph/Graph";
import { drawDifferences } from "../../graph/overlay";
import { workflowWords as words } from "../../words/workflow";

type Difference = Schemas["Difference"];
const LONGEST = 400;
const MOST = 200; // differences that are listed

export function Changes(props: {
  before: Schemas["Graph"];
  after: Schemas["Graph"];
  differences: readonly Difference[];
}) {
  const { before, after, differences } = props;
  const drawn = useMemo(() => drawDifferences(before, after, differences, words.kinds), [before, after, differences]);
  if (differences.length === 0) return <p className="soft">{words.same}</p>;
  return (
    <>
      <p>{words.nodesChanged(drawn.counts.added, drawn.counts.removed, drawn.counts.changed)}</p>
      <div className="canvas changes-canvas">
        <Graph graph={drawn.graph} marks={drawn.marks} plain />
      </div>
      <DifferenceList differences={differences} />
    </>
  );
}

export function DifferenceList({ differences }: { differences: readonly Difference[] }) {
  return (
    <ul className="differences">
      {differences.slice(0, MOST).map((one) => (
        <li key={`${one.kind} ${one.path}`}>
          <span className={`mark m-${one.kind}`}>{words.kinds[one.kind]}</span>{" "}
          <bdi className="mono">{one.path.replace(/^\$\.?/, "")}</bdi>
          {one.kind !== "added" && (
            <pre className="mono">
              <span className="soft">{words.was} </span>
              {short(one.before)}
            </pre>
          )}
          {one.kind !== "removed" && (
            <pre className="mono">
              <span className="soft">{words.is} </span>
              {short(one.after)}
            </pre>
          )}
        </li>
      ))}
    </ul>
  );
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
}
