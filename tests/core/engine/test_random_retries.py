"""Random failures, and a retry after each: nothing that is done is done again."""

from __future__ import annotations

import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, assume, given, note, settings

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from layover.testing import Rehearsal
from tests.conftest import FACTOR
from tests.core.definitions.dice import dice

from .graphs import INPUTS, reply, workflow
from .naive import predict

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState, Point
    from layover.core.plan import Plan
    from tests.core.definitions.dice import Dice

    from .graphs import Document


_MOST_STEPS = 2_000


def _examples(count: int) -> settings:
    return settings(
        max_examples=count * FACTOR,
        deadline=None,
        derandomize=FACTOR == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


class Outages:
    """Plays an execution in which any call may fail now and then, retried by an operator until it ends."""

    def __init__(self, plan: Plan, dice: Dice | None) -> None:
        self.flow = Rehearsal(plan)
        self._dice = dice
        self._failures: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()

    def play(self, given: object) -> ExecutionState:
        flow = self.flow
        flow.send(cmd.Create(id="execution", input=given, user="ann"))
        for _ in range(_MOST_STEPS):
            if flow.status == "completed" or (flow.status == "failed" and not self._failed_outside()):
                return flow.state
            if flow.status == "failed":
                flow.send(cmd.Retry(by="op"))
            else:
                self._go_on()
        raise AssertionError("it never ends")

    def _failed_outside(self) -> bool:
        error = self.flow.state.facts.error
        return error is not None and error.code == "outage"

    def _go_on(self) -> None:
        flow, state = self.flow, self.flow.state
        running = sorted(name for name, node in state.nodes.rows.items() if node.status == "running")
        points = [one for one in state.points.rows.values() if one.kind != "timer" and one.status == "open"]
        asked = sorted(points, key=lambda one: one.node)
        if running:
            self._call(self._dice.pick(running) if self._dice else running[0])
        elif asked:
            self._answer(asked[0])
        else:
            flow.now = max(flow.now, wake_at(state) or 0)
            flow.send(cmd.Wake())

    def _call(self, name: str) -> None:
        node = self.flow.state.node(name)
        if self._dice and self._failures[name] < 2 and self._dice.chance(3):
            self._failures[name] += 1
            error = ev.Error(code="outage", message="it is down")
            self.flow.send(cmd.Fail(node=name, attempt=node.attempt, error=error))
        else:
            self.done[name] += 1
            output = zlib.crc32(repr(node.input).encode()) % 7
            self.flow.send(cmd.Complete(node=name, attempt=node.attempt, output=output))

    def _answer(self, point: Point) -> None:
        given = reply(point.node, may_be_late=False)
        assert given is not None
        self.answered[point.node] += 1
        self.flow.send(cmd.Answer(point=point.id, data=given.data, approved=given.approved, by="ann"))


_USUAL = {"condition": "true", "switch": "default", "approval": "approved"}


def _without_ways_out(graph: Document) -> None:
    """Remove every handling of failures from a workflow, at any depth."""
    types = {node["id"]: node["type"] for node in graph["nodes"]}
    for edge in graph["edges"]:
        if edge["port"] == "error":
            edge["port"] = _USUAL.get(types[edge["source"]], "done")
    graph["edges"] = [edge for index, edge in enumerate(graph["edges"]) if edge not in graph["edges"][:index]]
    for node in graph["nodes"]:
        for field in ("on_error", "retry"):
            node.pop(field, None)
        if node.get("on_failure") == "continue":
            node["on_failure"] = "wait"
        bodies = [branch["body"] for branch in node.get("branches", [])] + ([node["body"]] if "body" in node else [])
        for body in bodies:
            _without_ways_out(body)


def _steady(function: str, failures: int, given: object) -> object:  # noqa: ARG001 - it always does the same
    return zlib.crc32(repr(given).encode()) % 7


def _calm(document: dict[str, Any], given: object) -> Plan:
    plan = load(document)
    assume(not predict(plan, given, _steady, reply).raced)
    return plan


@_examples(100)
@given(dice())
def test_random_failures_never_repeat_completed_nodes(dice: Dice) -> None:
    document = workflow(dice, settled=True)
    given = dice.pick(INPUTS)
    note(f"{document} given {given}")
    plan = load(document)
    outages = Outages(plan, dice)
    outages.play(given)
    assert not [name for name, times in outages.done.items() if times > 1]
    assert not [name for name, times in outages.answered.items() if times > 1]


@_examples(100)
@given(dice())
def test_a_retried_execution_ends_as_if_nothing_had_failed(dice: Dice) -> None:
    document = workflow(dice, settled=True)
    _without_ways_out(document)
    given = dice.pick(INPUTS)
    note(f"{document} given {given}")
    plan = _calm(document, given)
    calm = Outages(plan, None).play(given)
    shaken = Outages(plan, dice)
    state = shaken.play(given)
    assert (state.facts.closed, state.facts.output) == (calm.facts.closed, calm.facts.output)
    assert not [name for name, times in shaken.done.items() if times > 1]
