"""Lost calls, when it is not known whether they had their effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.answers import refusal, schema_of
from layover.core.engine.commands import (
    Answer,
    Cancel,
    CancelPoint,
    Complete,
    Create,
    Fail,
    Pause,
    Probed,
    Recover,
    Resume,
    Retry,
    Rewind,
    StopDraining,
    Wake,
)
from layover.core.engine.effects import MakeCall, effects
from layover.core.engine.free_slots import FreeSlots

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand
    from layover.testing import Rehearsal

ERROR = ev.Error(code="failed", type="OSError", message="no answer")
NODES = "  - {id: s, type: compute, output: 0, next: charge}\n  - {id: charge, type: f, on_crash: %s}\n"


def lost(on_crash: str, settings: str = "{}") -> Rehearsal:
    """Return an execution whose call was lost with its instance."""
    flow = rehearse(NODES % on_crash, settings=settings)
    flow.send(Create(id="execution"))
    flow.send(Recover())
    return flow


def probes(flow: Rehearsal, command: AnyCommand) -> list[tuple[int, bool]]:
    """Return the calls that a command leads to: their attempts, and whether they are probes."""
    return [
        (one.attempt, one.purpose == "probe")
        for one in effects(flow.state, flow.send(command))
        if isinstance(one, MakeCall)
    ]


def probed(happened: bool | None, attempt: int = 2, problem: str = "") -> Probed:
    return Probed(node="charge", attempt=attempt, happened=happened, output="paid", problem=problem)


# An operator is asked


def test_a_lost_call_opens_a_question_for_an_operator() -> None:
    flow = lost("pause")
    assert types(flow)[-2:] == ["NodeInDoubt", "PausePointOpened"]
    point = flow.point("charge")
    assert (point.kind, point.doubt, point.deadline) == ("form", True, None)
    assert point.details == {"title": "Did `charge` happen?", "otherwise": ["repeat", "fail"]}
    assert flow.status == "paused"


def test_an_answer_that_it_happened_completes_the_node() -> None:
    flow = lost("pause").answer("charge", {"happened": True, "output": "paid"})
    assert flow.output == "paid"
    assert len(only(flow, ev.NodeStarted)) == 1


def test_an_answer_that_it_did_not_happen_repeats_the_call() -> None:
    flow = lost("pause")
    assert probes(flow, Answer(point=flow.point("charge").id, data={"happened": False})) == [(2, False)]
    scheduled = only(flow, ev.NodeScheduled)[-1]
    assert isinstance(scheduled, ev.NodeScheduled)
    assert (scheduled.cause, flow.state.node("charge").doubt) == ("recovered", False)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"happened": "yes"},
        {"output": 1},
        {"happened": True, "more": 1},
        {"happened": False, "otherwise": "undo"},
    ],
)
def test_an_answer_has_to_say_whether_it_happened(data: object) -> None:
    flow = lost("pause")
    answer = Answer(point=flow.point("charge").id, data=data)
    refused = refusal(flow.state, answer)
    assert refused is not None
    assert refused.code == "invalid_answer"
    assert flow.send(answer) == []


def test_a_doubt_has_a_schema_for_its_answer() -> None:
    flow = lost("pause")
    schema = schema_of(flow.state, flow.point("charge"))
    assert isinstance(schema, dict)
    assert schema["required"] == ["happened"]


def test_only_calls_that_had_started_are_in_doubt() -> None:
    flow = rehearse(NODES % "pause")
    flow.slots = FreeSlots(0)
    flow.send(Create(id="execution"))
    assert flow.send(Recover()) == []


def test_a_node_that_keeps_losing_instances_fails_in_the_end() -> None:
    flow = lost("pause", "{max_recoveries: 1}")
    flow.send(Answer(point=flow.point("charge").id, data={"happened": False}))
    flow.send(Recover())
    assert flow.error == "max_recoveries"


def test_a_call_in_doubt_at_a_pause_is_asked_about_when_the_gate_opens() -> None:
    flow = rehearse(NODES % "pause")
    flow.send(Create(id="execution"))
    flow.send(Pause())
    flow.send(StopDraining())
    flow.send(Resume())
    assert flow.point("charge").doubt


def test_a_question_that_was_given_up_is_asked_again() -> None:
    flow = lost("pause")
    flow.send(CancelPoint(point=flow.point("charge").id))
    assert flow.error == "pause_cancelled"
    assert probes(flow, Retry()) == []
    assert flow.point("charge").doubt


def test_going_back_leaves_no_doubt() -> None:
    flow = lost("pause")
    assert probes(flow, Rewind(to="charge")) == [(2, False)]
    assert not flow.state.node("charge").doubt


def test_a_settled_doubt_is_not_asked_again_when_later_work_fails() -> None:
    flow = rehearse(
        "  - {id: a, type: f, on_crash: pause, next: b}\n  - {id: b, type: f}\n", settings="{on_resume_failure: reopen}"
    )
    flow.send(Create(id="execution"))
    flow.send(Recover())
    flow.answer("a", {"happened": False})
    assert flow.status == "completed"
    assert flow.state.facts.answered == ""


# Its effect is probed


def test_a_lost_call_is_probed() -> None:
    flow = rehearse(NODES % "probe")
    flow.send(Create(id="execution"))
    assert probes(flow, Recover()) == [(2, True)]
    assert types(flow)[-3:] == ["NodeInDoubt", "NodeScheduled", "NodeStarted"]


def test_a_probe_that_finds_the_effect_completes_the_node() -> None:
    flow = lost("probe")
    flow.send(probed(True))
    assert flow.output == "paid"


def test_a_probe_that_finds_no_effect_repeats_the_call() -> None:
    flow = lost("probe")
    assert probes(flow, probed(False)) == [(3, False)]
    node = flow.state.node("charge")
    assert (node.doubt, node.recoveries) == (False, 1)
    scheduled = only(flow, ev.NodeScheduled)[-1]
    assert isinstance(scheduled, ev.NodeScheduled)
    assert scheduled.cause == "recovered"


def test_a_probe_that_cannot_tell_opens_a_question() -> None:
    flow = lost("probe")
    flow.send(probed(None, problem="the bank is closed"))
    point = flow.point("charge")
    assert (point.doubt, point.details["problem"]) == (True, "the bank is closed")
    assert flow.answer("charge", {"happened": True, "output": 1}).output == 1


def test_a_probe_that_fails_cannot_tell() -> None:
    flow = lost("probe")
    flow.send(Fail(node="charge", attempt=2, error=ERROR))
    assert flow.point("charge").details["problem"] == "no answer"


def test_a_probe_that_takes_too_long_cannot_tell() -> None:
    flow = lost("probe, timeout: 5s")
    flow.now += 5_000
    flow.send(Wake())
    assert flow.point("charge").doubt


def test_a_probe_that_returns_like_a_call_is_done() -> None:
    flow = lost("probe")
    flow.send(Complete(node="charge", attempt=2, output=1))
    assert flow.output == 1


def test_a_lost_probe_is_made_again() -> None:
    flow = lost("probe")
    assert probes(flow, Recover()) == [(3, True)]
    assert len(only(flow, ev.NodeInDoubt)) == 1


def test_a_late_probe_changes_nothing() -> None:
    flow = lost("probe")
    assert flow.send(probed(True, attempt=1)) == []


def test_a_call_is_not_probed_that_is_not_in_doubt() -> None:
    flow = rehearse(NODES % "probe")
    flow.send(Create(id="execution"))
    assert flow.send(probed(True, attempt=1)) == []


def test_a_call_that_did_not_happen_is_repeated_when_the_gate_opens() -> None:
    flow = lost("probe")
    flow.send(Pause())
    assert probes(flow, probed(False)) == []
    assert flow.status == "paused"
    assert probes(flow, Resume()) == [(3, False)]


def test_a_question_about_a_lost_call_opens_behind_a_closed_gate() -> None:
    flow = lost("probe")
    flow.send(Pause())
    flow.send(probed(None))
    assert (flow.status, flow.waiting) == ("paused", ["charge"])


def test_a_retry_after_the_last_recovery_is_still_probed() -> None:
    flow = rehearse(NODES % "probe", settings="{max_recoveries: 0}")
    flow.send(Create(id="execution"))
    flow.send(Recover())
    assert flow.error == "max_recoveries"
    assert probes(flow, Retry()) == [(2, True)]


def test_a_node_with_on_crash_rerun_is_never_in_doubt() -> None:
    flow = lost("rerun")
    assert only(flow, ev.NodeInDoubt) == []
    assert flow.send(Cancel())


def test_a_rehearsal_can_probe_a_lost_call() -> None:
    flow = rehearse(NODES % "probe", {"f": lambda _: "paid"})
    flow.send(Create(id="execution"))
    flow.send(Recover())
    flow.probes["f"] = lambda _: False
    assert flow.run().output == "paid"
