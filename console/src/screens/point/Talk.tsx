/** What people say to each other before one of them decides: a question, a reply, and who decides in their place. */
import { useState } from "react";
import type { Schemas } from "../../api/client";
import type { Act } from "../../api/point_acts";
import { useDraft } from "../../lib/drafts";
import { acts } from "../../words/acts";
import { en } from "../../words/en";
import { point as words } from "../../words/point";

export type Talking = "delegate" | "ask" | "reply";

export function Talk(props: {
  kind: Talking;
  point: Schemas["PausePoint"];
  send: (what: Act) => void;
  isSending: boolean;
  close: () => void;
}) {
  const { kind, point } = props;
  const [text, setText] = useDraft(`point.${point.id}.${kind}`, "");
  const [to, setTo] = useState("");
  const needsTo = kind === "ask" && !point.requester;
  const label =
    kind === "ask"
      ? point.requester
        ? words.askTo(point.requester)
        : en.inbox.question
      : kind === "reply"
        ? acts.replyTo
        : en.inbox.delegateTo;
  const name = kind === "reply" ? en.inbox.reply : kind === "ask" ? en.inbox.ask : en.inbox.delegate;
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!text.trim() || (needsTo && !to.trim())) return;
        props.send(
          kind === "ask" && needsTo
            ? { act: kind, text: text.trim(), to: to.trim() }
            : { act: kind, text: text.trim() },
        );
      }}
    >
      {needsTo && (
        <div className="field">
          <label htmlFor="asked">{words.to}</label>
          <input id="asked" value={to} onChange={(e) => setTo(e.target.value)} required />
        </div>
      )}
      <div className="field">
        <label htmlFor="asking">{label}</label>
        {/* biome-ignore lint/a11y/noAutofocus: it opens because its button was pressed */}
        <input id="asking" value={text} onChange={(e) => setText(e.target.value)} required autoFocus />
      </div>
      <div className="acts">
        <button type="submit" className="main" disabled={props.isSending}>
          {name.replace(" …", "")}
        </button>
        <button type="button" onClick={props.close}>
          {en.cancel}
        </button>
      </div>
    </form>
  );
}
