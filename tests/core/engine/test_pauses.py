"""Pause points, their answers and deadlines, and the operator's gate."""

from __future__ import annotations

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import Answer, Cancel, Create, Pause, Resume, StartLeg, StopDraining, Wake
from layover.core.engine.decide import decide
from layover.core.engine.timing import wake_at

from .flows import only, rehearse, types

DAY = 86_400_000


def test_a_delay_waits_its_time_and_no_person() -> None:
    flow = rehearse("  - {id: d, type: delay, duration: 1h, next: o}\n  - {id: o, type: compute, output: 1}\n").start()
    assert flow.status == "waiting"
    assert wake_at(flow.state) == flow.now + 3_600_000
    assert flow.skip(3_600_000).output == 1


def test_a_delay_of_nothing_opens_no_point() -> None:
    flow = rehearse("  - {id: d, type: delay, duration: 0s}\n").start()
    assert flow.status == "completed"
    assert only(flow, ev.PausePointOpened) == []


def test_a_delay_can_be_computed() -> None:
    flow = rehearse("  - {id: d, type: delay, duration: '${input.wait}'}\n").start({"wait": "90s"})
    assert wake_at(flow.state) == flow.now + 90_000


def test_a_delay_can_wait_until_a_moment() -> None:
    flow = rehearse("  - {id: d, type: delay, until: '${input}'}\n").start("1970-01-01T00:01:00Z")
    assert wake_at(flow.state) == 60_000


def test_a_delay_can_wait_until_the_next_time_of_a_cron_line() -> None:
    flow = rehearse("  - {id: d, type: delay, until: \"${next('0 8 * * MON', 'Europe/Berlin')}\"}\n").start()
    due = wake_at(flow.state)
    assert due == flow.now - (flow.now - 345_600_000) % (7 * DAY) + 7 * DAY + 7 * 3_600_000  # 345,600,000 was a Monday
    assert flow.skip(due - flow.now - 1).status == "waiting"
    assert flow.skip(1).status == "completed"


def test_a_form_waits_for_its_answer() -> None:
    flow = rehearse("  - {id: f, type: form, next: o}\n  - {id: o, type: compute, output: '${nodes.f.size}'}\n").start()
    assert flow.status == "paused"
    assert flow.answer("f", {"size": 4}).output == 4


APPROVAL = """
  - {id: a, type: approval, deadline: 2d, on_deadline: %s, next: {approved: yes, rejected: no, expired: late}}
  - {id: yes, type: compute, output: "yes ${nodes.a.by}"}
  - {id: no, type: compute, output: "no"}
  - {id: late, type: compute, output: late}
"""


def test_an_approval_goes_the_way_it_was_decided() -> None:
    assert rehearse(APPROVAL % "reject").start().answer("a", approved=True, by="bob").output == "yes bob"
    assert rehearse(APPROVAL % "reject").start().answer("a", approved=False).output == "no"


def test_an_approval_without_a_decision_stays_open() -> None:
    flow = rehearse(APPROVAL % "reject").start()
    assert flow.send(Answer(point=flow.point("a").id, data={})) == []
    assert flow.status == "paused"


@pytest.mark.parametrize(("outcome", "output"), [("reject", "no"), ("approve", "yes "), ("expired", "late")])
def test_a_deadline_acts_by_on_deadline(outcome: str, output: str) -> None:
    assert rehearse(APPROVAL % outcome).start().skip(2 * DAY).output == output


def test_a_deadline_that_fails_is_a_failure_like_any_other() -> None:
    flow = rehearse(
        "  - {id: f, type: form, deadline: 1d, on_deadline: fail, next: {error: e}}\n"
        "  - {id: e, type: compute, output: '${errors.f.code}'}\n"
    ).start()
    assert flow.skip(DAY).output == "deadline_passed"


def test_an_unwired_rejection_fails_the_execution() -> None:
    flow = rehearse("  - {id: a, type: approval}\n").start().answer("a", approved=False)
    assert flow.error == "rejected"


def test_a_person_is_not_waited_for_longer_than_max_pause() -> None:
    flow = rehearse("  - {id: f, type: form}\n", settings="{max_pause: 3d}").start().skip(3 * DAY)
    assert flow.error == "pause_expired"


def test_an_answer_comes_too_late_after_the_deadline() -> None:
    flow = rehearse(APPROVAL % "reject").start()
    point = flow.point("a").id
    flow.skip(2 * DAY)
    assert flow.send(Answer(point=point, approved=True)) == []


def test_a_second_answer_changes_nothing() -> None:
    flow = rehearse("  - {id: f, type: form, next: g}\n  - {id: g, type: call}\n").start()
    point = flow.point("f").id
    flow.send(Answer(point=point, data=1))
    assert flow.send(Answer(point=point, data=2)) == []
    assert flow.state.node("f").output == 1


TWO = """
  - {id: s, type: compute, output: 0, next: [x, y]}
  - {id: x, type: form, next: cx}
  - {id: y, type: form, next: cy}
  - {id: cx, type: f}
  - {id: cy, type: f}
"""


def test_sequential_answers_wait_until_the_work_of_the_last_one_has_drained() -> None:
    flow = rehearse(TWO, settings="{resume: sequential}").start()
    flow.send(Answer(point=flow.point("x").id, data=1))
    flow.send(Answer(point=flow.point("y").id, data=2))
    assert flow.state.node("cx").status == "running"
    assert flow.point("y").status == "answered"
    flow.call("cx")
    assert flow.state.node("cy").status == "running"


def test_concurrent_answers_are_applied_at_once() -> None:
    flow = rehearse(TWO, settings="{resume: concurrent}").start()
    flow.send(Answer(point=flow.point("x").id, data=1))
    flow.send(Answer(point=flow.point("y").id, data=2))
    assert (flow.state.node("cx").status, flow.state.node("cy").status) == ("running", "running")


CHAIN = "  - {id: a, type: f, next: b}\n  - {id: b, type: f, next: c}\n  - {id: c, type: f}\n"


def test_a_pause_lets_running_calls_finish_and_starts_nothing() -> None:
    flow = rehearse(CHAIN)
    flow.send(Create(id="execution"))
    flow.send(Pause(by="op", reason="stop"))
    assert flow.status == "pausing"
    flow.call("a")
    assert flow.status == "paused"
    assert flow.state.node("b").status == "ready"
    assert types(flow)[-2:] == ["NodeCompleted", "ExecutionPaused"]
    flow.send(Resume(by="op"))
    flow.run()
    assert flow.status == "completed"
    assert flow.state.facts.resume_count == 1


def test_a_second_pause_keeps_the_first_reason() -> None:
    flow = rehearse(CHAIN)
    flow.send(Create(id="execution"))
    flow.send(Pause(reason="first"))
    assert flow.send(Pause(reason="second")) == []
    assert flow.state.facts.paused_reason == "first"


def test_resume_data_is_merged_into_the_variables() -> None:
    flow = rehearse("  - {id: a, type: f, next: o}\n  - {id: o, type: compute, output: '${vars}'}\n")
    flow.send(Create(id="execution"))
    flow.send(Pause())
    flow.call("a")
    flow.send(Resume(data={"note": "go"}))
    assert flow.output == {"count": 0, "note": "go"}


def test_nothing_comes_due_behind_the_gate_but_acts_when_it_opens() -> None:
    flow = rehearse("  - {id: d, type: delay, duration: 1h}\n").start()
    flow.send(Pause())
    assert flow.status == "paused"
    flow.now += 3_700_000
    assert flow.send(Wake()) == []
    flow.send(Resume())
    flow.send(Wake())
    assert flow.status == "completed"


def test_an_answer_behind_the_gate_is_kept_and_applied_when_it_opens() -> None:
    flow = rehearse("  - {id: f, type: form}\n").start()
    flow.send(Pause())
    flow.send(Answer(point=flow.point("f").id, data=5))
    assert flow.point("f").status == "answered"
    flow.send(Resume())
    assert flow.output == 5


def test_a_loop_continues_after_a_pause_in_the_middle_of_a_round() -> None:
    flow = rehearse("  - {id: l, type: loop, times: 3, body: [{id: a, type: f, input: '${index}'}]}\n")
    flow.send(Create(id="execution"))
    flow.send(Pause())
    flow.call("a:l.0")
    assert flow.status == "paused"
    flow.send(Resume())
    assert flow.run().output == [0, 1, 2]


def test_a_parallel_continues_after_a_branch_failed_behind_the_gate() -> None:
    flow = rehearse(
        "  - {id: p, type: parallel, on_failure: continue, branches: [{id: x, body: [{id: a, type: f}]}]}\n",
        {"f": lambda _: 1 / 0},
    )
    flow.send(Create(id="execution"))
    flow.send(Pause())
    flow.call("a:p.x")
    assert flow.status == "paused"
    flow.send(Resume())
    assert flow.output == {"x": None}


def test_an_operators_pause_past_max_pause_fails_the_execution() -> None:
    flow = rehearse("  - {id: f, type: form}\n", settings="{max_pause: 1d}").start()
    flow.send(Pause())
    flow.skip(DAY)
    assert flow.error == "pause_expired"


def test_cancel_closes_at_once_and_cancels_the_points() -> None:
    flow = rehearse(TWO).start()
    flow.send(Cancel(reason="enough", by="op"))
    assert flow.status == "cancelled"
    assert len(only(flow, ev.PausePointCancelled)) == 2
    assert flow.send(Cancel()) == []
    assert wake_at(flow.state) is None


def test_deciding_leaves_the_state_as_it_was() -> None:
    flow = rehearse(TWO).start()
    command = Answer(point=flow.point("x").id, data=1)
    first = decide(flow.state, command, flow.now)
    assert first
    assert decide(flow.state, command, flow.now) == first
    assert flow.send(command) == first


def test_a_pause_with_slow_calls_lists_them_in_doubt_and_recovers_them_at_resume() -> None:
    flow = rehearse(CHAIN)
    flow.send(Create(id="execution"))
    flow.send(Pause())
    assert flow.send(StopDraining()) == [ev.ExecutionPaused(fates={"a": "in_doubt"})]
    assert flow.status == "paused"
    flow.send(Resume())
    assert flow.state.node("a").attempt == 2
    assert flow.run().status == "completed"


def test_a_leg_is_recorded() -> None:
    flow = rehearse(CHAIN)
    flow.send(Create(id="execution"))
    assert flow.send(StartLeg(cause="claimed", instance="one")) == [ev.LegStarted(cause="claimed", instance="one")]
    assert flow.state.facts.legs == 1
