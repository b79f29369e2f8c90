/** The text of a version as it was written, with its comments. */
import { useQuery } from "@tanstack/react-query";
import { moment } from "../../lib/time";
import { Loading, Refused } from "../../parts/Frame";
import { workflowWords as words } from "../../words/workflow";
import { sourceQuery } from "./queries";

export function SourceText({ name, version }: { name: string; version?: number }) {
  const found = useQuery(sourceQuery(name, version));
  if (found.isPending) return <Loading />;
  if (found.error) return <Refused error={found.error} retry={() => void found.refetch()} />;
  const { text, as_written, changed_at } = found.data;
  return (
    <>
      <p className="soft source-about">{as_written ? words.asWritten(moment(changed_at)) : words.fromProgram}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className="code" tabIndex={0} role="region" aria-label={words.yaml}>
        {text}
      </pre>
    </>
  );
}
