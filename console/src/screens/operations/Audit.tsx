/** Who did what, in which seal it is, and receipts of decisions. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { client, type Schemas, take } from "../../api/client";
import { auditQuery } from "../../api/operations";
import { base } from "../../lib/base";
import { Data, Dialog, Loading, Refused, Time } from "../../parts/Frame";
import { ops } from "../../words/operations";
import { List, Row } from "./List";

type Entry = Schemas["AuditEntry"];
const words = ops.audit;
/** Acts of people at a pause point, of which there are receipts. */
const DECIDED = ["point.answer", "approval.approve", "approval.reject"];

export function Audit() {
  const { user = "", act = "" } = useSearch({ from: "/operations" });
  const navigate = useNavigate();
  const found = useInfiniteQuery(auditQuery({ user, act }));
  const [open, setOpen] = useState<{ entry: Entry; how: "details" | "receipt" } | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <form
        className="filter ops-filter"
        role="search"
        key={`${user} ${act}`}
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const next = Object.fromEntries([...given].filter(([, value]) => value)) as Record<string, string>;
          void navigate({ to: "/operations", search: { tab: "audit", ...next } });
        }}
      >
        <input name="user" aria-label={words.user} placeholder={words.user} defaultValue={user} maxLength={255} />
        <input name="act" aria-label={words.act} placeholder={words.act} defaultValue={act} maxLength={255} />
        <button type="submit">{ops.apply}</button>
        <a href={`${base}/.well-known/layover-keys.json`}>{words.keys}</a>
      </form>
      <List
        found={found}
        label={ops.tabs.audit}
        empty={<p className="big">{words.empty}</p>}
        name={(entry) => entry.id}
        row={(entry, now) => (
          <Row
            title={
              <>
                <bdi>{entry.user || words.engine}</bdi>
                <span className="mono">{entry.act}</span>
              </>
            }
            facts={
              <>
                <Time at={entry.at} now={now} />
                {entry.target && <bdi className="mono">{entry.target}</bdi>}
                {entry.execution_id && (
                  <Link to="/executions/$id" params={{ id: entry.execution_id }} search={{}}>
                    {ops.execution}
                  </Link>
                )}
                <span className={entry.seal === null || entry.seal === undefined ? undefined : "sealed"}>
                  {entry.seal === null || entry.seal === undefined ? words.unsealed : words.seal(entry.seal)}
                </span>
              </>
            }
            acts={
              <>
                {DECIDED.includes(entry.act) && (
                  <button type="button" onClick={() => setOpen({ entry, how: "receipt" })}>
                    {words.receipt}
                  </button>
                )}
                <button type="button" onClick={() => setOpen({ entry, how: "details" })}>
                  {words.details}
                </button>
              </>
            }
          />
        )}
      />
      {open?.how === "details" && (
        <Dialog title={open.entry.act} close={close} side>
          <Data label={words.details} value={{ ...open.entry, before: undefined, after: undefined }} />
          {open.entry.before != null && <Data label={words.before} value={open.entry.before} />}
          {open.entry.after != null && <Data label={words.after} value={open.entry.after} />}
        </Dialog>
      )}
      {open?.how === "receipt" && <ReceiptOf entry={open.entry} close={close} />}
    </>
  );
}

function ReceiptOf({ entry, close }: { entry: Entry; close: () => void }) {
  const path = { id: entry.target ?? "", user: entry.user };
  const found = useQuery({
    queryKey: ["receipt", path.id, path.user],
    queryFn: () => take(client.GET("/api/v1/pause-points/{id}/receipts/{user}", { params: { path } })),
  });
  return (
    <Dialog title={words.receiptTitle} close={close} side>
      {found.data ? (
        <>
          <a
            className="button"
            download={`receipt-${path.id}.json`}
            href={`data:application/json,${encodeURIComponent(JSON.stringify(found.data))}`}
          >
            {words.download}
          </a>
          <Data label={words.receipt} value={found.data} />
        </>
      ) : found.error ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}
