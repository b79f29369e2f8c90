/** Keys of the API: whose they are, what they may do, until when; and who is signed in. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client, type Schemas, take } from "../../api/client";
import { keysQuery } from "../../api/operations";
import { age } from "../../lib/time";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Confirm } from "./acts";
import { List, Row } from "./List";
import { NewKey, RotateKey } from "./NewKey";
import { Sessions } from "./Sessions";

const words = ops.keys;

export function Keys() {
  const found = useInfiniteQuery(keysQuery);
  const [open, setOpen] = useState<{ how: "new" } | { how: "rotate" | "end"; one: Schemas["ApiKey"] } | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <div className="head-line ops-head">
        <h2>{ops.tabs.keys}</h2>
        <button type="button" onClick={() => setOpen({ how: "new" })}>
          {words.new}
        </button>
      </div>
      <List
        found={found}
        label={ops.tabs.keys}
        empty={<p className="big">{words.empty}</p>}
        name={(one) => one.id}
        row={(one, now) => {
          const over = [one.ended_at, one.expires_at].some((at) => at && Date.parse(at) <= now);
          return (
            <Row
              title={
                <>
                  <Status value={over ? "cancelled" : "completed"} text={over ? words.ended : words.valid} />
                  <bdi>{one.name}</bdi>
                  <span className="mono soft">{one.prefix}…</span>
                </>
              }
              facts={
                <>
                  <bdi>{one.user}</bdi>
                  <bdi>{one.roles.join(", ")}</bdi>
                  {one.scopes && <bdi>{words.only(one.scopes.join(", "))}</bdi>}
                  <span>{words.made(one.created_by ?? "", age(one.created_at, now))}</span>
                  {!over && <span>{one.expires_at ? words.expires(age(one.expires_at, now)) : words.forever}</span>}
                </>
              }
              acts={
                !over && (
                  <>
                    <button type="button" onClick={() => setOpen({ how: "rotate", one })}>
                      {words.rotate}
                    </button>
                    <button type="button" className="bad" onClick={() => setOpen({ how: "end", one })}>
                      {words.end}
                    </button>
                  </>
                )
              }
            />
          );
        }}
      />
      <Sessions />
      {open?.how === "new" && <NewKey close={close} />}
      {open?.how === "rotate" && <RotateKey old={open.one} close={close} />}
      {open?.how === "end" && (
        <Confirm
          title={words.endTitle(open.one.name)}
          text={words.endText}
          act={words.end.replace(" …", "")}
          close={close}
          done={close}
          run={() => take(client.DELETE("/api/v1/keys/{id}", { params: { path: { id: open.one.id } } }))}
        />
      )}
    </>
  );
}
