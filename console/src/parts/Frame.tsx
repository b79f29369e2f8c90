/** What every screen needs: a title, its states while there is nothing to show yet, times, dialogs, data. */
import { useEffect, useRef, useState } from "react";
import { Problem } from "../api/client";
import { signInPath } from "../lib/base";
import { brief } from "../lib/brief";
import { usePreferences } from "../lib/preferences";
import { age, moment } from "../lib/time";
import { en } from "../words/en";
import { Download } from "./Long";

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${en.name}`;
  }, [title]);
}

/** The time, again and again, so that ages and deadlines go on. */
export function useNow(every = 15_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), every);
    return () => window.clearInterval(timer);
  }, [every]);
  return now;
}

export function Time({ at, now }: { at: string; now: number }) {
  usePreferences();
  return (
    <time dateTime={at} title={moment(at)}>
      {age(at, now)}
    </time>
  );
}

/** Shown only after 300 ms: what comes at once does not flicker. */
export function Loading() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setShown(true), 300);
    return () => window.clearTimeout(timer);
  }, []);
  return shown ? (
    <div className="skeleton" role="status">
      <span className="hidden">{en.loading}</span>
      <i />
      <i />
      <i />
    </div>
  ) : null;
}

/** What was refused, in the words of the screen for its code, or in those of the server. */
export function Refused({
  error,
  retry,
  words,
}: {
  error: unknown;
  retry?: () => void;
  words?: Record<string, string>;
}) {
  const problem = error instanceof Problem ? error : null;
  if (problem?.status === 401)
    return (
      <div className="notice bad" role="alert">
        <p>{en.signedOut}</p>
        <a className="button main" href={signInPath()}>
          {en.signIn}
        </a>
      </div>
    );
  const text =
    problem === null
      ? String(error)
      : problem.status === 0
        ? en.unreachable
        : problem.status === 403
          ? en.forbidden(problem.message)
          : (words?.[problem.code] ?? problem.message);
  return (
    <div className="notice bad" role="alert">
      <p>{text}</p>
      {problem !== null && problem.status > 0 && (
        <p className="soft mono">
          {problem.code} {problem.requestId && `· ${en.requestId(problem.requestId)}`}
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {en.retryLoad}
        </button>
      )}
    </div>
  );
}

/** A dialog of the browser: it holds the focus, and Escape closes it. */
export function Dialog(props: {
  title: string;
  close: () => void;
  side?: boolean;
  wide?: boolean;
  firm?: boolean; // only its own buttons close it: what it shows cannot be shown again
  children: React.ReactNode;
}) {
  const at = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = at.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      dialog.querySelector<HTMLElement>("[data-first]")?.focus(); // else its first button has the focus
    }
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it, as Escape does
    <dialog
      ref={at}
      className={props.side ? "drawer" : props.wide ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        if (!props.firm) props.close();
      }}
      onClick={(event) => event.target === at.current && !props.firm && props.close()}
    >
      <div className="dialog-body">
        <header>
          <h2>
            <bdi>{props.title}</bdi>
          </h2>
          {!props.firm && (
            <button type="button" className="quiet" onClick={props.close} aria-label={en.close}>
              ✕
            </button>
          )}
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

const LONGEST = 20_000;

/** Data as it is; of much, the beginning, and all of it as a file. */
export function Data({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return (
    <section className="data">
      <h3>{label}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {brief(text, LONGEST)}
      </pre>
      {text.length > LONGEST && <Download text={text} name={label} />}
    </section>
  );
}
