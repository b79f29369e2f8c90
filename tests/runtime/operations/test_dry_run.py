"""Dry runs: the engine decides, and the world is made up."""

from __future__ import annotations

from typing import Any

import pytest

from layover.core.plan import load
from layover.errors import AnswerRefused
from layover.runtime.operations.dry_run import DryRunner, TooManySteps
from tests.runtime.harness import approval, delay, flow

NOW = 1_700_000_000_000


def form(**fields: Any) -> dict[str, Any]:
    return {"id": "ask", "type": "form", "title": "Say it", **fields}


def run(definition: dict[str, object], given: object = None, **made_up: Any) -> DryRunner:
    played = DryRunner(load(definition), **{"outputs": {}, "answers": {}, "now": NOW, **made_up})
    played.run(given)
    return played


def waiting(played: DryRunner) -> list[str]:
    return sorted(point.node for point in played.state.points.rows.values())


def test_time_passes_by_itself_and_nothing_is_waited_for() -> None:
    played = run(flow(delay("first", "30d"), delay("second", "1h")))
    assert played.state.status == "completed"
    assert played.log[-1][0] == NOW + 30 * 86_400_000 + 3_600_000


def test_a_deadline_alone_does_not_make_time_pass() -> None:
    played = run(flow(form(deadline="1h", on_deadline="continue")))
    assert (played.state.status, waiting(played)) == ("paused", ["ask"])


def test_a_deadline_that_comes_before_a_timer_acts() -> None:
    branches = [
        {"id": "a", "body": [form(deadline="1h", on_deadline="fail")]},
        {"id": "b", "body": [delay("rest", "2h")]},
    ]
    both: dict[str, object] = {"id": "both", "type": "parallel", "branches": branches}
    played = run(flow(both))
    assert (played.state.status, waiting(played)) == ("failed", [])


@pytest.mark.parametrize("order", ["any", "sequence"])
@pytest.mark.parametrize("approved", [True, False])
def test_named_approvers_decide_in_their_order(order: str, approved: bool) -> None:
    rules: dict[str, Any] = {"approvers": {"users": ["ada", "bob", "cyd"]}, "need": 3, "reject_need": 2, "order": order}
    played = run(flow(approval(**rules)), answers={"review": approved})
    assert waiting(played) == []
    assert played.state.status == ("completed" if approved else "failed"), "nothing takes care of a rejection"


def test_an_answer_that_is_not_needed_changes_nothing() -> None:
    played = run(flow(form()), answers={"ask": 1, "nobody": 2}, outputs={"nobody": 3})
    assert (played.state.status, played.state.facts.output) == ("completed", 1)


def test_null_is_an_answer() -> None:
    assert run(flow(form()), answers={"ask": None}).state.status == "completed"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(AnswerRefused, match="does not fit"):
        run(flow(form(schema={"type": "string"})), answers={"ask": 1})


def test_it_is_bounded_however_few_commands_it_takes() -> None:
    rounds = {"id": "round", "type": "loop", "times": 1_000_000, "body": [{"id": "a", "type": "set", "values": {}}]}
    with pytest.raises(TooManySteps, match="more than 50 steps"):
        run(flow(rounds), most=50)
