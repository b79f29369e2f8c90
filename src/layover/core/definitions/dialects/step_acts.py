"""The parts of a step in a step list: `execute`, `action` and `wait`, each as one node of ours.

The texts in them are translated later, once, when the node is put together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.definitions.dialects.draft import COMMON, WORKING
from layover.core.definitions.dialects.lengths import UNIT_WORDS, length, unit_of
from layover.core.definitions.dialects.retries import translate_retry
from layover.core.definitions.dialects.tree_edits import build_tree, fields_of, label_of, text_of
from layover.core.definitions.problems import display
from layover.core.definitions.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from layover.core.definitions.problems import Problems

_NAMES: Final = ("name", "function", "call", "action")
_ARGUMENTS: Final = ("input", "arguments", "args", "params", "parameters")
_BLOCKS: Final = frozenset({"block", "require_approval"})
ON_TIMEOUT: Final = {
    "fail": "fail",
    "continue": "continue",
    "continue_with_partial": "partial",
    "partial": "partial",
    "expired": "expired",
}


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a step, before it has an id and a next node."""

    origin: Tree
    type: Tree
    fields: dict[str, Tree]
    works: bool = False
    blocks: bool = False
    expired: Tree | None = None


def act_of(tree: Tree, problems: Problems) -> Act | None:
    """Return the node of an `action`, or None if it only says that the step executes something."""
    fields = fields_of(tree)
    written = fields.get("type") or fields.get("action")
    word = text_of(tree) if written is None else text_of(written)
    at = written or tree
    if word == "allow":
        rest = _without(fields, "type", "action")
        return Act(origin=tree, type=build_tree("end", at), fields={"outcome": build_tree("allowed", at), **rest})
    if word in _BLOCKS:
        return _block(tree, at)
    if word == "execute" and not any(text_of(fields.get(name)) not in {None, "execute"} for name in _NAMES):
        return None
    return call_of(tree, problems)


def call_of(tree: Tree, problems: Problems) -> Act:
    """Return the call of a function: its name and, under `input`, its arguments."""
    if isinstance(tree.value, str):
        return Act(origin=tree, type=tree, fields={}, works=True)
    fields = dict(fields_of(tree))
    name = _function_name(fields)
    if name is None:
        problems.add("missing_field", tree.place, "The action needs a `name`, its function.")
        name = build_tree("unknown", tree)
    made: dict[str, Tree] = {}
    for key in sorted(COMMON | WORKING):
        if key in fields:
            made[key] = fields.pop(key)
    policy = translate_retry(made.pop("retry"), problems) if "retry" in made else None
    if policy is not None:
        made["retry"] = policy
    given = next((fields.pop(key) for key in _ARGUMENTS if key in fields), None)
    if given is not None:
        made["input"] = given
        made.update(fields)
    elif fields:
        made["input"] = tree.with_value(fields)
    return Act(origin=tree, type=name, fields=made, works=True)


def wait_of(tree: Tree, steps: AbstractSet[str], problems: Problems) -> Act:
    """Return a wait for a duration or for a signal."""
    if not isinstance(tree.value, dict):
        return Act(origin=tree, type=build_tree("delay", tree), fields={"duration": length(tree, "s")})
    fields = dict(tree.value)
    signal = next((fields.pop(key) for key in ("signal", "event") if key in fields), None)
    if signal is not None:
        return _signal(tree, signal, fields, steps)
    duration = next((fields.pop(key) for key in ("duration", "for") if key in fields), None)
    fields.pop("type", None)
    unit = unit_of(fields.get("unit"), "s")
    if unit is None:
        listed = ", ".join(f"`{word}`" for word in UNIT_WORDS)
        problems.add("bad_value", fields["unit"].place, f"`unit` is one of {listed}, not {display(fields['unit'])}.")
    fields.pop("unit", None)
    if duration is not None:
        fields["duration"] = length(duration, unit or "s")
    elif "until" not in fields:
        problems.add("missing_field", tree.place, "A wait needs a `duration` or an `event`.")
        fields["duration"] = build_tree("0s", tree)
    return Act(origin=tree, type=build_tree("delay", tree), fields=fields)


def _signal(tree: Tree, signal: Tree, fields: dict[str, Tree], steps: AbstractSet[str]) -> Act:
    fields.pop("type", None)
    made = {"signal": signal}
    timeout = fields.pop("timeout", None)
    outcome = fields.pop("on_timeout", None)
    expired = None
    if timeout is not None:
        made["deadline"] = length(timeout, "s")
    word = text_of(outcome)
    if outcome is not None and word not in ON_TIMEOUT and (word in steps or word == "complete"):
        made["on_deadline"], expired = build_tree("expired", outcome), outcome
    elif outcome is not None:
        made["on_deadline"] = outcome.with_value(ON_TIMEOUT.get(word or "", outcome.value))
    elif timeout is not None:
        made["on_deadline"] = build_tree("fail", timeout)
    made.update(fields)
    return Act(origin=tree, type=build_tree("wait_signal", tree), fields=made, expired=expired)


def _block(tree: Tree, at: Tree) -> Act:
    rest = _without(fields_of(tree), "type", "action")
    reason = rest.pop("reason", None)
    if reason is not None:
        rest["title"] = reason
    return Act(origin=tree, type=build_tree("approval", at), fields=rest, blocks=True)


def _function_name(fields: dict[str, Tree]) -> Tree | None:
    """Take the name of the function: the word `execute` only says that there is one."""
    kind = fields.pop("type", None)
    if label_of(kind) not in {None, "execute"}:
        return kind
    for spelling in _NAMES:
        if text_of(fields.get(spelling)) not in {None, "execute"}:
            return fields.pop(spelling)
    return None


def _without(fields: dict[str, Tree], *names: str) -> dict[str, Tree]:
    return {key: tree for key, tree in fields.items() if key not in names}
