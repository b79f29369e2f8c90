"""The cause of a rest in one word, the first that applies; the words are those of `why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Rest

# Those first for which others have to act.
_KINDS: Final = ("approval", "form", "callback", "signal", "child", "delivery", "timer")
PAUSE_CAUSES: Final = ("operator", "limit", "delay", "function", "place", "incident", *_KINDS, "retry")


def pause_cause(state: ExecutionState, rest: Rest) -> str:
    """Return why an open execution rests."""
    facts = state.facts
    if facts.gate != "open":
        return "operator"
    if not facts.started_at:
        return "limit" if facts.hold else "delay"
    if rest.missing:
        return "function"
    if state.busy:
        return "place"  # another instance goes on with it
    kinds = {point.kind for point in state.points.rows.values()}
    statuses = {node.status for node in state.nodes.rows.values()}
    if "incident" in statuses:
        return "incident"
    for kind in _KINDS:
        if kind in kinds:
            return kind
    return "retry"
