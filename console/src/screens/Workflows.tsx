/** All workflows, found by name. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../api/client";
import { sessionQuery, workflowsQuery } from "../api/queries";
import { readDraft } from "../lib/drafts";
import { useKeys } from "../lib/keys";
import { Loading, Refused, Time, useNow, useTitle } from "../parts/Frame";
import { en } from "../words/en";
import { workflowWords as words } from "../words/workflow";

const SHOWN = 100; // at once; the rest when it is asked for

export function Workflows() {
  useTitle(en.workflows.title);
  const { q = "" } = useSearch({ from: "/workflows" });
  const navigate = useNavigate();
  const found = useQuery(workflowsQuery);
  const mayWrite = useQuery(sessionQuery).data?.permissions.includes("workflow:write");
  useKeys({ "/": () => document.getElementById("find")?.focus() });
  const all = found.data?.items ?? [];
  const sought = q.trim().toLowerCase();
  const fits = all.filter((one) => `${one.name} ${one.description}`.toLowerCase().includes(sought));
  return (
    <>
      <div className="head-line">
        <h1>{en.workflows.title}</h1>
        {mayWrite && (
          <Link to="/new-workflow" className="button">
            {words.newOne}
          </Link>
        )}
      </div>
      {mayWrite && readDraft("new") !== undefined && (
        <p className="notice">
          {words.newDraft} <Link to="/new-workflow">{words.draftGo}</Link>
        </p>
      )}
      {all.length > FEW && (
        <search className="filter">
          <input
            id="find"
            type="search"
            aria-label={words.find}
            placeholder={words.find}
            value={q}
            onChange={(event) =>
              void navigate({
                to: "/workflows",
                search: event.target.value ? { q: event.target.value } : {},
                replace: true,
              })
            }
          />
        </search>
      )}
      {found.isPending ? (
        <Loading />
      ) : found.error && !found.data ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : fits.length === 0 ? (
        <p className="sheet empty">{all.length === 0 ? en.workflows.empty : words.noneFits}</p>
      ) : (
        <Rows key={sought} items={fits} />
      )}
    </>
  );
}

const FEW = 8; // are seen at a glance

function Rows({ items }: { items: readonly Schemas["WorkflowVersion"][] }) {
  const now = useNow();
  const [shown, setShown] = useState(SHOWN);
  return (
    <>
      <ul className="sheet plain list">
        {items.slice(0, shown).map((one) => (
          <li key={one.name}>
            <Link to="/workflows/$name" params={{ name: one.name }} search={{}} className="ask">
              <span className="ask-title">
                <bdi>{one.name}</bdi>
              </span>
              <span className="soft ask-facts">
                <span className={`state-${one.state}`}>{en.workflows.state[one.state]}</span>
                <span>{en.execution.version(one.version)}</span>
                <Time at={one.created_at} now={now} />
                {one.description && <bdi>{one.description}</bdi>}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {items.length > shown && (
        <p className="acts centred">
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            {en.more}
          </button>
        </p>
      )}
    </>
  );
}
