"""Every transition that the tables allow happens, and no other does."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.engine import commands as cmd
from layover.core.engine import decision_context
from layover.core.engine import events as ev
from layover.core.engine.decide import play
from layover.core.engine.evolve import evolve
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.transitions import EXECUTION, NODE, POINT, page
from layover.testing import Rehearsal, rehearsal
from tests.conftest import FACTOR

from .flows import rehearse
from .random_executions import journeys, wander

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import ExecutionState

PAGE = Path(__file__).parents[3] / "docs" / "states.md"
ENDS: dict[type[ev.DomainEvent], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}

Seen = set[tuple[str, str, type[ev.DomainEvent] | None]]


class Watch:
    """Records every change of status."""

    def __init__(self) -> None:
        self.executions: Seen = set()
        self.nodes: Seen = set()
        self.points: Seen = set()

    def evolve(self, state: ExecutionState, event: AnyEvent, at: int) -> ExecutionState:
        """Apply an event and record its changes."""
        nodes, points = _nodes(state), _points(state)
        evolve(state, event, at)
        self.nodes |= _changes(nodes, _nodes(state), type(event), absent=("idle", "idle"))
        self.points |= _changes(points, _points(state), type(event), absent=("", ENDS.get(type(event), "?")))
        return state

    def play(self, state: ExecutionState, command: cmd.AnyCommand, now: int, slots: FreeSlots | None) -> list[AnyEvent]:
        """Decide a command and record the changes of the append, with the last event of the execution as a whole."""
        before = state.status
        events = play(state, command, now, slots)
        if state.status != before:
            own = [type(event) for event in events if type(event).__name__.startswith("Execution")]
            self.executions.add((before, state.status, own[-1] if own else None))
        return events


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watching = Watch()
    monkeypatch.setattr(decision_context, "evolve", watching.evolve)
    monkeypatch.setattr(rehearsal, "play", watching.play)
    return watching


def _nodes(state: ExecutionState) -> dict[str, str]:
    return {name: node.status for name, node in state.nodes.rows.items()}


def _points(state: ExecutionState) -> dict[str, str]:
    return {point.id: point.status for point in state.points.rows.values()}


def _changes(
    before: Mapping[str, str], after: Mapping[str, str], cause: type[ev.DomainEvent], absent: tuple[str, str]
) -> Seen:
    pairs = {(before.get(key, absent[0]), after.get(key, absent[1]), cause) for key in {*before, *after}}
    return {(old, new, cause) for old, new, cause in pairs if old != new}


def test_all_transitions_in_the_tables_happen_and_no_others(watch: Watch) -> None:
    @settings(max_examples=500 * FACTOR)
    @given(journeys, st.randoms(use_true_random=False))
    def roam(journey: tuple[int, list[int]], chance: object) -> None:
        number, choices = journey
        further = [chance.randrange(10_000) for _ in range(40)]  # type: ignore[attr-defined]  # it is a Random
        wander((number, [*choices, *further]))

    roam()
    for happen in RARE:
        happen()
    _compare(watch.executions, EXECUTION)
    _compare(watch.nodes, NODE)
    _compare(watch.points, POINT)


def _compare(seen: Seen, allowed: frozenset[tuple[str, str, type[ev.DomainEvent] | None]]) -> None:
    strange, unseen = _written(seen - allowed), _written(allowed - seen)
    assert not strange, f"not in the table: {strange}"
    assert not unseen, f"in the table, but never seen: {unseen}"


def _written(transitions: Seen | frozenset[tuple[str, str, type[ev.DomainEvent] | None]]) -> str:
    return "; ".join(f"{old} -> {new}: {cause.__name__ if cause else None}" for old, new, cause in transitions)


def test_the_page_is_made_from_the_tables() -> None:
    command = "python -c 'from layover.core.engine.transitions import page; print(page(), end=\"\")' > docs/states.md"
    assert PAGE.read_text() == page(), f"write it anew: {command}"


# Transitions that random play would rarely reach


def _begun(nodes: str, settings: str = "{}", given: object = None) -> Rehearsal:
    flow = rehearse(nodes, settings=settings)
    flow.send(cmd.Create(id="execution", input=given))
    return flow


def _failed(flow: Rehearsal, node: str) -> None:
    error = ev.Error(code="failed", message="broken")
    flow.send(cmd.Fail(node=node, attempt=flow.state.node(node).attempt, error=error))


TWO_BRANCHES = """
  - id: split
    type: parallel
    branches:
      - {id: left, body: [{id: call, type: f, retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}}]}
      - {id: right, body: [{id: other, type: f, next: bad}, {id: bad, type: compute, output: "${input.missing}"}]}
    next: {done: rest, error: rest}
  - {id: rest, type: %s}
"""


def a_scope_is_closed_while_a_call_in_it_waits_for_its_next_attempt() -> None:
    flow = _begun(TWO_BRANCHES % "form")
    _failed(flow, "call:split.left")
    flow.call("other:split.right")


def a_scope_is_closed_while_a_call_in_it_waits_for_an_operator() -> None:
    flow = _begun(TWO_BRANCHES % "form")
    _failed(flow, "call:split.left")
    flow.now += 1_000
    flow.send(cmd.Wake())
    _failed(flow, "call:split.left")
    flow.call("other:split.right")


def resuming_gives_up_the_calls_that_a_pause_had_waited_for(rest: str) -> None:
    flow = _begun(TWO_BRANCHES % rest, given={})
    flow.send(cmd.Pause(by="op"))
    flow.call("other:split.right")
    flow.send(cmd.Resume(by="op"))


def resuming_ends_the_execution_while_a_call_is_out() -> None:
    flow = _begun(
        "  - {id: a, type: compute, output: 1, next: [b, c]}\n  - {id: b, type: f}\n"
        "  - {id: c, type: f, next: d}\n  - {id: d, type: end}\n"
    )
    flow.send(cmd.Pause(by="op"))
    flow.call("c")
    flow.send(cmd.Resume(by="op"))


CHAIN = "  - {id: a, type: f, next: b}\n  - {id: b, type: %s}\n"


def an_operator_holds_and_releases(then: str) -> None:
    flow = _begun(CHAIN % then)
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.Resume(by="op"))
    flow.send(cmd.Pause(by="op"))
    flow.call("a")
    flow.send(cmd.Resume(by="op"))
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.Cancel())


def going_back_from_behind_the_gate() -> None:
    flow = _begun(CHAIN % "f")
    flow.send(cmd.Pause(by="op"))
    flow.call("a")
    flow.send(cmd.Rewind(to="a"))


def going_back_from_a_failed_attempt(exhausted: str, to: str) -> None:
    flow = _begun(CHAIN % f"f, retry: {{max_attempts: {exhausted}, delay: 1s, on_exhausted: pause}}")
    flow.call("a")
    _failed(flow, "b")
    flow.send(cmd.Resume(by="op"))
    if exhausted == "1":
        _failed(flow, "b")
    flow.send(cmd.Rewind(to=to))


def time_has_passed(then: str) -> None:
    flow = _begun(f"  - {{id: a, type: delay, duration: 1s, next: b}}\n  - {{id: b, type: {then}}}\n", given={})
    flow.skip(1_000)


TWICE = """
  - {id: s, type: set, values: {count: "${vars.count + 1}"}, next: c}
  - {id: c, type: condition, if: vars.count == 1, next: {true: first, false: second}}
  - {id: first, type: %s}
  - {id: second, type: %s}
"""
FINE, BROKEN, ASKED, WAITS = "compute, output: 1", "compute, output: '${input.missing}'", "form", "delay, duration: 1h"
FOUR = (FINE, BROKEN, ASKED, WAITS)


def going_back_ends_differently(first: str, second: str) -> None:
    flow = _begun(TWICE % (first, second), given={})
    if first == ASKED:
        flow.send(cmd.Cancel())
    flow.send(cmd.Rewind(to="s"))


def a_call_waits_for_a_place(then: str) -> None:
    retry = "retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}"
    flow = _begun(f"  - {{id: s, type: compute, output: 0, next: a}}\n  - {{id: a, type: f, {retry}}}\n")
    free = flow.slots
    match then:
        case "again":
            _failed(flow, "a")
            flow.now += 1_000
        case "released":
            _failed(flow, "a")
            flow.now += 1_000
            flow.send(cmd.Wake())
            _failed(flow, "a")
        case _:
            pass
    flow.slots = FreeSlots(0)
    flow.send(cmd.Recover())
    flow.send(cmd.Wake())
    flow.send(cmd.Resume(by="op"))
    flow.send(cmd.StartQueued(node="a"))
    if then == "rewound":
        flow.send(cmd.Rewind(to="a"))
        flow.send(cmd.Rewind(to="s"))
    flow.slots = free
    flow.send(cmd.StartQueued(node="a"))


def a_call_that_waited_for_a_place_cannot_be_made() -> None:
    flow = rehearse("  - {id: s, type: compute, output: 0, next: a}\n  - {id: a, type: f, input: '${input.missing}'}\n")
    free, flow.slots = flow.slots, FreeSlots(0)
    flow.send(cmd.Create(id="execution", input={}))
    flow.slots = free
    flow.send(cmd.StartQueued(node="a"))


def a_scope_is_closed_while_a_call_in_it_waits_for_a_place() -> None:
    flow = rehearse(TWO_BRANCHES % "form")
    free, flow.slots = flow.slots, FreeSlots(0)
    flow.send(cmd.Create(id="execution", input={}))
    flow.slots = free
    flow.send(cmd.StartQueued(node="other:split.right"))
    flow.call("other:split.right")


def an_operator_holds_what_waits_for_a_child(beside: str) -> None:
    flow = _begun(
        "  - {id: s, type: compute, output: 0, next: [c, b]}\n  - {id: c, type: workflow, workflow: other}\n"
        f"  - {{id: b, type: {beside}}}\n"
    )
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.ChildPaused(point=flow.point("c").id))


def an_execution_waits_for_its_start(then: str) -> None:
    flow = rehearse(f"  - {{id: a, type: {then}}}\n")
    flow.send(cmd.Create(id="execution", hold=True))
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.Resume(by="op"))
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.Admit())
    flow.send(cmd.Resume(by="op"))


def a_limit_holds_what_is_cancelled() -> None:
    flow = rehearse("  - {id: a, type: f}\n")
    flow.send(cmd.Create(id="execution", hold=True))
    flow.send(cmd.Cancel())


def an_execution_fails_before_it_starts(then: str, *, admitted: bool) -> None:
    flow = rehearse(f"  - {{id: a, type: {then}}}\n", settings="{max_pause: 1s}")
    flow.send(cmd.Create(id="execution", hold=True))
    flow.send(cmd.Pause(by="op"))
    if admitted:
        flow.send(cmd.Admit())
    flow.skip(1_000)
    flow.send(cmd.Retry(by="op"))


CALLED_BACK = """
  - {id: s, type: compute, output: 0, next: [c, other]}
  - {id: c, type: callback, call: f, input: "${1 / (1 - vars.count)}", deadline: 1h, on_deadline: fail,
     next: {error: e}, retry: {max_attempts: 2, delay: 1s, on_exhausted: pause}}
  - {id: other, type: f, next: set}
  - {id: set, type: set, values: {count: 1}}
  - {id: e, type: form}
"""


def a_callback_waits_for_a_place(then: str) -> None:
    flow = _begun(CALLED_BACK)
    free, flow.slots = flow.slots, FreeSlots(0)
    flow.send(cmd.Recover())
    match then:
        case "replied":
            flow.send(cmd.Report(point=flow.point("c").id))
        case "given up":
            flow.send(cmd.CancelPoint(point=flow.point("c").id))
        case "late":
            flow.skip(3_600_000)
        case _:
            flow.slots = free
            flow.send(cmd.StartQueued(node="c"))
            flow.call("c")


def a_callback_cannot_be_called_again() -> None:
    flow = _begun(CALLED_BACK)
    flow.send(cmd.Complete(node="other", attempt=1))
    flow.send(cmd.Recover())


def a_callback_cannot_be_called() -> None:
    flow = _begun(CALLED_BACK)
    _failed(flow, "c")
    flow.now += 1_000
    flow.send(cmd.Wake())
    _failed(flow, "c")


def a_lost_call_had_no_effect() -> None:
    flow = _begun("  - {id: a, type: f, on_crash: probe}\n")
    flow.send(cmd.Recover())
    flow.send(cmd.Probed(node="a", attempt=2, happened=False))


def a_lost_call_is_undone() -> None:
    flow = _begun("  - {id: a, type: f, on_crash: undo}\n")
    flow.send(cmd.Recover())
    flow.send(cmd.Undone(node="a", attempt=2))


def a_failed_undo_is_not_tried_again() -> None:
    flow = _begun("  - {id: a, type: f, on_crash: undo, retry: {max_attempts: 2, delay: 1h}}\n")
    flow.send(cmd.Recover())
    flow.send(cmd.Fail(node="a", attempt=2, error=ev.Error(code="failed", message="no", retryable=True), jitter=0.5))
    flow.send(cmd.CancelRetry(node="a", by="op"))
    assert flow.waiting == ["a"]


HALTED = """
  - id: all
    type: parallel
    on_failure: wait
    branches:
      - id: one
        body:
          - {id: a, type: f, next: {done: b, error: c}}
          - {id: b, type: bad, on_error: continue, next: d}
          - {id: c, type: f}
          - {id: d, type: loop, times: 2, body: [{id: e, type: bad}]}
"""


def a_failed_branch_is_taken_up_again() -> None:
    flow = _begun(HALTED)
    flow.call("a:all.one")
    _failed(flow, "b:all.one")
    _failed(flow, "e:all.one:d.0")
    flow.send(cmd.Retry())


def a_call_outlasts_the_longest_pause() -> None:
    flow = _begun("  - {id: a, type: f}\n")
    flow.send(cmd.Pause())
    flow.now += 8 * 86_400_000
    flow.send(cmd.Wake())


def going_back_from_within_a_loop() -> None:
    flow = rehearse("""
  - {id: a, type: compute, output: 1, next: d}
  - {id: d, type: loop, times: 2, body: [{id: e, type: form}]}
""").start()
    flow.send(cmd.Rewind(to="a"))


def an_answer_is_taken_back() -> None:
    flow = rehearse("  - {id: a, type: form, undo: 1m}").start().answer("a", {})
    flow.send(cmd.TakeBack(point=flow.point("a").id, by="ann"))


def a_breakpoint_holds_it(ends: str, *, with_child: bool) -> None:
    """It comes to a breakpoint once it is reopened; with a child, it waits for that to pause."""
    child = "\n  - {id: child, type: workflow, workflow: other}" if with_child else ""
    flow = rehearse(
        f"""
  - {{id: first, type: compute, output: 1, next: [{"child, " if with_child else ""}held, last]}}{child}
  - {{id: held, type: compute, output: 2}}
  - {{id: last, type: {"end" if ends == "completed" else "f"}}}
"""
    )
    flow.send(cmd.Create(id="execution"))
    if ends == "failed":
        flow.send(cmd.Fail(node="last", attempt=1, error=ev.Error(code="failed", message="no", retryable=False)))
    elif ends == "cancelled":
        flow.send(cmd.Cancel())
    assert flow.status == ends
    flow.state.breakpoints = {"held": "look"}
    flow.send(cmd.Rewind(to="first"))
    assert flow.status == ("pausing" if with_child else "paused")


def a_breakpoint_holds_what_starts_with_a_child() -> None:
    flow = rehearse(
        """
  - {id: first, type: compute, output: 1, next: [child, held]}
  - {id: child, type: workflow, workflow: other}
  - {id: held, type: compute, output: 2}
"""
    )
    flow.state.breakpoints = {"held": "look"}
    flow.send(cmd.Create(id="execution"))


def a_breakpoint_holds_what_was_running() -> None:
    flow = _begun("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.state.breakpoints = {"b": "look"}
    flow.run()


def a_retry_is_cancelled() -> None:
    flow = _begun("  - {id: a, type: f, retry: {max_attempts: 2, delay: 1h}}\n")
    flow.send(cmd.Fail(node="a", attempt=1, error=ev.Error(code="failed", message="no", retryable=True), jitter=0.5))
    flow.send(cmd.CancelRetry(node="a", by="op"))
    assert flow.status == "failed"


ENDINGS = ("completed", "failed", "cancelled")
RARE: tuple[Callable[[], None], ...] = (
    *(partial(a_breakpoint_holds_it, ends, with_child=has) for ends in ENDINGS for has in (True, False)),
    a_breakpoint_holds_what_starts_with_a_child,
    a_breakpoint_holds_what_was_running,
    a_retry_is_cancelled,
    an_answer_is_taken_back,
    going_back_from_within_a_loop,
    a_call_outlasts_the_longest_pause,
    a_scope_is_closed_while_a_call_in_it_waits_for_its_next_attempt,
    a_scope_is_closed_while_a_call_in_it_waits_for_an_operator,
    lambda: resuming_gives_up_the_calls_that_a_pause_had_waited_for("form"),
    lambda: resuming_gives_up_the_calls_that_a_pause_had_waited_for("delay, duration: 1h"),
    resuming_ends_the_execution_while_a_call_is_out,
    *(partial(going_back_ends_differently, first, then) for first in (FINE, BROKEN, ASKED) for then in FOUR),
    lambda: an_operator_holds_and_releases("f"),
    lambda: an_operator_holds_and_releases(WAITS),
    going_back_from_behind_the_gate,
    *(partial(going_back_from_a_failed_attempt, most, to) for most in ("1", "2") for to in ("a", "b")),
    *(partial(time_has_passed, then) for then in FOUR),
    *(partial(a_call_waits_for_a_place, then) for then in ("", "again", "released", "rewound")),
    a_call_that_waited_for_a_place_cannot_be_made,
    a_scope_is_closed_while_a_call_in_it_waits_for_a_place,
    lambda: an_operator_holds_what_waits_for_a_child(WAITS),
    lambda: an_operator_holds_what_waits_for_a_child(ASKED),
    *(partial(an_execution_waits_for_its_start, then) for then in ("f", WAITS)),
    a_limit_holds_what_is_cancelled,
    *(partial(an_execution_fails_before_it_starts, then, admitted=True) for then in ("f", WAITS, ASKED)),
    partial(an_execution_fails_before_it_starts, "f", admitted=False),
    *(partial(a_callback_waits_for_a_place, then) for then in ("", "replied", "given up", "late")),
    a_callback_cannot_be_called_again,
    a_callback_cannot_be_called,
    a_lost_call_had_no_effect,
    a_lost_call_is_undone,
    a_failed_undo_is_not_tried_again,
    a_failed_branch_is_taken_up_again,
)
