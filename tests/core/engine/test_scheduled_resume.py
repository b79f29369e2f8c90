"""A pause of an operator that ends by itself."""

from __future__ import annotations

from layover.core.engine import events as ev
from layover.core.engine.commands import Cancel, Pause, Resume, ScheduleResume, Wake
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from layover.testing.rehearsal import Rehearsal

HOUR = 3_600_000


def waiting(max_pause: str = "none") -> Rehearsal:
    form = {"id": "f", "type": "form"}
    return Rehearsal(load({"name": "w", "nodes": [form], "settings": {"max_pause": max_pause}})).start()


def test_a_pause_with_an_end_resumes_by_itself() -> None:
    flow = waiting()
    flow.send(Pause(reason="night", by="ana", resume_at=flow.now + HOUR))
    assert (flow.state.facts.gate, wake_at(flow.state)) == ("paused", flow.now + HOUR)
    flow.now += HOUR - 1
    assert flow.send(Wake()) == []
    flow.now += 1
    flow.send(Wake())
    (resumed,) = [event for _, event in flow.log if isinstance(event, ev.ExecutionResumed)]
    assert (resumed.by, resumed.scheduled, flow.state.facts.gate) == ("ana", True, "open")
    assert flow.state.facts.resume_at is None
    assert flow.send(Wake()) == []


def test_the_end_of_a_pause_can_be_set_changed_and_cleared() -> None:
    flow = waiting()
    assert flow.send(ScheduleResume(at=flow.now + HOUR)) == []  # it is not paused
    flow.send(Pause(by="ana"))
    assert wake_at(flow.state) is None
    at = flow.now + HOUR
    assert flow.send(ScheduleResume(at=at, by="ben")) == [ev.ExecutionResumeScheduled(at=at, by="ben")]
    assert flow.send(ScheduleResume(at=at, by="ben")) == []
    assert flow.send(Pause(resume_at=at + 1, by="cleo")) == [ev.ExecutionResumeScheduled(at=at + 1, by="cleo")]
    assert wake_at(flow.state) == at + 1
    flow.send(ScheduleResume())
    assert wake_at(flow.state) is None


def test_a_resume_by_hand_clears_the_end_that_was_set() -> None:
    flow = waiting()
    flow.send(Pause(resume_at=flow.now + HOUR))
    flow.send(Resume(by="ben"))
    flow.send(Pause(by="ben"))
    assert wake_at(flow.state) is None
    flow.now += 2 * HOUR
    assert flow.send(Wake()) == []


def test_whichever_comes_first_of_the_set_end_and_the_longest_pause_counts() -> None:
    early, late = waiting("2h"), waiting("2h")
    early.send(Pause(resume_at=early.now + HOUR))
    late.send(Pause(resume_at=late.now + 3 * HOUR))
    for flow in (early, late):
        flow.now += 4 * HOUR
        flow.send(Wake())
    assert early.state.facts.gate == "open"
    assert late.state.facts.error is not None
    assert (late.status, late.state.facts.error.code) == ("failed", "pause_expired")


def test_an_execution_that_ends_does_not_resume() -> None:
    flow = waiting()
    flow.send(Pause(resume_at=flow.now + HOUR))
    flow.send(Cancel())
    assert wake_at(flow.state) is None
    assert flow.state.facts.resume_at is None
