"""Calls that were lost with their instance, when it is not known whether they had their effect.

The function's node says what follows (`on_crash`): the call is repeated, its effect is looked for (`probe`), it is
undone and then repeated (`undo`), or an operator is asked (`pause`). A probe that cannot tell, and an undo that fails
for good, lead to the same question. Its answer can ask for an undo as well.

While a node is in doubt, the next call that it makes is its probe or its undo, with the input of the lost call. An undo
is made again when it fails, as the node's `retry` says, and when it is lost itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from layover.core.definitions.node_types import CallNode
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState

CallPurpose: TypeAlias = Literal["work", "probe", "undo"]

_OTHERWISE: Final = "otherwise"  # in the details of a question: what its answer may ask for if the call did not happen

# The schema of the answers to questions that were asked before they had `otherwise`.
ANSWER: Final[dict[str, object]] = {
    "type": "object",
    "required": ["happened"],
    "properties": {"happened": {"type": "boolean"}, "output": {}},
    "additionalProperties": False,
}


def answer_schema(details: dict[str, object]) -> dict[str, object]:
    """Return the JSON Schema of the answers to a question about a lost call."""
    choices = details.get(_OTHERWISE)
    if not isinstance(choices, list):
        return ANSWER
    return {
        "type": "object",
        "required": ["happened"],
        "properties": {
            "happened": {"type": "boolean", "title": "The call had its effect"},
            "output": {"title": "What it returned, if it had its effect"},
            _OTHERWISE: {
                "type": "string",
                "enum": choices,
                "default": "repeat",
                "title": "What to do if it had not",
                "description": "\n".join(f"{choice}: {_MEANINGS[choice]}" for choice in choices if choice in _MEANINGS),
            },
        },
        "additionalProperties": False,
    }


_MEANINGS: Final = {
    "repeat": "make the call again",
    "undo": "undo what it may have done, then make it again",
    "fail": "fail the node",
}


def purpose_of(state: ExecutionState, name: str) -> CallPurpose:
    """Return what the next call of a node is for: its work, or a lost call that is in doubt."""
    node = state.node(name)
    if not node.doubt:
        return "work"
    if node.undo:
        return "undo"
    on_crash = _on_crash(state, name)
    return on_crash if on_crash in ("probe", "undo") else "work"


def is_asked_about(state: ExecutionState, name: str) -> bool:
    """Return whether an operator has to say what became of a call before its node goes on."""
    node = state.node(name)
    return node.doubt and not node.undo and _on_crash(state, name) == "pause"


def record_doubt(context: DecisionContext, name: str) -> bool:
    """Record that a lost call is in doubt, if that matters; return whether an operator has to be asked."""
    if _on_crash(context.state, name) == "rerun" and not context.state.node(name).doubt:
        return False
    node = context.state.node(name)
    if not node.doubt:
        context.emit(ev.NodeInDoubt(node=name, attempt=node.attempt))
    return is_asked_about(context.state, name)


def ask_about(context: DecisionContext, name: str, problem: str = "") -> None:
    """Open a pause point that asks whether a lost call had its effect, and what to do if it had not."""
    state = context.state
    choices = ["repeat", *(["undo"] if state.planned(name).calls in state.undos else []), "fail"]
    details: dict[str, object] = {"title": f"Did `{name}` happen?", _OTHERWISE: choices}
    if problem:
        details["problem"] = problem
    context.emit(ev.PausePointOpened(node=name, point=context.new_id(), kind="form", details=details, doubt=True))


def _on_crash(state: ExecutionState, name: str) -> Literal["rerun", "probe", "undo", "pause"]:
    node = state.planned(name).node
    return node.on_crash if isinstance(node, CallNode) else "rerun"
