/** Keys without Ctrl: only outside of fields, and not at all if a person has switched them off (WCAG 2.1.4). */
import { useLayoutEffect, useRef } from "react";
import { preferences } from "./preferences";

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

function isPressed(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button, summary, [role=button], [role=option]") !== null;
}

export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
  const current = useRef(keys);
  current.current = keys;
  // Before the first paint: who sees the screen can use its keys.
  useLayoutEffect(() => {
    let first = "";
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey) {
        const act = current.current[`ctrl ${event.key.toLowerCase()}`];
        if (act) {
          event.preventDefault();
          act(event);
        }
        return;
      }
      if (event.altKey || isTyping(event.target) || !preferences().singleKeys) return;
      if (document.querySelector("dialog[open]") !== null) return;
      if (event.key === "Enter" && isPressed(event.target)) return; // what has the focus is pressed, not the row
      const pressed = first ? `${first} ${event.key}` : event.key;
      first = "";
      const act = current.current[pressed];
      if (act) {
        event.preventDefault();
        act(event);
      } else if (event.key === "g") first = "g";
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
