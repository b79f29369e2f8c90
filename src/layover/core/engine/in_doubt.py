"""Calls that were lost with their instance, when it is not known whether they had their effect.

The function's node says what follows (`on_crash`): the call is repeated, its effect is looked for (`probe`), or an
operator is asked (`pause`). A probe that cannot tell leads to the same question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.node_types import CallNode
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState

ANSWER: Final[dict[str, object]] = {
    "type": "object",
    "required": ["happened"],
    "properties": {"happened": {"type": "boolean"}, "output": {}},
    "additionalProperties": False,
}


def is_probing(state: ExecutionState, name: str) -> bool:
    """Return whether a call of a node looks for the effect of an earlier one."""
    return state.node(name).doubt and _on_crash(state, name) == "probe"


def is_asked_about(state: ExecutionState, name: str) -> bool:
    """Return whether an operator has to say what became of a call before its node goes on."""
    return state.node(name).doubt and _on_crash(state, name) == "pause"


def record_doubt(context: DecisionContext, name: str) -> bool:
    """Record that a lost call is in doubt, if that matters; return whether an operator has to be asked."""
    on_crash = _on_crash(context.state, name)
    if on_crash == "rerun":
        return False
    node = context.state.node(name)
    if not node.doubt:
        context.emit(ev.NodeInDoubt(node=name, attempt=node.attempt))
    return on_crash == "pause"


def ask_about(context: DecisionContext, name: str, problem: str = "") -> None:
    """Open a pause point that asks whether a lost call had its effect."""
    details: dict[str, object] = {"title": f"Did `{name}` happen?"}
    if problem:
        details["problem"] = problem
    context.emit(ev.PausePointOpened(node=name, point=context.new_id(), kind="form", details=details, doubt=True))


def _on_crash(state: ExecutionState, name: str) -> str:
    node = state.planned(name).node
    return node.on_crash if isinstance(node, CallNode) else "rerun"
