"""The engine and the naive interpreter agree, and no order of calls and answers makes a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, assume, given, note, settings

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import play
from layover.core.engine.state import ExecutionState
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from tests.conftest import FACTOR
from tests.core.definitions.dice import Dice, dice

from .graphs import INPUTS, Document, Reply, behave, reply, workflow
from .naive import Prediction, predict

if TYPE_CHECKING:
    from layover.core.engine.state import Point
    from layover.core.plan import Plan

_MOST_STEPS = 3_000
_LONG = 7 * 86_400_000


def _examples(count: int) -> settings:
    return settings(
        max_examples=count * FACTOR,
        deadline=None,
        derandomize=FACTOR == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


class Stage:
    """An execution played to its end in the world of `graphs`; `dice` choose the order of events."""

    def __init__(self, plan: Plan, dice: Dice | None = None) -> None:
        self.state = ExecutionState(plan)
        self.now = 1_000
        self._dice = dice

    def play(self, given: object) -> ExecutionState:
        """Return the execution when it is closed."""
        self._send(cmd.Create(id="execution", input=given, user="ann"))
        for _ in range(_MOST_STEPS):
            if self.state.facts.closed:
                return self.state
            self._step()
        raise AssertionError("it never ends")

    def _step(self) -> None:
        points = {point.node: point for point in self.state.points.rows.values() if point.status == "open"}
        running = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "running")
        asked = sorted(name for name, point in points.items() if _reply_to(point) is not None)
        due = wake_at(self.state)
        # Time may pass as long as that breaks no promise to answer.
        passing = [] if due is None or any(points[name].deadline == due for name in asked) else [""]
        options = [*running, *asked, *passing]
        assert options, "it waits for nothing that will come"
        chosen = options[0] if self._dice is None else self._dice.pick(options)
        if chosen in running:
            self._call(chosen)
        elif chosen:
            point = points[chosen]
            given = _reply_to(point)
            assert given is not None
            self._send(cmd.Answer(point=point.id, data=given.data, approved=given.approved, by="ann"))
        else:
            self.now = max(self.now, due or 0)
            self._send(cmd.Wake())

    def _call(self, name: str) -> None:
        node = self.state.node(name)
        try:
            output = behave(self.state.planned(name).node.type, node.failures, node.input)
        except Exception as error:  # noqa: BLE001 - whatever a function raises
            told = ev.Error(code="failed", type=type(error).__name__, message=str(error))
            bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
            self._send(cmd.Fail(node=name, attempt=node.attempt, error=told, bases=bases))
        else:
            self._send(cmd.Complete(node=name, attempt=node.attempt, output=output))

    def _send(self, command: cmd.AnyCommand) -> None:
        play(self.state, command, self.now)
        self.state.undo_log.keep()


def _reply_to(point: Point) -> Reply | None:
    """Return the answer to a point; timers have none, and some deadlines are left to pass."""
    if point.kind == "timer":
        return None
    return reply(point.node, may_be_late=point.deadline is not None and point.deadline - point.opened_at < _LONG)


def _compare(state: ExecutionState, expected: Prediction) -> None:
    facts = state.facts
    note(f"expected {expected}, found {facts}")
    assert facts.closed == expected.status
    if expected.status == "completed":
        assert facts.output == expected.output
        assert (facts.outcome, facts.outcome_reason) == (expected.outcome, expected.reason)
    else:
        assert facts.error is not None
        assert expected.error is not None
        for name in ("code", "type", "retryable", "attempt", "context_id"):
            assert getattr(facts.error, name) == expected.error[name], name


def _workflow(dice: Dice) -> tuple[Document, Plan, object]:
    document = workflow(dice, settled=True)
    given = dice.pick(INPUTS)
    note(f"{document} given {given}")
    return document, load(document), given


@_examples(520)
@given(dice())
def test_the_engine_and_the_naive_interpreter_agree(dice: Dice) -> None:
    _, plan, given = _workflow(dice)
    expected = predict(plan, given, behave, reply)
    assume(not expected.raced)
    _compare(Stage(plan).play(given), expected)


@_examples(200)
@given(dice())
def test_every_order_of_calls_and_answers_ends_the_same(dice: Dice) -> None:
    document, plan, given = _workflow(dice)
    expected = predict(plan, given, behave, reply)
    assume(not expected.raced)
    for resume in ("sequential", "concurrent"):
        document["settings"]["resume"] = resume
        _compare(Stage(load(document), dice).play(given), expected)


@_examples(100)
@given(dice())
def test_a_race_ends_as_well(dice: Dice) -> None:
    _, plan, given = _workflow(dice)
    assert Stage(plan, dice).play(given).status in ("completed", "failed")
