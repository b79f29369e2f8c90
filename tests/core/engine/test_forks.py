"""Forks: an execution begins with results of another one, which stays as it is."""

from __future__ import annotations

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.forks import ForkDraft, plan_fork, was_reached
from layover.core.engine.past import Past, outermost
from layover.core.engine.repeats import repeats_of
from layover.core.plan import Plan, load
from layover.testing import Rehearsal
from tests.core.definitions.dice import SeededDice

from .flows import only, rehearse
from .graphs import INPUTS
from .laws import tables
from .naive_past import NaivePast
from .random_play import Player, begin

_ORDER = """
  - {id: a, type: f, input: 1, next: b}
  - {id: b, type: set, values: {count: 1}, next: c}
  - {id: c, type: g, input: 2, next: d}
  - {id: d, type: set, values: {count: 2, late: true}, next: ask}
  - {id: ask, type: form}
"""


def planned(flow: Rehearsal, from_node: str = "", at: int | None = None, plan: Plan | None = None) -> ForkDraft:
    latest = Past(flow.plan).read(flow.log)
    past = latest if at is None else Past(flow.plan).read(flow.log[: at + 1])
    return plan_fork(past, plan or flow.plan, from_node, latest=latest)


def forked(flow: Rehearsal, found: ForkDraft, plan: Plan | None = None) -> Rehearsal:
    fork = Rehearsal(plan or flow.plan, flow.behaviours)
    fork.send(cmd.Create(id="fork", fork=found.fork))
    return fork.run()


def called(flow: Rehearsal) -> list[str]:
    return [one.node for one in only(flow, ev.NodeStarted) if isinstance(one, ev.NodeStarted)]


def test_a_fork_repeats_from_a_node_on_with_variables_as_they_were_before_it() -> None:
    flow = rehearse(_ORDER).start()
    found = planned(flow, "c")
    assert found.kept == ("a", "b")
    assert found.repeats.repeated == ("ask", "c", "d")
    assert (found.repeats.dropped, found.repeats.calls) == (("c", "d"), ("c",))
    before = tables(flow.state)
    fork = Rehearsal(flow.plan)
    fork.send(cmd.Create(id="fork", fork=found.fork))
    assert fork.state.scopes[""].variables == {"count": 1}
    fork.run()
    assert called(fork) == ["c"]
    assert (fork.waiting, fork.state.scopes[""].variables) == (["ask"], {"count": 2, "late": True})
    assert tables(flow.state) == before
    assert (fork.state.facts.forked_from, fork.state.facts.forked_at) == ("execution", len(flow.log) - 1)


def test_a_fork_of_a_past_event_has_the_results_of_that_moment() -> None:
    flow = rehearse(_ORDER).start()
    at = next(i for i, (_, one) in enumerate(flow.log) if isinstance(one, ev.NodeCompleted) and one.node == "a")
    found = planned(flow, at=at)
    assert found.kept == ("a",)
    assert called(forked(flow, found)) == ["c"]
    assert planned(flow, at=0).kept == ()


def test_what_the_origin_has_called_since_a_past_event_is_called_again() -> None:
    flow = rehearse(_ORDER).start()
    found = planned(flow, at=0)
    assert (found.repeats.repeated, found.repeats.calls) == (("a", "ask", "b", "c", "d"), ("a", "c"))
    assert called(forked(flow, found)) == list(found.repeats.calls)
    at = next(i for i, (_, one) in enumerate(flow.log) if isinstance(one, ev.NodeCompleted) and one.node == "a")
    after = planned(flow, at=at)
    assert (after.repeats.repeated, after.repeats.calls) == (("ask", "b", "c", "d"), ("c",))


def test_what_a_fork_has_taken_over_was_called_and_is_called_again_by_a_rewind() -> None:
    flow = rehearse(_ORDER).start()
    fork = forked(flow, planned(flow, "c"))
    found = repeats_of(fork.state, cmd.Rewind(to="a"), 0)
    assert found is not None
    assert found.calls == ("a", "c")
    before = planned(fork, at=0)
    assert (before.kept, before.repeats.calls) == ((), ("a", "c"))


def test_a_fork_of_what_is_complete_is_complete_at_once() -> None:
    flow = rehearse("  - {id: a, type: f, input: 1, next: b}\n  - {id: b, type: g, input: 2}\n").start()
    fork = forked(flow, planned(flow))
    assert (flow.status, fork.status, fork.output, called(fork)) == ("completed", "completed", 2, [])


def test_another_version_repeats_what_it_has_in_between() -> None:
    flow = rehearse(_ORDER).start()
    other = load(
        "name: w\nvariables: {count: 0, fresh: 7}\nnodes:\n"
        "  - {id: a, type: f, input: 1, next: x}\n"
        "  - {id: x, type: f, input: 9, next: b}\n"
        "  - {id: b, type: set, values: {count: 5}, next: c}\n"
        "  - {id: c, type: g, input: 2}\n",
        syntax="yaml",
    )
    found = planned(flow, plan=other)
    assert found.kept == ("a",)
    fork = forked(flow, found, other)
    assert (called(fork), fork.status) == (["x", "c"], "completed")
    assert fork.state.scopes[""].variables == {"count": 5, "fresh": 7}


def test_a_rewind_in_a_fork_tells_of_calls_that_its_origin_has_made() -> None:
    flow = rehearse(_ORDER).start()
    fork = forked(flow, planned(flow, "ask"))
    found = repeats_of(fork.state, cmd.Rewind(to="a"), fork.now)
    assert found is not None
    assert found.calls == ("a", "c")


def test_a_container_that_is_not_done_begins_anew_and_one_that_is_gives_its_output() -> None:
    flow = rehearse(
        "  - {id: r, type: loop, times: 2, body: [{id: i, type: f, input: 1}], next: p}\n"
        "  - {id: p, type: parallel, branches: [{id: x, body: [{id: w, type: f, input: 3}]},"
        " {id: y, body: [{id: q, type: form}]}]}\n"
    ).start()
    found = planned(flow)
    assert found.kept == ("r",)
    assert found.repeats.calls == ("p",)
    fork = forked(flow, found)
    assert (called(fork), fork.waiting) == (["p", "w:p.x"], ["q:p.y"])
    assert fork.state.node("r").output == flow.state.node("r").output


def test_a_fork_of_a_fork_and_a_rewind_in_it_know_who_set_what() -> None:
    flow = rehearse(_ORDER).start()
    fork = forked(flow, planned(flow, "ask"))
    assert fork.state.scopes[""].variables == {"count": 2, "late": True}
    again = Rehearsal(flow.plan)
    again.send(cmd.Create(id="again", fork=planned(fork, "c").fork))
    assert again.state.scopes[""].variables == {"count": 1}
    back = Past(fork.plan).read(fork.log).restored("b")
    fork.send(back.within(cmd.Rewind(to="b")))
    assert (fork.state.scopes[""].variables, called(fork)) == ({"count": 1}, ["c"])


def test_forks_in_random_plays_keep_the_laws_and_leave_the_origin_as_it_is() -> None:
    made = kept = of_operators = 0
    for seed in range(40):
        dice = SeededDice(seed)
        origin = begin(dice)
        origin.takes_back = True
        for _ in range(dice.integer(0, 30)):
            origin.step()
        before = tables(origin.state)
        at = dice.integer(0, len(origin.log) - 1)
        past = Past(origin.plan).read(origin.log[: at + 1])
        reached = sorted(name for name in past.state.nodes.rows if ":" not in name and was_reached(past.state, name))
        chosen = dice.pick(["", *reached])
        found = plan_fork(past, origin.plan, chosen)
        fork = Player(origin.plan, dice)
        fork.few_places = False
        events = fork.send(cmd.Create(id="fork", input=dice.pick(INPUTS), user="ann", fork=found.fork))
        made += 1
        kept += len(found.kept)
        if past.state.facts.started_at:
            naive = NaivePast(origin.plan)
            naive.read(event for _, event in origin.log[: at + 1])
            naive.drop({one.id for one in origin.plan.graph.nodes}.difference(found.kept))
            given = {**origin.plan.definition.variables}
            for one in found.fork.sets:
                given.update(one.values)
            assert given == naive.variables(""), f"seed {seed}: variables of the fork"
            of_operators += any(not one.node for one in found.fork.sets)
        assert not {one.node for one in events if isinstance(one, ev.NodeStarted)}.intersection(found.kept), seed
        is_ready = chosen != "" and past.state.node(chosen).status == "ready"
        assert chosen == "" or is_ready or chosen in found.repeats.repeated, seed
        for name in found.kept:
            assert fork.state.node(name).output == past.state.node(name).output, seed
        assert set(found.repeats.calls) | set(found.repeats.dropped) <= set(found.repeats.repeated), seed
        assert not {outermost(name) for name in found.repeats.repeated}.intersection(found.kept), seed
        for _ in range(15):
            fork.step()
        fork.finish()
        assert tables(origin.state) == before, seed
    assert made == 40
    assert kept > 10
    assert of_operators, "no operator has set a variable before a fork"


def test_a_rewind_takes_variables_back_to_what_they_were_before_the_node_began() -> None:
    flow = rehearse(_ORDER).start()
    back = Past(flow.plan).read(flow.log).restored("c")
    assert (back.variables, back.unset) == ({"count": 1}, ("late",))
    rewind = back.within(cmd.Rewind(to="c"))
    flow.send(rewind)
    assert flow.state.scopes[""].variables == {"count": 1}
    flow.run()
    assert flow.state.scopes[""].variables == {"count": 2, "late": True}
    back = Past(flow.plan).read(flow.log).restored("a")
    assert (back.variables, back.unset) == ({"count": 0}, ("late",))


def test_what_operators_and_nodes_that_stay_have_set_is_kept() -> None:
    flow = rehearse(
        "  - {id: s, type: compute, output: 1, next: [a, x]}\n"
        "  - {id: a, type: set, values: {count: 1}, next: ask}\n  - {id: ask, type: form}\n"
        "  - {id: x, type: set, values: {other: 1}}\n"
    ).start()
    flow.send(cmd.Pause())
    flow.send(cmd.Resume(data={"fix": 3}))
    back = Past(flow.plan).read(flow.log).restored("a")
    flow.send(back.within(cmd.Rewind(to="a")))
    assert back == ({"count": 0}, (), {}, ())
    assert flow.state.scopes[""].variables == {"count": 1, "other": 1, "fix": 3}


def test_rewinds_in_random_plays_leave_variables_as_if_the_dropped_nodes_had_not_run() -> None:
    taken_back = 0
    for seed in range(60):
        player = begin(SeededDice(seed))
        for _ in range(30):
            player.step()
            past = Past(player.plan).read(player.log)
            assert tables(past.state) == tables(player.state), seed
            for path, sets in past.sets.items():
                scope = player.state.scopes.get(path)
                if scope is not None and scope.variables is not None:
                    found: dict[str, object] = {}
                    for one in sets:
                        found |= one.values
                    assert found == scope.variables, seed
            reached = sorted(name for name in player.state.nodes.rows if player.state.node(name).status == "completed")
            if reached and player.dice.chance(6):
                to = player.dice.pick(reached)
                back = past.restored(to)
                command = back.within(cmd.Rewind(to=to, by="op"))
                events = player.send(replace(command))
                taken_back += bool(events and (back.variables or back.unset))
    assert taken_back > 3


def test_a_node_that_failed_before_it_began_again_tells_of_calls_that_its_origin_has_made() -> None:
    """The result of the origin is gone by then, so only the log tells of its calls."""
    nodes = (
        "  - {id: first, type: set, values: {items: '${input.items}'}, next: each}\n"
        "  - {id: each, type: parallel, for_each: vars.items, body: [{id: call, type: f}], next: done}\n"
        "  - {id: done, type: form}\n"
    )
    flow = rehearse(nodes).start({"items": [1, 2]})
    fork = forked(flow, planned(flow, "done"))
    fork.send(cmd.Pause())
    fork.send(cmd.Resume(data={"items": 7}))  # no list
    fork.send(cmd.Rewind(to="each"))
    assert fork.status == "failed"
    called_before = Past(fork.plan).read(fork.log).called
    for act in (cmd.Retry(), cmd.Rewind(to="each")):
        found = repeats_of(fork.state, act, fork.now, called_before)
        assert found is not None
        assert (found.repeated, found.calls) == (("each",), ("each",))
