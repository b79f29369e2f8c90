/** What a retry, a rewind or a fork would repeat and drop, before it is done; only then it can be applied. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, key, type Schemas, take } from "../../api/client";
import { useDraft } from "../../lib/drafts";
import { number } from "../../lib/time";
import { Dialog, Loading, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { nodeOf } from "../../words/events";
import { planWords as words } from "../../words/plan";

const DRY = { dry_run: true, reason: null };
const MOST_NAMED = 30;

interface Shown {
  name: string;
  ids: readonly string[];
  isRisky?: boolean;
}

/** Nodes by their names, each once with how often it is there. */
function Named({ ids }: { ids: readonly string[] }) {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(nodeOf(id), (counts.get(nodeOf(id)) ?? 0) + 1);
  const named = [...counts].map(([name, n]) => (n > 1 ? `${name} ×${number(n)}` : name));
  if (named.length === 0) return <span className="soft">{en.plan.nothing}</span>;
  const more = named.length - MOST_NAMED;
  return <bdi>{`${named.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` ${words.more(more)}` : ""}`}</bdi>;
}

function Pairs({ rows }: { rows: readonly Shown[] }) {
  return (
    <dl className="pairs">
      {rows.map(({ name, ids, isRisky }) => (
        <div key={name} className={isRisky && ids.length > 0 ? "risky" : undefined}>
          <dt>{name}</dt>
          <dd>
            <Named ids={ids} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The plan of a retry, or of a rewind `to` a node. */
export function PlanDialog({ id, to, close }: { id: string; to?: string; close: () => void }) {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const plan = useQuery({
    queryKey: ["execution", id, "plan", to ?? ""],
    queryFn: () =>
      take(
        to
          ? client.POST("/api/v1/executions/{id}/rewind", { params: { path: { id } }, body: { to, ...DRY } })
          : client.POST("/api/v1/executions/{id}/retry", { params: { path: { id } }, body: DRY }),
      ) as Promise<Schemas["RepeatPlan"]>,
    staleTime: 0,
  });
  const apply = useMutation({
    mutationFn: () => {
      const params = { path: { id }, header: key() };
      const because = reason.trim() ? { reason: reason.trim() } : {};
      return to
        ? take(client.POST("/api/v1/executions/{id}/rewind", { params, body: { to, ...because } as never }))
        : take(client.POST("/api/v1/executions/{id}/retry", { params, body: because as never }));
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["execution", id] });
      close();
    },
  });
  const rows: Shown[] = plan.data
    ? [
        { name: en.plan.repeated, ids: plan.data.repeated },
        { name: en.plan.calls, ids: plan.data.calls, isRisky: true },
        { name: en.plan.dropped, ids: plan.data.dropped },
        { name: en.plan.superseded, ids: plan.data.superseded },
        ...(plan.data.variables.length > 0 ? [{ name: words.variables, ids: plan.data.variables }] : []),
      ]
    : [];
  return (
    <Dialog title={to ? en.plan.rewind(nodeOf(to)) : en.plan.retry} close={close}>
      <p className="soft">{to ? words.rewindText : words.retryText}</p>
      {plan.isPending && <Loading />}
      {plan.error && <Refused error={plan.error} retry={() => void plan.refetch()} />}
      <Pairs rows={rows} />
      <Reason value={reason} change={setReason} />
      {apply.error && <Refused error={apply.error} />}
      <div className="acts">
        <button type="button" className="main" disabled={!plan.data || apply.isPending} onClick={() => apply.mutate()}>
          {to ? words.rewind : words.retry}
        </button>
        <button type="button" onClick={close}>
          {en.cancel}
        </button>
      </div>
    </Dialog>
  );
}

function Reason({ value, change }: { value: string; change: (value: string) => void }) {
  return (
    <div className="field">
      <label htmlFor="why">{en.execution.reason}</label>
      <input id="why" data-first value={value} onChange={(e) => change(e.target.value)} />
    </div>
  );
}

/** The plan of a fork: another execution, which begins with results of this one. */
export function ForkDialog({
  execution,
  from,
  close,
}: {
  execution: Schemas["Execution"];
  from: string;
  close: () => void;
}) {
  const { id } = execution;
  const navigate = useNavigate();
  const [reason, setReason] = useState("");
  const [isOther, setOther] = useState(false);
  const [input, setInput, forget] = useDraft(`fork.${id}.${from}`, JSON.stringify(execution.input ?? null, null, 2));
  const [isWrong, setWrong] = useState(false);
  const start = from ? { from } : {};
  const plan = useQuery({
    queryKey: ["execution", id, "fork", from],
    queryFn: () =>
      take(
        client.POST("/api/v1/executions/{id}/fork", {
          params: { path: { id } },
          body: { ...start, dry_run: true } as never,
        }),
      ) as Promise<Schemas["ForkPlan"]>,
    staleTime: 0,
  });
  const apply = useMutation({
    mutationFn: (given: unknown) =>
      take(
        client.POST("/api/v1/executions/{id}/fork", {
          params: { path: { id }, header: key() },
          body: {
            ...start,
            ...(isOther ? { input: given } : {}),
            ...(reason.trim() ? { reason: reason.trim() } : {}),
          } as never,
        }),
      ) as Promise<Schemas["Execution"]>,
    onSuccess: (made) => {
      forget();
      void navigate({ to: "/executions/$id", params: { id: made.id }, search: {} });
    },
  });
  const send = () => {
    try {
      apply.mutate(isOther ? JSON.parse(input) : undefined);
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  const rows: Shown[] = plan.data
    ? [
        { name: words.kept, ids: plan.data.kept },
        { name: en.plan.repeated, ids: plan.data.repeated },
        { name: en.plan.calls, ids: plan.data.calls, isRisky: true },
      ]
    : [];
  return (
    <Dialog title={from ? words.forkFrom(nodeOf(from)) : words.fork} close={close}>
      <p className="soft">{words.forkText}</p>
      {plan.isPending && <Loading />}
      {plan.error && <Refused error={plan.error} retry={() => void plan.refetch()} />}
      <Pairs rows={rows} />
      <div className="field check">
        <input id="other" type="checkbox" checked={isOther} onChange={(e) => setOther(e.target.checked)} />
        <label htmlFor="other">{words.otherInput}</label>
      </div>
      {isOther && (
        <div className="field">
          <label htmlFor="fork-input">{en.execution.input}</label>
          <textarea
            id="fork-input"
            className="mono"
            rows={6}
            value={input}
            aria-invalid={isWrong}
            onChange={(e) => setInput(e.target.value)}
          />
          {isWrong && <p className="wrong">{en.form.notJson}</p>}
        </div>
      )}
      <Reason value={reason} change={setReason} />
      {apply.error && <Refused error={apply.error} />}
      <div className="acts">
        <button type="button" className="main" disabled={!plan.data || apply.isPending} onClick={send}>
          {words.forkDo}
        </button>
        <button type="button" onClick={close}>
          {en.cancel}
        </button>
      </div>
    </Dialog>
  );
}
