/** What saving changes, before it is saved: the version that it becomes, drawn and listed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { asText, client, key, type Schemas, take } from "../api/client";
import { workflowsQuery } from "../api/queries";
import { Dialog, Loading, Refused } from "../parts/Frame";
import { Changes } from "../screens/workflow/Changes";
import { count, PlanGroups, splitPlan } from "../screens/workflow/Plan";
import { planQuery, sourceQuery, versionGraphQuery } from "../screens/workflow/queries";
import { en } from "../words/en";
import { editorWords as words } from "../words/workflow";

export function SaveDialog(props: {
  name: string; // as the text has it
  text: string;
  graph: Schemas["Graph"];
  isNew: boolean;
  base: number; // the version that the text began with
  seen: string; // when that text was written
  close: () => void;
  saved: (version: Schemas["WorkflowVersion"]) => void;
}) {
  const { name, text, isNew } = props;
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["workflow", name, "compare", text],
    queryFn: () => take(client.POST("/api/v1/workflows/{name}/diff", { ...asText(text), params: { path: { name } } })),
    enabled: !isNew,
    gcTime: 0,
  });
  const before = useQuery({ ...versionGraphQuery(name, found.data?.before), enabled: found.data !== undefined });
  // Whether a new one takes a name that is taken, and whether the text of another was written anew meanwhile.
  const known = useQuery({ ...workflowsQuery, enabled: isNew, staleTime: 0 });
  const stored = useQuery({ ...sourceQuery(name), enabled: !isNew, staleTime: 0 });
  const isTaken = isNew && (known.data?.items.some((one) => one.name === name) ?? false);
  const isLooked = (isNew ? known : stored).isFetchedAfterMount;
  const plan = useQuery({ ...planQuery(name, text), enabled: !isNew });
  const under = plan.data && splitPlan(plan.data);
  const save = useMutation({
    mutationFn: () => {
      const given = asText(text);
      const sent = { ...given, headers: { ...given.headers, ...key() } };
      return isNew
        ? take(client.POST("/api/v1/workflows", sent))
        : take(client.PUT("/api/v1/workflows/{name}", { ...sent, params: { path: { name } } }));
    },
    onSuccess: (version) => {
      void queries.invalidateQueries({ queryKey: ["workflow", name] });
      void queries.invalidateQueries({ queryKey: ["workflows"] });
      props.saved(version);
    },
  });
  const compared = found.data;
  const isReady = isLooked && (isNew ? !isTaken : compared !== undefined);
  const isAlike = compared !== undefined && compared.after === compared.before;
  return (
    <Dialog title={isAlike ? words.saveText : words.saveTitle} close={props.close} side>
      {!isLooked ? (
        <Loading />
      ) : isNew ? (
        isTaken ? (
          <p className="notice bad">
            {words.taken(name)}{" "}
            <Link to="/workflows/$name" params={{ name }} search={{}}>
              {words.takenGo}
            </Link>
          </p>
        ) : (
          <p>{words.becomesFirst(name)}</p>
        )
      ) : found.error ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : compared === undefined ? (
        <Loading />
      ) : (
        <>
          <p>{isAlike ? words.runsAlike(compared.before) : words.becomes(compared.after)}</p>
          {compared.before > props.base ? (
            <p className="notice">{words.movedOn(props.base, compared.before)}</p>
          ) : (
            stored.data?.changed_at !== props.seen && <p className="notice">{words.rewritten}</p>
          )}
        </>
      )}
      {save.error && <Refused error={save.error} />}
      <div className="acts">
        <button
          type="button"
          className="main"
          data-first
          aria-disabled={!isReady || save.isPending} // it has the focus from the beginning
          onClick={() => isReady && !save.isPending && save.mutate()}
        >
          {words.saveDo}
        </button>
        <button type="button" onClick={props.close}>
          {en.cancel}
        </button>
      </div>
      {!isNew && !isAlike && (
        <>
          <p className="soft">{words.runningOnes}</p>
          {plan.error ? (
            <Refused error={plan.error} />
          ) : (
            under &&
            plan.data.total > 0 && (
              <details className="under-way">
                <summary>{words.underWay(count(under.can), count(under.cannot) + count(under.there))}</summary>
                <PlanGroups plan={plan.data} />
              </details>
            )
          )}
        </>
      )}
      {compared && !isAlike && before.data && (
        <Changes before={before.data} after={props.graph} differences={compared.differences} />
      )}
    </Dialog>
  );
}
