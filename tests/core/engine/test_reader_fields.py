"""Fields of the state that exist only for readers: resumes, completed nodes, and the position of a point."""

from __future__ import annotations

import pytest

from layover.core.engine.commands import Answer, Pause, Resume, Wake
from layover.core.engine.state import InBranch, InRound

from .flows import rehearse, types

NESTED = """
  - id: checks
    type: parallel
    branches:
      - id: first
        body:
          - {id: a, type: form}
      - id: second
        body:
          - id: rounds
            type: loop
            times: 3
            body:
              - {id: b, type: form, next: each}
              - id: each
                type: parallel
                for_each: "[7, 8]"
                body:
                  - {id: c, type: form}
"""


def test_a_resume_leaves_its_moment_and_its_data() -> None:
    flow = rehearse("  - {id: f, type: form}\n").start()
    assert (flow.state.facts.resumed_at, flow.state.facts.resume_data) == (0, None)
    flow.send(Pause())
    flow.now += 5
    flow.send(Resume(data={"count": 3}))
    assert (flow.state.facts.resumed_at, flow.state.facts.resume_data) == (flow.now, {"count": 3})
    flow.send(Pause())
    flow.now += 5
    flow.send(Resume())
    assert (flow.state.facts.resumed_at, flow.state.facts.resume_data) == (flow.now, None)


def test_an_applied_answer_is_a_resume_without_data() -> None:
    flow = rehearse("  - {id: f, type: form, next: g}\n  - {id: g, type: form}\n").start()
    flow.send(Pause())
    flow.send(Resume(data={"count": 3}))
    flow.now += 5
    flow.answer("f", {})
    facts = flow.state.facts
    assert (facts.resume_count, facts.resumed_at, facts.resume_data) == (2, flow.now, {"count": 3})


def test_the_passing_of_time_is_not_a_resume() -> None:
    flow = rehearse("  - {id: d, type: delay, duration: 1h}\n").start().skip(3_600_000)
    assert (flow.state.facts.resume_count, flow.state.facts.resumed_at) == (0, 0)


def test_completed_nodes_are_counted_in_every_scope() -> None:
    flow = rehearse(
        "  - id: l\n    type: loop\n    times: 3\n    body:\n      - {id: x, type: compute, output: 1}\n    next: f\n"
        "  - {id: f, type: form}\n"
    ).start()
    assert flow.state.counts["completed"] == 4  # three rounds, and the loop
    assert flow.answer("f", {}).state.counts["completed"] == 5


def test_a_point_knows_its_innermost_branch_and_round() -> None:
    flow = rehearse(NESTED).start()
    assert (flow.point("a:checks.first").branch, flow.point("a:checks.first").round) == (InBranch("checks", 0, 2), None)
    flow.answer("b:checks.second:rounds.0", {})
    for number in range(2):
        flow.answer(f"c:checks.second:rounds.0:each.{number}", {})
    outer = flow.point("b:checks.second:rounds.1")
    assert (outer.branch, outer.round) == (InBranch("checks", 1, 2), InRound("rounds", 1))
    flow.answer("b:checks.second:rounds.1", {})
    inner = flow.point("c:checks.second:rounds.1:each.1")
    assert (inner.branch, inner.round) == (InBranch("each", 1, 2), InRound("rounds", 1))


def test_a_point_of_the_root_graph_has_no_branch_and_no_round() -> None:
    point = rehearse("  - {id: f, type: form}\n").start().point("f")
    assert (point.branch, point.round) == (None, None)


@pytest.mark.parametrize(
    ("node", "answer"),
    [("{id: f, type: form}", {"data": 1}), ("{id: f, type: approval, next: {rejected: n}}", {"approved": False})],
)
def test_an_answer_leaves_its_moment(node: str, answer: dict[str, object]) -> None:
    flow = rehearse(f"  - {node}\n" + ("  - {id: n, type: compute, output: 1}\n" if "approval" in node else "")).start()
    flow.send(Pause())  # so that an answered point stays in the state
    flow.now += 5
    flow.send(Answer(point=flow.point("f").id, by="ann", **answer))  # type: ignore[arg-type]  # by the table
    assert flow.point("f").answered_at == flow.now


def test_an_answer_that_is_read_late_keeps_the_moment_at_which_it_was_given() -> None:
    flow = rehearse("  - {id: f, type: form}\n").start()
    said, flow.now = flow.now + 5, flow.now + 1_000
    flow.send(Pause())
    flow.send(Answer(point=flow.point("f").id, by="ann", at=said))
    assert flow.point("f").answered_at == said


def test_a_decision_that_is_read_late_keeps_the_moment_at_which_it_was_made() -> None:
    flow = rehearse("  - {id: a, type: approval}\n").start()
    said, flow.now = flow.now + 5, flow.now + 1_000
    flow.send(Pause())
    flow.send(Answer(point=flow.point("a").id, by="ann", approved=True, at=said))
    point = flow.point("a")
    assert (point.answered_at, [one.at for one in point.decisions]) == (said, [said])
    assert isinstance(point.output, dict)
    assert (point.output["at"], point.output["decisions"][0]["at"]) == (said, said)


def test_a_deadline_is_decided_by_the_clock_and_not_by_the_time_of_the_answer() -> None:
    flow = rehearse("  - {id: f, type: form, deadline: 1m, on_deadline: continue}\n").start()
    point, said = flow.point("f").id, flow.now
    flow.now += 60_000
    flow.send(Wake())
    flow.send(Answer(point=point, by="ann", at=said))
    assert "PausePointAnswered" not in types(flow)
