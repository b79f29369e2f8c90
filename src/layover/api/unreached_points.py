"""Places that an execution has not come to: what to tell somebody who looks for a pause point there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.problems import Refusal
from layover.core.context_ids import parse_context_id
from layover.core.definitions.node_types import AskingNode
from layover.core.plan import planned_at
from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.core.plan import Plan

_WAITING = frozenset({"wait", "awaited", "callback"})


def not_there(plan: Plan, context: str, status: str) -> Refusal:
    """Return why there is no pause point at a place of an execution: there may be one later, or never."""
    place = parse_context_id(context)
    node = planned_at(plan, place)
    unknown = Refusal("unknown_point", f"There is no pause point at {context[:200]}.")
    if node is None:
        return unknown
    asks = isinstance(node.node, AskingNode) if place.key is None else node.role == "call"
    if not asks:
        if place.key is None and node.role in _WAITING:
            return Refusal("not_answerable", f"A {node.node.type} is not answered by a person.")
        return unknown
    if status in CLOSED:
        return Refusal("execution_closed", f"The execution is {status}.", current_status=status)
    return Refusal("snapshot_pending", f"The execution has not come to {context[:200]} yet.")
