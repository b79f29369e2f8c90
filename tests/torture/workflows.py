"""Random workflows that real processes can run in moments: those of the engine's tests, hastened and joined together.

The generator of `tests.core.engine.graphs` makes the graphs. Here days become milliseconds, calls become calls of the
functions in `functions`, children are workflows of the level below (so that families end), and the settings of the
runtime are added: limits, rates, durability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.core.definitions.dice import SeededDice
from tests.core.engine.graphs import workflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.core.engine.graphs import Document

LEVELS = 3
LANES = 2
STEADY = ("steady", "slow", "slow", "slow", "threaded", "records", "asks", "asks_in_thread", "naps", "counts")

_LONG = 6  # one workflow in so many is at work for long
_CALLS = ("steady", "moody", "flaky", "broken")
_DURATIONS = {"0s": "0s", "1s": "15ms", "1h": "60ms"}
_LENGTHS = {"deadline": ("150ms", "2s", "1h"), "timeout": ("150ms", "5s", "5s"), "heartbeat": ("200ms", "1h")}


def name_of(number: int) -> str:
    """Return the name of a workflow."""
    return f"flow-{number}"


def make(seed: int, number: int, edition: int = 0) -> Document:
    """Return one of the workflows of a seed; another edition is another version of it."""
    dice = SeededDice(seed * 1_000_003 + number * 1_009 + edition)
    if number % _LONG == _LONG - 1:
        made = _marathon(dice)
    else:
        made = workflow(dice, settled=False)
        for node in nodes_of(made):
            _hasten(node, dice, number)
    return {**made, "name": name_of(number), "settings": {**made["settings"], **_settings(dice)}}


def _marathon(dice: SeededDice) -> Document:
    """Return a workflow that is at work for long, so that whoever dies has calls out: chains of calls side by side."""
    branches = [
        {"id": f"b{branch}", "body": _chain(dice, branch, dice.integer(2, 5))} for branch in range(dice.integer(2, 4))
    ]
    all_of_them = {"id": "all", "type": "parallel", "on_failure": "continue", "branches": branches, "next": "last"}
    given = {"n": 2, "items": [1], "lane": dice.integer(1, LANES)}
    family = {"id": "last", "type": "workflow", "workflow": name_of(0), "input": given, "on_error": "continue"}
    return {"settings": {}, "nodes": [all_of_them, family]}


def _chain(dice: SeededDice, branch: int, length: int) -> list[Document]:
    found: list[Document] = []
    for index in range(length):
        kind = dice.pick(("slow", "slow", "threaded", "counts", "records"))
        node: Document = {"id": f"c{branch}_{index}", "type": kind, "input": {"given": index}}
        node["on_crash"] = dice.pick(("rerun", "rerun", "probe", "pause", "undo"))
        node["retry"] = {"max_attempts": 5, "delay": "15ms"}
        if index + 1 < length:
            node["next"] = f"c{branch}_{index + 1}"
        found.append(node)
    return found


def nodes_of(graph: Document) -> Iterator[Document]:
    """Return every node of a graph and of the graphs in it."""
    for node in graph["nodes"]:
        yield node
        for body in _bodies(node):
            yield from nodes_of(body)


def _bodies(node: Document) -> list[Document]:
    if "body" in node:
        return [node["body"]]
    return [branch["body"] for branch in node.get("branches", ())]


def _settings(dice: SeededDice) -> Document:
    found: dict[str, Any] = {
        "max_pause": dice.pick(("30d", "30d", "2s")),
        "timeout": dice.pick(("1d", "1d", "1d", "1d", "3s")),
        "durability": dice.pick(("step", "step", "step", "leg")),
    }
    if dice.chance(3):
        conflict = dice.pick(("queue", "queue", "queue", "reject", "cancel_running"))
        found["concurrency"] = {"limit": dice.integer(1, 3), "on_conflict": conflict}
        if dice.chance():
            found["concurrency"]["key"] = "lane ${input.lane}"
    if dice.chance(6):
        found["rate"] = {"limit": dice.integer(1, 5), "per": "500ms"}
    return found


def _hasten(node: Document, dice: SeededDice, number: int) -> None:
    """Make a node of the engine's tests one that is over soon, and that calls what is there to be called."""
    if node["type"] == "workflow" and number % LEVELS == 0:
        node.pop("workflow")
        node.pop("detached")
        node["type"], node["input"] = "steady", {"given": node["input"]}
    elif node["type"] in _CALLS and number % LEVELS and dice.chance(4):
        node.pop("on_crash", None)
        node["type"] = "workflow"
    elif node["type"] == "broken" and not dice.chance(4):
        node["type"] = "steady"  # else few come far
    _shorten(node, dice)
    kind = node["type"]
    if kind == "workflow":
        _have_a_child(node, dice, number)
    elif kind == "wait_signal":
        _listen(node, dice)
    elif kind == "callback":
        node["input"] = {**node["input"], "token": "${callback.token}"}
        if "call" in node:
            node["call"] = dice.pick(("dials", "dials", "dials_badly"))
    elif kind == "approval" and dice.chance(4):
        node |= {"approvers": {"users": ["ann", "bob"]}, "need": 2, "order": "sequence"}
    elif kind == "steady":
        node["type"] = dice.pick(STEADY)
        if dice.chance(6):
            node["heartbeat"] = "300ms"


def _shorten(node: Document, dice: SeededDice) -> None:
    if "duration" in node:
        node["duration"] = _DURATIONS[node["duration"]]
    for field, lengths in _LENGTHS.items():
        if field in node:
            node[field] = dice.pick(lengths)
    if "remind" in node:
        node["remind"] = ["20ms", "80ms", *([{"before": "30ms"}] if "deadline" in node else [])]
    if "escalate" in node:
        node["escalate"] = {**node["escalate"], "after": "100ms"}
    if "retry" in node:
        node["retry"] = {**node["retry"], "delay": "15ms"}


def _have_a_child(node: Document, dice: SeededDice, number: int) -> None:
    """Let a node start a workflow of the level below, nearly always with what that needs."""
    below = number % LEVELS - 1  # and none of them is a long one
    node["workflow"] = name_of(below + LEVELS * dice.integer(0, 1))
    if not dice.chance(8):
        node["input"] = {"n": dice.integer(0, 5), "items": [1, 2], "lane": dice.integer(1, LANES)}


def _listen(node: Document, dice: SeededDice) -> None:
    """Let a node wait for what all wait for, or for what is meant for its execution only; perhaps looking back."""
    if dice.chance() and "signal" in node:
        node["key"] = "${execution.id}"
    if dice.chance():
        node["lookback"] = dice.pick(("100ms", "3s"))
