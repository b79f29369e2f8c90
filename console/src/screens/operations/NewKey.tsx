/** Make a key, or another one in its place. It is shown once: until the dialog is closed. */
import { useState } from "react";
import { client, key, type Schemas, take } from "../../api/client";
import { useDraft } from "../../lib/drafts";
import { Dialog, Refused } from "../../parts/Frame";
import { en } from "../../words/en";
import { ops } from "../../words/operations";
import { useAct } from "./acts";

type Made = Schemas["NewApiKey"];
const words = ops.keys;
const ROLES = ["viewer", "approver", "operator", "admin"];
const EMPTY = { name: "", user: "", roles: ["viewer"], others: "", expires: "90d" };

/** The roles that were ticked and those that were typed, each once. */
export function rolesOf(ticked: readonly string[], typed: string): string[] {
  const others = typed.split(/[,\n]/).map((one) => one.trim());
  return [...new Set([...ticked, ...others])].filter(Boolean);
}

export function NewKey({ close }: { close: () => void }) {
  const [given, set, clear] = useDraft("key", EMPTY);
  const [made, setMade] = useState<Made | null>(null);
  const roles = rolesOf(given.roles, given.others);
  const create = useAct(() =>
    take(
      client.POST("/api/v1/keys", {
        params: { header: key() },
        body: {
          ...{ name: given.name.trim(), user: given.user.trim(), roles },
          ...(given.expires ? { expires_in: given.expires } : {}),
        } as never,
      }),
    ),
  );
  if (made) return <Shown made={made} title={words.madeTitle(given.name)} close={close} />;
  return (
    <Dialog title={words.newTitle} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(undefined, {
            onSuccess: (one) => {
              clear();
              setMade(one);
            },
          });
        }}
      >
        <div className="field">
          <label htmlFor="key-name">{words.name}</label>
          <input
            id="key-name"
            data-first
            required
            maxLength={255}
            placeholder={words.nameHint}
            value={given.name}
            onChange={(event) => set({ ...given, name: event.target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor="key-user">{words.user}</label>
          <input
            id="key-user"
            required
            maxLength={255}
            aria-describedby="key-user-about"
            value={given.user}
            onChange={(event) => set({ ...given, user: event.target.value })}
          />
          <p id="key-user-about" className="soft">
            {words.userHint}
          </p>
        </div>
        <fieldset className="field">
          <legend>{words.roles}</legend>
          {ROLES.map((role) => (
            <label className="choice" key={role}>
              <input
                type="checkbox"
                checked={given.roles.includes(role)}
                onChange={(event) => {
                  const others = given.roles.filter((one) => one !== role);
                  set({ ...given, roles: event.target.checked ? [...others, role] : others });
                }}
              />{" "}
              <span>
                {role} <span className="soft">{words.rolesMay[role]}</span>
              </span>
            </label>
          ))}
          <label htmlFor="key-others">{words.others}</label>
          <input
            id="key-others"
            maxLength={1000}
            placeholder={words.othersHint}
            value={given.others}
            onChange={(event) => set({ ...given, others: event.target.value })}
          />
        </fieldset>
        <div className="field">
          <label htmlFor="key-expires">{words.ends}</label>
          <select
            id="key-expires"
            value={given.expires}
            onChange={(event) => set({ ...given, expires: event.target.value })}
          >
            {Object.entries(words.lengths).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
            <option value="">{words.never}</option>
          </select>
        </div>
        {create.error && <Refused error={create.error} />}
        <div className="acts">
          <button type="submit" className="main" disabled={create.isPending || roles.length === 0}>
            {words.newDo}
          </button>
          <button type="button" onClick={close}>
            {en.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function RotateKey({ old, close }: { old: Schemas["ApiKey"]; close: () => void }) {
  const [grace, setGrace] = useState("1d");
  const [made, setMade] = useState<Made | null>(null);
  const rotate = useAct(() =>
    take(
      client.POST("/api/v1/keys/{id}/rotate", {
        params: { path: { id: old.id }, header: key() },
        body: (grace ? { grace } : {}) as never,
      }),
    ),
  );
  if (made) return <Shown made={made} title={words.madeTitle(old.name)} close={close} />;
  return (
    <Dialog title={words.rotateTitle(old.name)} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rotate.mutate(undefined, { onSuccess: setMade });
        }}
      >
        <p>{words.rotateText(old.user)}</p>
        <div className="field">
          <label htmlFor="key-grace">{words.grace}</label>
          <select id="key-grace" value={grace} onChange={(event) => setGrace(event.target.value)}>
            <option value="">{words.atOnce}</option>
            {Object.entries(words.graces).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </div>
        {rotate.error && <Refused error={rotate.error} />}
        <div className="acts">
          <button type="submit" className="main" disabled={rotate.isPending}>
            {words.rotate.replace(" …", "")}
          </button>
          <button type="button" onClick={close}>
            {en.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The key itself. Neither a click beside the dialog nor Escape loses it: only its button closes it. */
function Shown({ made, title, close }: { made: Made; title: string; close: () => void }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog title={title} close={close} firm>
      <p>{words.once}</p>
      <pre className="secret">{made.key ?? words.gone}</pre>
      <div className="acts">
        {made.key && (
          <button
            type="button"
            className="main"
            data-first
            onClick={() => void navigator.clipboard?.writeText(made.key!).then(() => setCopied(true))}
          >
            {isCopied ? words.copied : words.copy}
          </button>
        )}
        <button type="button" onClick={close}>
          {words.kept}
        </button>
      </div>
    </Dialog>
  );
}
