"""Events as lines that a person reads: what happened, where, and what it came to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from layover.cli.resources import moments_shown
from layover.cli.screen import brief, length
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.runtime.executions import HistoryEntry

_BARE = re.compile(r"[\w.:-]+", re.ASCII)
_LEFT_OUT = frozenset({"node", "details", "rules", "hash", "id", "workflow"})


def event_line(entry: HistoryEntry) -> str:
    """Return an event as a line of a log: its name, its node, and what it carries."""
    event = entry.event
    told = [str(event.node)] if hasattr(event, "node") and event.node else []
    for field in msgspec.structs.fields(event):
        value = moments_shown(field.name, getattr(event, field.name))
        if field.name not in _LEFT_OUT and value not in (field.default, None, "", (), {}):
            told.append(f"{field.name}={_shown(value)}")
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
    return value if isinstance(value, str) and _BARE.fullmatch(value) else brief(value, 100)


def lasted(started: int | None, finished: int | None) -> str:
    """Return how long something took, if it is over."""
    return length(finished - started) if started is not None and finished is not None else "-"
