"""When an execution starts: at once, at a moment, when a limit admits it, or when its gate opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import Admit, Answer, Cancel, Create, Deliver, Pause, Resume, Retry, StartLeg, Wake
from layover.core.engine.timing import wake_at

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from layover.testing import Rehearsal

ONE = "  - {id: a, type: f}\n"
STARTED = ["ExecutionStarted", "NodeScheduled", "NodeStarted"]


def created(*, start_at: int | None = None, hold: bool = False, paused: str = "", settings: str = "{}") -> Rehearsal:
    flow = rehearse(ONE, settings=settings)
    flow.send(Create(id="execution", start_at=start_at, hold=hold, paused=paused, paused_by="op", instance="i"))
    return flow


def names(events: list[ev.AnyEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_an_execution_without_a_start_time_or_limit_starts_at_once() -> None:
    assert types(created()) == ["ExecutionCreated", "LegStarted", *STARTED]


def test_an_execution_starts_at_its_start_time() -> None:
    flow = created(start_at=5_000)
    assert types(flow) == ["ExecutionCreated"]
    assert (flow.status, flow.state.resting, wake_at(flow.state)) == ("pending", True, 5_000)
    flow.now = 4_999
    assert flow.send(Wake()) == []
    flow.now = 5_000
    assert names(flow.send(Wake())) == STARTED
    assert flow.state.facts.started_at == 5_000


def test_a_start_time_in_the_past_starts_at_once() -> None:
    assert types(created(start_at=1_000)) == ["ExecutionCreated", "LegStarted", *STARTED]


def test_a_leg_begins_with_a_delayed_start() -> None:
    flow = created(start_at=5_000)
    flow.now = 5_000
    assert names(flow.send(StartLeg(cause="woken", instance="i"))) == ["LegStarted"]
    assert names(flow.send(Wake())) == STARTED


@pytest.mark.parametrize("start_at", [None, 5_000])
def test_a_held_execution_starts_when_it_is_admitted(start_at: int | None) -> None:
    flow = created(start_at=start_at, hold=True)
    assert (flow.status, flow.state.resting, wake_at(flow.state)) == ("pending", True, None)
    flow.now = 3_000
    assert flow.send(Wake()) == []
    assert names(flow.send(Admit())) == ["ExecutionAdmitted", *STARTED]
    assert flow.send(Admit()) == []


def test_a_held_execution_stays_held_after_its_start_time() -> None:
    flow = created(start_at=5_000, hold=True)
    flow.now = 6_000
    assert flow.send(Wake()) == []
    assert flow.status == "pending"


def test_an_admit_without_a_hold_changes_nothing() -> None:
    assert created(start_at=5_000).send(Admit()) == []
    assert created().send(Admit()) == []


def test_behind_a_closed_gate_an_execution_is_admitted_and_does_not_start() -> None:
    flow = created(hold=True)
    assert names(flow.send(Pause(by="op"))) == ["ExecutionPausing", "ExecutionPaused"]
    assert names(flow.send(Admit())) == ["ExecutionAdmitted"]
    assert flow.status == "paused"
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed", *STARTED]


def test_a_held_execution_stays_held_when_the_gate_opens() -> None:
    flow = created(hold=True)
    flow.send(Pause(by="op"))
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed"]
    assert flow.status == "pending"


def test_behind_a_closed_gate_the_start_time_passes() -> None:
    flow = created(start_at=5_000)
    flow.send(Pause(by="op"))
    flow.now = 6_000
    assert flow.send(Wake()) == []
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed", *STARTED]


def test_data_of_a_resume_is_there_when_it_starts() -> None:
    flow = rehearse("  - {id: a, type: compute, output: '${vars}'}\n")
    flow.send(Create(id="execution", hold=True))
    brought: list[dict[str, object]] = [{"count": 3}, {"more": 1}]
    for data in brought:
        flow.send(Pause(by="op"))
        flow.send(Resume(by="op", data=data))
    flow.send(Admit())
    assert flow.output == {"count": 3, "more": 1}
    assert flow.state.facts.early == {}


def test_an_execution_can_be_cancelled_before_it_starts() -> None:
    flow = created(hold=True)
    assert names(flow.send(Cancel())) == ["ExecutionCancelled"]
    assert flow.send(Admit()) == []


def test_answers_and_signals_before_the_start_change_nothing() -> None:
    flow = created(hold=True)
    assert flow.send(Answer(point="p", data=1)) == []
    assert flow.send(Deliver(point="p", id="1", name="s")) == []


def test_time_before_the_start_is_not_time_at_work() -> None:
    flow = created(start_at=100_000, settings="{timeout: 10s}")
    flow.now = 100_000
    flow.send(Wake())
    assert wake_at(flow.state) == 110_000


def test_an_execution_that_failed_before_its_start_is_held_again() -> None:
    flow = created(hold=True, settings="{max_pause: 1s}")
    flow.send(Pause(by="op"))
    flow.skip(1_000)
    assert flow.error == "pause_expired"
    assert names(flow.send(Retry())) == ["ExecutionReopened"]
    assert names(flow.send(Admit())) == ["ExecutionAdmitted", *STARTED]


PAUSED = ["ExecutionCreated", "ExecutionPausing", "ExecutionPaused"]


def test_an_execution_paused_at_creation_starts_when_its_gate_opens() -> None:
    flow = created(paused="not today")
    assert types(flow) == PAUSED
    assert (flow.status, flow.state.resting, flow.state.facts.paused_reason) == ("paused", True, "not today")
    assert only(flow, ev.ExecutionPausing) == [ev.ExecutionPausing(reason="not today", by="op")]
    assert flow.send(Wake()) == []
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed", *STARTED]


def test_an_execution_paused_at_creation_still_waits_for_its_start_time() -> None:
    flow = created(start_at=5_000, paused="not today")
    assert types(flow) == PAUSED
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed"]
    assert (flow.status, wake_at(flow.state)) == ("pending", 5_000)
    flow.now = 5_000
    assert names(flow.send(Wake())) == STARTED


def test_an_execution_paused_at_creation_starts_at_once_after_its_start_time() -> None:
    flow = created(start_at=5_000, paused="not today")
    flow.now = 6_000
    assert flow.send(Wake()) == []
    assert names(flow.send(Resume(by="op"))) == ["ExecutionResumed", *STARTED]


@pytest.mark.parametrize("first", [Admit(), Resume(by="op")])
def test_an_execution_paused_at_creation_is_still_held_by_its_limit(first: Admit | Resume) -> None:
    flow = created(hold=True, paused="not today")
    second = Resume(by="op") if isinstance(first, Admit) else Admit()
    assert not {*names(flow.send(first))} & {*STARTED}
    assert names(flow.send(second))[-3:] == STARTED


def test_an_execution_paused_at_creation_fails_after_max_pause() -> None:
    flow = created(paused="not today", settings="{max_pause: 1s}")
    flow.skip(1_000)
    assert flow.error == "pause_expired"
