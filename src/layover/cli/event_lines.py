"""Events as lines that a person reads: what happened, where, and what it came to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from layover import LogLine, Progress
from layover.cli.screen import brief
from layover.cli.tree import progress_text
from layover.core.engine import events as ev
from layover.tracebacks import error_summary

if TYPE_CHECKING:
    from layover import Event

_BARE = re.compile(r"[\w.:-]+", re.ASCII)
_LEFT_OUT = frozenset({"node", "details", "rules", "hash", "id", "workflow"})
_NOTHING: tuple[object, ...] = (None, "", (), [], {})


def event_line(event: Event) -> str:
    """Return an event as a line of a log: its name, its node, and what it carries."""
    told = [event.context_id] if event.context_id else []
    usual = _usual(event.type)
    carried = {**dict.fromkeys(usual), "attempt": event.attempt, **event.data}  # in the order of the event itself
    for name, value in carried.items():
        if name not in _LEFT_OUT and value not in (*_NOTHING, usual.get(name)):
            told.append(f"{name}={_format_value(value)}")
    return "  ".join([event.type, *told])


def progress_line(event: Event | Progress | LogLine) -> str | None:
    """Return what an event means to a person who watches a run; None for what only the engine needs."""
    if isinstance(event, Progress):
        return f"{event.context_id}: {progress_text(event)}"
    if isinstance(event, LogLine):
        return f"{event.context_id}: [{event.level}] {event.text}"
    node, data = event.context_id, event.data
    match event.type:
        case "NodeStarted":
            return f"{node}: started" if event.attempt in (None, 1) else f"{node}: started (attempt {event.attempt})"
        case "NodeCompleted":
            port = f" → {data['port']}" if data.get("port", "done") != "done" else ""
            return f"{node}: completed{port}"
        case "NodeFailed":
            what = "failed, tried again" if data.get("retry_at") is not None else "failed"
            type_, message = _inside(data, "error", "type"), _inside(data, "error", "message")
            return f"{node}: {what}: {error_summary(str(type_ or ''), str(message or ''))}"
        case "PausePointOpened":
            title = _inside(data, "details", "title")
            return f"{node}: waits ({data.get('kind')}){f': {title}' if title else ''}"
        case "PausePointExpired":
            return "a pause point expired"
        case "ExecutionPausing":
            return f"paused by an operator: {data.get('reason', '')}"
        case "ExecutionResumed":
            return "resumed"
        case _:
            return None


def _usual(name: str) -> dict[str, object]:
    """Return what the fields of an event hold if nothing is said about them."""
    kind = getattr(ev, name, None)
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {}  # a server may know events that we do not
    return {field.name: field.default for field in msgspec.structs.fields(kind)}


def _inside(data: dict[str, object], *names: str) -> object:
    """Return what lies deeper in data, if it does."""
    found: object = data
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _format_value(value: object) -> str:
    return value if isinstance(value, str) and _BARE.fullmatch(value) else brief(value, 100)
