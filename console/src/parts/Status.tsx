import { en } from "../words/en";

const SHAPES: Record<string, React.ReactNode> = {
  running: (
    <circle
      className="spin"
      cx="7"
      cy="7"
      r="5.2"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeDasharray="22 11"
    />
  ),
  waiting: (
    <g fill="none" stroke="currentColor">
      <circle cx="7" cy="7" r="5.6" strokeWidth="1.8" />
      <path d="M7 3.8V7l2.2 1.6" strokeWidth="1.6" />
    </g>
  ),
  person: <path d="M7 .8 13.2 7 7 13.2.8 7z" fill="currentColor" />,
  pausing: <path d="M3 2h3v10H3zM8 2h3v10H8z" fill="currentColor" />,
  completed: <path d="M2 7.5 5.4 11 12 3.6" fill="none" stroke="currentColor" strokeWidth="2.2" />,
  failed: <path d="M2.5 2.5l9 9m0-9l-9 9" stroke="currentColor" strokeWidth="2.2" />,
  cancelled: (
    <g fill="none" stroke="currentColor" strokeWidth="1.8">
      <circle cx="7" cy="7" r="5.6" />
      <path d="M3.2 10.8l7.6-7.6" />
    </g>
  ),
  pending: <circle cx="7" cy="7" r="5.4" fill="none" stroke="currentColor" strokeWidth="1.8" strokeDasharray="2 2.2" />,
};
/** Words of the engine that look like another one. */
const LIKE: Record<string, string> = {
  paused: "person",
  open: "person",
  entered: "running",
  scheduled: "running",
  queued: "pending",
  ready: "pending",
  idle: "pending",
  skipped: "cancelled",
  stopped: "cancelled",
  superseded: "cancelled",
  expired: "waiting",
  answered: "completed",
  applied: "completed",
  held: "pausing",
  incident: "pausing",
  backoff: "waiting",
};

export function Glyph({ value }: { value: string }) {
  return (
    <svg viewBox="0 0 14 14" aria-hidden="true" className={`glyph s-${value}`}>
      {SHAPES[value] ?? SHAPES[LIKE[value] ?? "pending"]}
    </svg>
  );
}

export function Status({ value, text }: { value: string; text?: string }) {
  return (
    <span className={`status s-${value}`}>
      <Glyph value={value} />
      {text ?? en.status[value] ?? value}
    </span>
  );
}
