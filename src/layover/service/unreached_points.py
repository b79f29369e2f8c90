"""Why there is no pause point at a context id of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.context_ids import parse_context_id
from layover.core.definitions.node_types import AskingNode
from layover.core.plan import planned_at
from layover.errors import AnswerRefused, NotFound, WrongState
from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.core.plan import Plan
    from layover.errors import LayoverError

_WAITING = frozenset({"wait", "awaited", "callback"})


def not_there(plan: Plan, context: str, status: str) -> LayoverError:
    """Return why there is no pause point at a place of an execution: there may be one later, or never."""
    place = parse_context_id(context)
    node = planned_at(plan, place)
    unknown = NotFound(f"There is no pause point at {context[:200]}.", code="unknown_point")
    if node is None:
        return unknown
    asks = isinstance(node.node, AskingNode) if place.key is None else node.role == "call"
    if not asks:
        if place.key is None and node.role in _WAITING:
            return AnswerRefused("not_answerable", f"A {node.node.type} is not answered by a person.")
        return unknown
    if status in CLOSED:
        return WrongState(f"The execution is {status}.", status, code="execution_closed")
    return WrongState(f"The execution has not come to {context[:200]} yet.", status, code="snapshot_pending")
