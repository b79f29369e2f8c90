/** Where deliveries go: how each does, switch it off and on, send a test. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, key, take } from "../../api/client";
import { destinationsQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Refused } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Confirm, useAct } from "./acts";
import { List, Row } from "./List";

const words = ops.destinations;

export function Destinations() {
  const found = useInfiniteQuery(destinationsQuery);
  const [asking, setAsking] = useState("");
  const enable = useAct((name: string) =>
    take(client.POST("/api/v1/destinations/{name}/enable", { params: { path: { name }, header: key() } })),
  );
  const test = useAct((name: string) =>
    take(client.POST("/api/v1/destinations/{name}/test", { params: { path: { name } }, body: { to: null } })),
  );
  const error = enable.error ?? test.error;
  const close = () => setAsking("");
  return (
    <>
      {error && <Refused error={error} />}
      {test.data && (
        <p className="notice" role="status">
          {words.tested(ops.deliveries.states[test.data.state] ?? test.data.state)}
        </p>
      )}
      <List
        found={found}
        label={ops.tabs.destinations}
        empty={
          <>
            <p className="big">{words.empty}</p>
            <p className="soft">{words.emptyHint}</p>
          </>
        }
        name={(one) => one.name}
        row={(one, now) => (
          <Row
            title={
              <>
                <Status
                  value={one.state === "disabled" ? "held" : one.failures ? "failed" : "completed"}
                  text={words.states[one.state ?? "active"] ?? ""}
                />
                <bdi>{one.name}</bdi>
              </>
            }
            facts={
              <>
                <span>{one.kind ?? words.elsewhere}</span>
                {one.managed && <span>{words.managed}</span>}
                {one.failures ? <span className="wrong">{words.failures(one.failures)}</span> : null}
                {one.open_until && Date.parse(one.open_until) > now && (
                  <span className="wrong">{words.rests(age(one.open_until, now))}</span>
                )}
                {one.reason && <bdi>{one.reason}</bdi>}
              </>
            }
            acts={
              <>
                {one.kind && one.kind !== "mail" && (
                  <button type="button" disabled={test.isPending} onClick={() => test.mutate(one.name)}>
                    {words.test}
                  </button>
                )}
                {one.state === "disabled" ? (
                  <button type="button" disabled={enable.isPending} onClick={() => enable.mutate(one.name)}>
                    {words.enable}
                  </button>
                ) : (
                  <button type="button" onClick={() => setAsking(one.name)}>
                    {words.disable}
                  </button>
                )}
              </>
            }
          />
        )}
      />
      {asking && (
        <Confirm
          title={words.disableTitle(asking)}
          text={words.disableText}
          act={words.disable.replace(" …", "")}
          withReason
          close={close}
          done={close}
          run={(reason) =>
            take(
              client.POST("/api/v1/destinations/{name}/disable", {
                params: { path: { name: asking }, header: key() },
                body: { reason },
              }),
            )
          }
        />
      )}
    </>
  );
}
