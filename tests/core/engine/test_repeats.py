"""Plans of a retry and a rewind: they say what the act then does, and change nothing."""

from __future__ import annotations

from layover.core.engine import events as ev
from layover.core.engine.commands import Pause, Retry, Rewind
from layover.core.engine.decide import decide
from layover.core.engine.repeats import Repeats, repeats_of
from tests.core.definitions.dice import SeededDice

from .flows import fails_times, only, rehearse
from .laws import tables
from .random_play import begin


def test_a_retry_repeats_what_failed_and_nothing_that_is_done() -> None:
    flow = rehearse(
        "  - {id: a, type: f, next: b}\n  - {id: b, type: g}\n",
        {"f": lambda given: given, "g": fails_times(1)},
    ).start()
    before = tables(flow.state)
    assert repeats_of(flow.state, Retry(), flow.now) == Repeats(repeated=("b",), calls=("b",))
    assert tables(flow.state) == before
    flow.send(Retry())
    assert [one.node for one in only(flow, ev.NodeStarted) if isinstance(one, ev.NodeStarted)] == ["a", "b", "b"]


def test_a_rewind_drops_results_closes_points_and_calls_again() -> None:
    flow = rehearse(
        "  - {id: a, type: f, next: b}\n  - {id: b, type: compute, output: 1, next: c}\n  - {id: c, type: form}\n",
        {"f": lambda given: given},
    ).start()
    plan = Repeats(repeated=("a", "b", "c"), dropped=("a", "b"), superseded=("c",), calls=("a",))
    assert repeats_of(flow.state, Rewind(to="a"), flow.now) == plan
    assert repeats_of(flow.state, Rewind(to="c"), flow.now) == Repeats(repeated=("c",), superseded=("c",))
    assert flow.waiting == ["c"]


def test_a_retry_of_halted_branches_repeats_only_what_was_given_up() -> None:
    flow = rehearse(
        "  - {id: p, type: parallel, branches: [{id: x, body: [{id: a, type: f}]},"
        " {id: y, body: [{id: b, type: g}]}]}\n",
        {"f": lambda given: given, "g": fails_times(1)},
    ).start()
    assert flow.status == "failed"
    found = repeats_of(flow.state, Retry(), flow.now)
    assert found == Repeats(repeated=("b:p.y",), calls=("b:p.y",))


def test_an_act_that_changes_nothing_has_no_plan() -> None:
    flow = rehearse("  - {id: a, type: form, next: b}\n  - {id: b, type: form}\n").start()
    flow.send(Pause())
    assert repeats_of(flow.state, Retry(), flow.now) is None
    assert repeats_of(flow.state, Rewind(to="b"), flow.now) is None
    assert repeats_of(flow.state, Rewind(to="nowhere"), flow.now) is None


def test_plans_in_random_plays_agree_with_the_act_and_change_nothing() -> None:
    planned = 0
    for seed in range(30):
        player = begin(SeededDice(seed))
        for _ in range(25):
            player.step()
            state = player.state
            acts: list[Retry | Rewind] = [Retry(), *(Rewind(to=name) for name in sorted(state.nodes.rows))]
            for command in acts:
                before = tables(state)
                found = repeats_of(state, command, player.now)
                assert tables(state) == before, f"seed {seed}"
                if found is None:
                    continue
                planned += 1
                events = decide(state, command, player.now)
                closed = {one.point for one in events if isinstance(one, ev.PausePointCancelled)}
                assert {state.points[point].node for point in closed if point in state.points} >= set(found.superseded)
                assert set(found.dropped) | set(found.calls) <= set(found.repeated), f"seed {seed}"
                if isinstance(command, Rewind):
                    assert command.to in found.repeated, f"seed {seed}"
    assert planned > 100
