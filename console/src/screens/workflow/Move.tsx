/** Have executions that are under way go on by another version: what it would mean to them first, then a batch. */
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, key, take } from "../../api/client";
import { useCanary } from "../../parts/Canary";
import { Dialog, Loading, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { workflowWords as words } from "../../words/workflow";
import { count, lostNodes, PlanGroups, splitPlan } from "./Plan";
import { planQuery, sourceQuery, versionGraphQuery, versionsQuery } from "./queries";

export function Move(props: {
  name: string;
  version: number;
  choose: (version: number) => void;
  close: () => void;
  begun: (batch: string) => void;
}) {
  const { name, version } = props;
  const [map, setMap] = useState<Record<string, string>>({});
  const [reason, setReason] = useState("");
  const [canary, canaryFields] = useCanary();
  const versions = useQuery(versionsQuery(name));
  const source = useQuery(sourceQuery(name, version));
  const graph = useQuery(versionGraphQuery(name, version));
  const found = useQuery({
    ...planQuery(name, source.data?.text ?? "", map),
    enabled: source.data !== undefined,
    placeholderData: keepPreviousData,
  });
  const begin = useMutation({
    mutationFn: () => {
      const options = { version, map, ...(reason.trim() ? { reason: reason.trim() } : {}) };
      const body = { act: "move", where: { workflow: name }, with: options, ...(canary ? { canary } : {}) };
      return take(client.POST("/api/v1/batches", { params: { header: key() }, body: body as never }));
    },
    onSuccess: (made) => made.id && props.begun(made.id),
  });
  const plan = found.data;
  const can = plan ? count(splitPlan(plan).can) : 0;
  // What was mapped stays on the list, though it is not lost any more.
  const lost = [...new Set([...Object.keys(map), ...(plan ? lostNodes(plan) : [])])];
  const targets = [...new Map((graph.data?.nodes ?? []).map((one) => [one.node, one.type]))];
  const error = source.error ?? found.error;
  return (
    <Dialog title={words.move.title(name)} close={props.close} side>
      <p>{words.move.about}</p>
      <div className="field">
        <label htmlFor="move-to">{words.move.to}</label>
        <select id="move-to" value={version} onChange={(event) => props.choose(Number(event.target.value))}>
          {(versions.data?.items ?? [{ version }]).map((one) => (
            <option key={one.version} value={one.version}>
              {words.version(one.version)}
            </option>
          ))}
        </select>
      </div>
      {error ? (
        <Refused error={error} retry={() => void (source.error ? source.refetch() : found.refetch())} />
      ) : plan ? (
        <div role="status" aria-busy={found.isFetching}>
          <PlanGroups plan={plan} />
        </div>
      ) : (
        <Loading />
      )}
      {lost.length > 0 && (
        <section>
          <h3>{words.move.map}</h3>
          <p className="soft">{words.move.mapHint}</p>
          {lost.map((old) => (
            <div className="field" key={old}>
              <label htmlFor={`map-${old}`}>{words.move.becomes(old)}</label>
              <select
                id={`map-${old}`}
                value={map[old] ?? ""}
                onChange={(event) => {
                  const { [old]: _, ...others } = map;
                  setMap(event.target.value ? { ...others, [old]: event.target.value } : others);
                }}
              >
                <option value="">{words.move.nothing}</option>
                {targets.map(([node, type]) => (
                  <option key={node} value={node}>
                    {node} ({type})
                  </option>
                ))}
              </select>
            </div>
          ))}
        </section>
      )}
      <div className="field">
        <label htmlFor="move-reason">{words.reason}</label>
        <input id="move-reason" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </div>
      {can > 1 && canaryFields}
      {begin.error && <Refused error={begin.error} />}
      <div className="acts">
        <button
          type="button"
          className="main"
          disabled={can === 0 || found.isFetching || begin.isPending}
          onClick={() => begin.mutate()}
        >
          {words.move.do(can)}
        </button>
        <button type="button" onClick={props.close}>
          {en.cancel}
        </button>
      </div>
    </Dialog>
  );
}
