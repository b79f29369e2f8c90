/** What saving changes, before it is saved: the version that it becomes, drawn and listed. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { client, key, type Schemas, take } from "../api/client";
import { Dialog, Loading, Refused } from "../parts/Frame";
import { Changes } from "../screens/workflow/Changes";
import { versionGraphQuery } from "../screens/workflow/queries";
import { en } from "../words/en";
import { editorWords as words } from "../words/workflow";
import { AS_YAML } from "./useCheck";

export function SaveDialog(props: {
  name: string; // as the text has it
  text: string;
  graph: Schemas["Graph"];
  isNew: boolean;
  base: number; // the version that the text began with
  close: () => void;
  saved: (version: Schemas["WorkflowVersion"]) => void;
}) {
  const { name, text, isNew } = props;
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["workflow", name, "compare", text],
    queryFn: () =>
      take(
        client.POST("/api/v1/workflows/{name}/diff", { ...AS_YAML, params: { path: { name } }, body: text as never }),
      ),
    enabled: !isNew,
    gcTime: 0,
  });
  const before = useQuery({ ...versionGraphQuery(name, found.data?.before), enabled: found.data !== undefined });
  const save = useMutation({
    mutationFn: () => {
      const sent = { ...AS_YAML, headers: { ...AS_YAML.headers, ...key() }, body: text as never };
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
  const isAlike = compared !== undefined && compared.after === compared.before;
  return (
    <Dialog title={words.saveTitle} close={props.close} side>
      {isNew ? (
        <p>{words.becomesFirst(name)}</p>
      ) : found.error ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : compared === undefined ? (
        <Loading />
      ) : (
        <>
          <p>{isAlike ? words.runsAlike(compared.before) : words.becomes(compared.after)}</p>
          {compared.before > props.base && <p className="notice">{words.movedOn(props.base, compared.before)}</p>}
        </>
      )}
      {save.error && <Refused error={save.error} />}
      <div className="acts">
        <button
          type="button"
          className="main"
          data-first
          disabled={save.isPending || (!isNew && compared === undefined)}
          onClick={() => save.mutate()}
        >
          {words.saveDo}
        </button>
        <button type="button" onClick={props.close}>
          {en.cancel}
        </button>
      </div>
      {!isNew && <p className="soft">{words.runningOnes}</p>}
      {compared && before.data && (
        <Changes before={before.data} after={props.graph} differences={compared.differences} />
      )}
    </Dialog>
  );
}
