/** Who is signed in: browsers, each of which can be signed out at once. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas, take } from "../../api/client";
import { sessionsQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Confirm } from "./acts";
import { List, Row } from "./List";

const words = ops.sessions;

export function Sessions() {
  const found = useInfiniteQuery(sessionsQuery);
  const [ending, setEnding] = useState<Schemas["OpenSession"] | null>(null);
  const close = () => setEnding(null);
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">{words.title}</h2>
      <List
        found={found}
        label={words.title}
        empty={<p>{words.empty}</p>}
        name={(one) => one.id}
        row={(one, now) => (
          <Row
            title={
              <>
                <Status value="completed" text={words.open} />
                <bdi>{one.user}</bdi>
                {one.current && <span className="tag">{words.here}</span>}
              </>
            }
            facts={
              <>
                <bdi>{one.roles.join(", ")}</bdi>
                <span>{words.since(age(one.created_at, now), words.by(one.opened_by))}</span>
                <span>{words.until(age(one.expires_at, now))}</span>
              </>
            }
            acts={
              !one.current && (
                <button type="button" className="bad" onClick={() => setEnding(one)}>
                  {words.end}
                </button>
              )
            }
          />
        )}
      />
      {ending && (
        <Confirm
          title={words.endTitle(ending.user)}
          text={words.endText}
          act={words.end.replace(" …", "")}
          close={close}
          done={close}
          run={() => take(client.DELETE("/api/v1/sessions/{id}", { params: { path: { id: ending.id } } }))}
        />
      )}
    </section>
  );
}
