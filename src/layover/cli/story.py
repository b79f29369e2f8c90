"""Events as lines that a person reads: what happened, where, and what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.cli.screen import brief, length
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.runtime.executions import HistoryEntry

_LEFT_OUT = frozenset({"node", "details", "rules", "hash", "id", "workflow"})


def event_line(entry: HistoryEntry) -> str:
    """Return an event as a line of a log: its name, its node, and what it carries."""
    event = entry.event
    fields = msgspec.structs.asdict(event)
    defaults = dict(zip(event.__struct_fields__[-len(event.__struct_defaults__) :], event.__struct_defaults__, strict=True)) if event.__struct_defaults__ else {}
    told = [str(fields["node"])] if fields.get("node") else []
    for name, value in fields.items():
        if name in _LEFT_OUT or value in (None, "", (), {}, 0, False):
            continue
        if name in defaults and defaults[name] == value:
            continue
        told.append(f"{name}={_shown(value)}")
    return "  ".join([type(event).__name__, *told])


def progress_line(event: ev.AnyEvent) -> str | None:
    """Return what an event means to somebody who watches a run; nothing for what only the engine cares about."""
    match event:
        case ev.NodeStarted(attempt=1):
            return f"{event.node}: started"
        case ev.NodeStarted():
            return f"{event.node}: started (attempt {event.attempt})"
        case ev.NodeCompleted():
            port = f" → {event.port}" if event.port != "done" else ""
            return f"{event.node}: completed{port}"
        case ev.NodeFailed():
            what = "failed, tried again" if event.retry_at is not None else "failed"
            return f"{event.node}: {what}: {event.error.message}"
        case ev.PausePointOpened():
            title = f": {event.details['title']}" if event.details.get("title") else ""
            return f"{event.node}: waits ({event.kind}){title}"
        case ev.PausePointExpired():
            return "a pause point expired"
        case ev.ExecutionPausing():
            return f"paused by an operator: {event.reason}"
        case ev.ExecutionResumed():
            return "resumed"
        case _:
            return None


def _shown(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return value if isinstance(value, str) and value.isidentifier() else brief(value, 100)
    return str(value)


def lasted(started: int | None, finished: int | None) -> str:
    """Return how long something took, if it is over."""
    return length(finished - started) if started is not None and finished is not None else "-"
