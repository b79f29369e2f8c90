"""What a `send` node sends: rendered once, and kept in the log with the event from which it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from layover.core.definitions.canonical import part_document
from layover.core.definitions.check_notify import is_recipient
from layover.core.definitions.model import InlineDestination
from layover.core.expressions import ExpressionError
from layover.core.ids import may_live_again, uuid8
from layover.core.notifications import Sent

if TYPE_CHECKING:
    from layover.core.definitions.node_types import Send
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState
    from layover.core.plan import PlannedNode


def letter(context: DecisionContext, name: str, planned: PlannedNode) -> dict[str, object]:
    """Return what a node sends, with its templates rendered; recipients that cannot be understood fail it."""
    node = cast("Send", planned.node)
    via: object = part_document(node.via) if isinstance(node.via, InlineDestination) else node.via
    made: dict[str, object] = {"via": via}
    to = [context.text(name, planned, f"to.{index}") for index in range(len(node.to))]
    for one in to:
        if not is_recipient(one) or one == "people":
            raise ExpressionError(f"`to`: {one!r:.100} is no mail address.", code="invalid_argument")
    if to:
        made["to"] = to
    for field in ("subject", "text"):
        if getattr(node, field):
            made[field] = context.text(name, planned, field)
    if "data" in planned.renderers:
        made["data"] = context.render(name, planned, "data")
    return made


def sent_of(written: object, *, awaited: bool) -> Sent:
    """Return what a node sends, as it was kept."""
    fields = cast("dict[str, object]", written)
    return msgspec.convert({**fields, "awaited": awaited}, Sent)


def send_id(state: ExecutionState, name: str, attempt: int) -> str:
    """Return the id of what a node sends without waiting for it."""
    facts = state.facts
    life = facts.created_at if may_live_again(facts.id) else 0
    return uuid8(f"send/{facts.id}/{life}/{name}/{attempt}")
