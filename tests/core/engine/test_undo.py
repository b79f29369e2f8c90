"""Taking answers back: windows, quorums, and every order of take-back, final, deadline, cancel, rewind and pause."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.answers import refusal
from layover.core.engine.codec import decode_state, encode_state
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.engine.take_backs import take_back_refusal
from layover.core.engine.timing import wake_at
from layover.testing import Rehearsal

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.plan import Plan

ONE = """
  - {id: a, type: approval, undo: 30s, deadline: 1m, on_deadline: expired,
     next: {approved: yes, rejected: no, expired: late}}
  - {id: yes, type: compute, output: approved}
  - {id: no, type: compute, output: rejected}
  - {id: late, type: compute, output: expired}
"""
FORM = "  - {id: a, type: form, undo: 30s, next: o}\n  - {id: o, type: compute, output: '${nodes.a}'}"
PLAIN = "  - {id: a, type: approval, next: o}\n  - {id: o, type: compute, output: 1}"
WINDOW = 30_000


def back(flow: Rehearsal, by: str = "ann", at: int | None = None, node: str = "a") -> list[ev.AnyEvent]:
    return flow.send(cmd.TakeBack(point=flow.point(node).id, by=by, at=at))


def quorum(**fields: object) -> Rehearsal:
    rules = "".join(f", {name}: {value}" for name, value in fields.items())
    return rehearse(f"""
  - {{id: a, type: approval, undo: 30s, approvers: {{users: [ann, bob, cy]}}{rules},
     next: {{approved: y, rejected: n}}}}
  - {{id: y, type: compute, output: "${{nodes.a.decisions.map(d, d.by)}}"}}
  - {{id: n, type: compute, output: refused}}
""").start()


def test_without_undo_nothing_is_added() -> None:
    flow = rehearse(PLAIN).start().answer("a", approved=True)
    assert flow.output == 1
    assert not only(flow, ev.PausePointFinal)
    assert b"final" not in encode_state(flow.state)
    assert [one.final_at for one in only(flow, ev.PausePointAnswered)] == [None]  # type: ignore[union-attr]  # as asked


def test_an_answer_is_recorded_at_once_and_applied_when_its_window_ends() -> None:
    flow = rehearse(ONE).start().answer("a", approved=True)
    assert flow.point("a").status == "answered"
    assert flow.point("a").final_at == wake_at(flow.state) == flow.now + WINDOW
    flow.skip(WINDOW - 1)
    assert flow.status == "waiting"
    flow.skip(1)
    assert flow.output == "approved"
    assert types(flow)[-6:-2] == ["PausePointFinal", "PausePointFinal", "PausePointApplied", "NodeCompleted"]


@pytest.mark.parametrize("nodes", [ONE, FORM])
def test_an_answer_that_is_taken_back_was_never_given(nodes: str) -> None:
    flow = rehearse(nodes).start()
    before = encode_state(flow.state)
    given: dict[str, object] = {"approved": True} if nodes is ONE else {"data": {"n": 1}}
    flow.answer("a", **given).skip(WINDOW - 1)  # type: ignore[arg-type]  # as either kind has it
    (taken,) = back(flow)
    assert isinstance(taken, ev.PausePointTakenBack)
    assert flow.point("a").status == "open"
    assert flow.status == "paused"
    assert flow.point("a").taken_back == ("ann",)  # all that is left of it
    flow.state.points.put(flow.point("a").id, replace(flow.point("a"), taken_back=()))
    assert _without_seq(before) == _without_seq(encode_state(flow.state))
    flow.answer("a", **({"approved": False} if nodes is ONE else {"data": {"n": 2}}))
    flow.skip(WINDOW)
    assert flow.output == ("rejected" if nodes is ONE else {"n": 2})


def test_only_the_decider_takes_back_and_only_in_time() -> None:
    flow = rehearse(ONE).start().answer("a", approved=True)
    point = flow.point("a")
    final = flow.now + WINDOW
    codes = [
        found.code if (found := take_back_refusal(point, by, at)) is not None else ""
        for by, at in (("bob", flow.now), ("ann", final), ("ann", final - 1))
    ]
    assert codes == ["not_allowed", "already_applied", ""]
    assert back(flow, "bob") == []
    assert back(flow, at=final) == []
    flow.skip(WINDOW)
    assert flow.output == "approved"


def test_variables_that_an_answer_brought_go_with_it() -> None:
    flow = quorum(need=2)
    point = flow.point("a").id
    for by, count in (("ann", 1), ("bob", 2)):
        flow.send(cmd.Answer(point=point, by=by, approved=True, variables={"count": count, by: True}))
    assert flow.point("a").variables == {"count": 2, "ann": True, "bob": True}
    back(flow, "bob")
    assert flow.point("a").variables == {"count": 1, "ann": True}
    back(flow, "ann")
    assert flow.point("a").variables == {}


def test_a_default_of_the_settings_counts_where_a_node_says_nothing() -> None:
    nodes = "  - {id: a, type: approval, next: b}\n  - {id: b, type: form, undo: 0s}"
    flow = rehearse(nodes, settings="{undo: 10s}").start()
    assert flow.point("a").undo == 10_000
    flow.answer("a", approved=True).skip(10_000)
    assert flow.point("b").undo is None
    assert flow.answer("b", {}).status == "completed"


# Quorums


def test_in_a_quorum_each_decider_has_a_window_of_their_own() -> None:
    flow = quorum(need=2).answer("a", approved=True, by="ann")
    flow.skip(20_000)
    flow.answer("a", approved=True, by="bob")
    assert flow.point("a").final_at == flow.now + WINDOW
    flow.skip(10_000)  # the window of ann ends, and that of bob is open
    assert [one.final for one in flow.point("a").decisions] == [True, False]
    assert back(flow, "ann") == []
    back(flow, "bob")
    assert flow.point("a").status == "open"
    flow.answer("a", approved=True, by="cy").skip(WINDOW)
    assert flow.output == ["ann", "cy"]


def test_taking_back_one_of_two_decisions_reopens_and_the_other_stands() -> None:
    flow = quorum(need=2).answer("a", approved=True, by="ann").answer("a", approved=True, by="bob")
    assert flow.point("a").status == "answered"
    back(flow, "ann")
    assert (flow.point("a").status, [one.by for one in flow.point("a").decisions]) == ("open", ["bob"])
    flow.answer("a", approved=False, by="ann").skip(WINDOW)
    assert flow.output == "refused"


def test_where_the_others_suffice_the_answer_stays() -> None:
    flow = quorum(need=1, reject_need=2).answer("a", approved=False, by="ann").answer("a", approved=True, by="bob")
    final = flow.now + WINDOW
    back(flow, "ann")
    assert (flow.point("a").status, flow.point("a").final_at) == ("answered", final)
    flow.skip(WINDOW)
    assert flow.output == ["bob"]


def test_a_rejection_that_ends_all_is_taken_back_and_the_sequence_goes_on() -> None:
    flow = quorum(need=3, order="sequence").answer("a", approved=True, by="ann").answer("a", approved=False, by="bob")
    back(flow, "bob")
    turn = cmd.Answer(point=flow.point("a").id, by="cy", approved=True)
    found = refusal(flow.state, turn)
    assert found is not None
    assert found.code == "not_your_turn"
    flow.answer("a", approved=True, by="bob").answer("a", approved=True, by="cy").skip(WINDOW)
    assert flow.output == ["ann", "bob", "cy"]


def test_an_earlier_approver_in_a_sequence_who_takes_back_has_their_turn_again() -> None:
    flow = quorum(need=3, order="sequence").answer("a", approved=True, by="ann").answer("a", approved=True, by="bob")
    back(flow, "ann")
    assert flow.point("a").status == "open"
    flow.answer("a", approved=True, by="ann").answer("a", approved=True, by="cy").skip(WINDOW)
    assert flow.output == ["bob", "ann", "cy"]


def test_later_nodes_do_not_see_whether_a_decision_could_be_taken_back() -> None:
    flow = rehearse("""
  - {id: a, type: approval, undo: 30s, next: o}
  - {id: o, type: compute, output: "${nodes.a.decisions}"}
""").start()
    at = flow.now
    flow.answer("a", approved=True).skip(WINDOW)
    assert flow.output == [{"by": "ann", "approved": True, "at": at}]


# Queue, gate, deadline


def test_an_answer_joins_the_sequential_queue_when_it_is_final() -> None:
    flow = rehearse("""
  - {id: p, type: parallel, branches: [
      {id: one, body: {nodes: [{id: a, type: approval, undo: 30s, next: x}, {id: x, type: compute, output: 1}]}},
      {id: two, body: {nodes: [{id: b, type: approval, next: y}, {id: y, type: compute, output: 2}]}}]}
""").start()
    first, second = sorted(flow.state.points.rows.values(), key=lambda one: one.node)
    flow.send(cmd.Answer(point=first.id, by="ann", approved=True))
    flow.send(cmd.Answer(point=second.id, by="ann", approved=True))
    assert [one.node for one in flow.state.points.rows.values()] == [first.node]
    flow.skip(WINDOW)
    applied = [event.point for event in only(flow, ev.PausePointApplied) if isinstance(event, ev.PausePointApplied)]
    assert (flow.status, applied) == ("completed", [second.id, first.id])


def test_a_deadline_does_not_act_inside_the_window_and_at_once_after_a_late_take_back() -> None:
    flow = rehearse(ONE).start().skip(59_000)
    flow.answer("a", approved=True).skip(2_000)
    assert flow.point("a").status == "answered"
    back(flow)
    assert wake_at(flow.state) == flow.now - 1_000
    flow.send(cmd.Wake())
    assert flow.run().output == "expired"


def test_reminders_wait_for_the_window_and_escalations_too() -> None:
    flow = rehearse("""
  - {id: a, type: approval, undo: 30s, remind: [10s], escalate: {after: 20s, to: {users: [cy]}},
     approvers: {users: [ann]}}
""").start()
    flow.answer("a", approved=True).skip(25_000)
    assert not only(flow, ev.PausePointReminded)
    back(flow)
    flow.skip(0)
    assert (len(only(flow, ev.PausePointReminded)), len(only(flow, ev.PausePointEscalated))) == (1, 1)


def test_a_pause_of_an_operator_does_not_lengthen_the_window() -> None:
    flow = rehearse(ONE).start().answer("a", approved=True)
    flow.send(cmd.Pause())
    flow.now += WINDOW
    assert back(flow) == []
    assert flow.output is None
    flow.send(cmd.Resume())
    flow.skip(0)
    assert flow.output == "approved"


def test_an_answer_can_be_taken_back_while_an_operator_holds_the_execution() -> None:
    flow = rehearse(ONE).start().answer("a", approved=True)
    flow.send(cmd.Pause())
    flow.now += WINDOW - 1
    assert [type(event) for event in back(flow)] == [ev.PausePointTakenBack]
    flow.send(cmd.Resume())
    assert flow.point("a").status == "open"


def test_what_a_deadline_decides_has_no_window() -> None:
    nodes = "  - {id: a, type: approval, undo: 30s, deadline: 1m, on_deadline: approve}"
    flow = rehearse(nodes).start().skip(60_000)
    assert flow.status == "completed"
    none = rehearse("""
  - {id: a, type: approval, undo: 30s, approvers: {users: [ann]}, exclude_requester: true, next: {rejected: n}}
  - {id: n, type: compute, output: nobody}
""").start(user="ann")
    assert none.output == "nobody"


# Every order


def _final(flow: Rehearsal) -> None:
    flow.now = max(flow.now, 1_000 + WINDOW)
    flow.send(cmd.Wake())


def _deadline(flow: Rehearsal) -> None:
    flow.now = max(flow.now, 1_000 + 60_000)
    flow.send(cmd.Wake())


STEPS: dict[str, Callable[[Rehearsal], object]] = {
    "take back": lambda flow: flow.send(cmd.TakeBack(point=_only_point(flow), by="ann")),
    "take back in time": lambda flow: flow.send(cmd.TakeBack(point=_only_point(flow), by="ann", at=1_001)),
    "final": _final,
    "deadline": _deadline,
    "cancel": lambda flow: flow.send(cmd.Cancel()),
    "cancel the point": lambda flow: flow.send(cmd.CancelPoint(point=_only_point(flow))),
    "rewind": lambda flow: flow.send(cmd.Rewind(to="a")),
    "pause": lambda flow: flow.send(cmd.Pause()),
    "resume": lambda flow: flow.send(cmd.Resume()),
    "answer": lambda flow: flow.send(cmd.Answer(point=_only_point(flow), by="ann", approved=False)),
    "lost instance": lambda flow: flow.send(cmd.Recover()),
}


def _only_point(flow: Rehearsal) -> str:
    return next(iter(flow.state.points.rows), "nowhere")


@pytest.mark.parametrize("first", STEPS)
def test_every_order_of_what_may_happen_in_a_window_keeps_the_laws(first: str) -> None:
    plan = rehearse(ONE).plan
    for rest in permutations([step for step in STEPS if step != first], 3):
        _play((first, *rest), plan)


def _play(order: tuple[str, ...], plan: Plan) -> None:
    flow = Rehearsal(plan).start().answer("a", approved=True)
    for step in order:
        point, before = flow.state.points.get(_only_point(flow)), len(flow.log)
        STEPS[step](flow)
        flow.run()
        for _, event in flow.log[before:]:
            if isinstance(event, ev.PausePointTakenBack):
                assert point is not None, order
                assert (point.status, point.final) == ("answered", False), order
        _check_laws(flow)
    assert encode_state(fold(ExecutionState(plan), flow.log)) == encode_state(flow.state), order
    assert encode_state(decode_state(encode_state(flow.state), plan)) == encode_state(flow.state), order


def _check_laws(flow: Rehearsal) -> None:
    """An answer is applied only if it is final and was not taken back; the queue holds exactly what is final."""
    pending: dict[str, str] = {}
    for _, event in flow.log:
        match event:
            case ev.PausePointAnswered():
                assert event.point not in pending
                pending[event.point] = "revocable" if event.final_at is not None else "final"
            case ev.PausePointTakenBack():
                assert pending.pop(event.point) == "revocable"
            case ev.PausePointFinal() if event.by is None:
                assert pending[event.point] == "revocable"
                pending[event.point] = "final"
            case ev.PausePointApplied():
                assert pending.pop(event.point) == "final"
            case ev.PausePointExpired():
                assert event.point not in pending
            case ev.PausePointCancelled():
                pending.pop(event.point, None)
            case _:
                pass
    state = flow.state
    queued = {id_ for id_, how in pending.items() if how == "final"}
    assert set(state.answered.rows.values()) == queued
    waits = [point for point in state.points.rows.values() if point.status == "open"]
    assert state.counts["people"] == len(waits)
    for point in state.points.rows.values():
        assert (point.id in state.timers) == (point.status == "open" or point.is_revocable)


def _without_seq(encoded: bytes) -> bytes:
    return b",".join(part for part in encoded.split(b",") if b'"seq"' not in part)
