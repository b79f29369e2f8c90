"""Moves to another version: what the plan says happens, whatever was edited and wherever an execution stands.

`LAYOVER_MOVE_EDITS=20000` makes as many random edits; `LAYOVER_MOVE_SEED` makes others.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.core.context_ids import context_id
from layover.core.definitions.node_types import AskingNode
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events, decode_state, encode_events, encode_state
from layover.core.engine.decide import decide, play
from layover.core.engine.evolve import fold
from layover.core.engine.moving import outlook
from layover.core.engine.node_transitions import is_settled
from layover.core.engine.past import Past
from layover.core.engine.state import ExecutionState
from layover.core.plan import load
from tests.conftest import FACTOR
from tests.core.definitions.dice import SeededDice

from .laws import check_itself, tables
from .random_edits import edited
from .random_play import Player, begin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.engine.moving import Outlook
    from layover.core.plan import Plan

_EDITS = int(os.environ.get("LAYOVER_MOVE_EDITS", 1_000 * FACTOR))
_SEED = int(os.environ.get("LAYOVER_MOVE_SEED", "0"))
_EDITS_OF_ONE = 8  # definition
_EDITS_OF_BLOCK = 500
_BLOCKS = range(max(1, _EDITS // _EDITS_OF_BLOCK))
ID = "00000000-0000-4000-8000-000000000001"


def form(id_: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "type": "form", **more}


def chain(*nodes: dict[str, Any], **more: Any) -> Plan:
    ids = [node["id"] for node in nodes]
    edges = [{"source": a, "target": b, "port": "done"} for a, b in pairwise(ids)]
    return load({"name": "w", "nodes": list(nodes), "edges": edges, **more})


def standing_at(plan: Plan, answers: int) -> ExecutionState:
    """Return the state of an execution of which so many forms were answered."""
    state = ExecutionState(plan)
    play(state, cmd.Create(id=ID, input=1), 1)
    for n in range(answers):
        (point,) = state.points.rows
        play(state, cmd.Answer(point=point, data={"n": n}), 2 + n)
    state.undo_log.keep()
    return state


def statuses(state: ExecutionState) -> dict[str, str]:
    return {name: node.status for name, node in sorted(state.nodes.rows.items())}


def moved(state: ExecutionState, plan: Plan, **names: str) -> list[ev.AnyEvent]:
    state.know(plan)
    events = play(state, cmd.Move(hash=plan.hash, version=2, names=names), 100)
    state.undo_log.keep()
    return events


def test_an_equal_form_stays_open_and_what_is_behind_it_is_new() -> None:
    state = standing_at(chain(form("a"), form("b")), 1)
    points = dict(state.points.rows)
    other = chain(form("a"), form("b"), form("c"), variables={"v": 1})
    assert outlook(state, other, {}).kind == "same"
    assert [type(event) for event in moved(state, other)] == [ev.ExecutionMoved]
    assert state.points.rows == points
    assert (state.facts.hash, state.facts.version, state.plan) == (other.hash, 2, other)
    assert state.scopes[""].variables == {"v": 1}
    play(state, cmd.Answer(point=next(iter(points)), data={}), 101)
    assert statuses(state) == {"a": "completed", "b": "completed", "c": "waiting"}


def test_a_changed_form_asks_again() -> None:
    state = standing_at(chain(form("a"), form("b")), 1)
    (before,) = state.points.rows
    other = chain(form("a"), form("b", title="Anew"))
    found = outlook(state, other, {})
    assert (found.kind, found.asked_again) == ("changed", ("b",))
    moved(state, other)
    (after,) = state.points.rows.values()
    assert after.id != before
    assert after.details["title"] == "Anew"


def test_an_answered_form_is_not_asked_again() -> None:
    state = standing_at(chain(form("a"), form("b")), 0)
    (point,) = state.points.rows
    play(state, cmd.Pause(by="op"), 5)
    play(state, cmd.Answer(point=point, data={"n": 1}), 6)
    other = chain(form("a", title="Anew"), form("b"))
    assert outlook(state, other, {}).asked_again == ()
    moved(state, other)
    play(state, cmd.Resume(by="op"), 101)
    assert state.node("a").output == {"n": 1}
    assert statuses(state) == {"a": "completed", "b": "waiting"}


def test_a_renamed_node_keeps_its_timer_and_its_point() -> None:
    delay = {"id": "rest", "type": "delay", "duration": "5d"}
    state = standing_at(load({"name": "w", "nodes": [delay]}), 0)
    (point,) = state.points.rows.values()
    other = load({"name": "w", "nodes": [{**delay, "id": "sleep", "duration": "9d"}]})
    assert outlook(state, other, {}).code == "node_gone"
    assert moved(state, other) == []
    assert outlook(state, other, {"rest": "sleep"}).kind == "moved"
    moved(state, other, rest="sleep")
    assert state.points.rows == {point.id: msgspec.structs.replace(point, node="sleep")}
    play(state, cmd.Wake(), point.deadline or 0)
    assert state.facts.closed == "completed"


def test_new_nodes_before_what_was_reached_are_passed_by_and_those_behind_what_was_done_run() -> None:
    state = standing_at(chain(form("a"), form("b")), 1)
    other = load(
        {
            "name": "w",
            "nodes": [
                form("a", next=["x", "y"]),
                form("x", next="b"),
                {"id": "y", "type": "compute", "output": "${nodes.a.n + 1}"},
                form("b"),
            ],
        }
    )
    found = outlook(state, other, {})
    assert (found.kind, found.passed, found.ready, found.code) == ("same", ("x",), ("y",), "")
    moved(state, other)
    assert statuses(state) == {"a": "completed", "b": "waiting", "x": "skipped", "y": "completed"}
    assert state.node("y").output == 1


@pytest.mark.parametrize(
    ("other", "code"),
    [
        (chain(form("a")), "node_gone"),
        (chain(form("a"), {"id": "b", "type": "approval"}), "node_gone"),
        (chain(form("b"), form("a")), "order_changed"),
        (chain(form("a"), form("c"), form("b")), "order_changed"),
        (chain(form("a"), form("b"), form("c")), "same_version"),
    ],
)
def test_what_has_no_place_in_the_other_version_is_refused(other: Plan, code: str) -> None:
    before = chain(form("a"), form("b"), form("c"))
    state = standing_at(before, 0 if other.definition.graph.nodes[0].id == "b" else 1)
    found = outlook(state, other, {})
    assert found.code == code
    assert found.reason
    kept = tables(state)
    assert moved(state, other) == []
    assert tables(state) == kept


def test_rounds_and_branches_move_with_their_containers() -> None:
    def looping(container: str, inner: str, **more: Any) -> Plan:
        body = {"nodes": [form(inner)]}
        return load({"name": "w", "nodes": [{"id": container, "type": "loop", "times": 3, "body": body, **more}]})

    state = standing_at(looping("each", "ask"), 1)
    assert outlook(state, looping("each", "ask", times=4), {}).code == "container_changed"
    other = looping("all", "say")
    moved(state, other, each="all", ask="say")
    (point,) = state.points.rows.values()
    assert point.node == "say:all.1"
    assert point.round is not None
    assert point.round.node == "all"
    for n in range(2):
        (id_,) = state.points.rows
        play(state, cmd.Answer(point=id_, data={}), 200 + n)
    assert state.facts.closed == "completed"


def test_a_rewind_after_a_move_takes_variables_back_by_the_names_of_now() -> None:
    def version(container: str, ask: str, **variables: object) -> Plan:
        inner = [{"id": "set_it", "type": "set", "values": {"v": 2}, "next": ask}, form(ask)]
        branch = {"id": "one", "body": {"nodes": inner}}
        nodes = [
            form("a", next="count"),
            {"id": "count", "type": "set", "values": {"n": 1}, "next": container},
            {"id": container, "type": "parallel", "branches": [branch]},
        ]
        return load({"name": "w", "nodes": nodes, "variables": {"v": 1, **variables}})

    before, other = version("p", "ask"), version("q", "say", later=5)
    state, log = ExecutionState(before), list[tuple[int, ev.AnyEvent]]()
    log += [(1, one) for one in play(state, cmd.Create(id=ID), 1)]
    (point,) = state.points.rows
    log += [(2, one) for one in play(state, cmd.Answer(point=point, data={}), 2)]
    state.undo_log.keep()
    log += [(100, one) for one in moved(state, other, p="q", ask="say")]
    past = Past(before)
    past.state.know(other)
    past.read(log)
    assert past.restored("a") == ({}, ("n",), {}, ())
    (point,) = state.points.rows
    answer = cmd.Answer(point=point, data={}, variables={"later": 6, "v": 3})
    past.read([(101, one) for one in play(state, answer, 101)])
    assert past.restored("q") == ({"later": 5, "v": 1}, (), {}, ())


def test_a_call_that_is_out_keeps_its_execution_where_it_is() -> None:
    state = ExecutionState(load({"name": "w", "nodes": [{"id": "a", "type": "work"}]}))
    play(state, cmd.Create(id=ID), 1)
    state.undo_log.keep()
    assert (
        outlook(
            state, load({"name": "w", "nodes": [{"id": "a", "type": "work"}, form("b")], "start": ["a", "b"]}), {}
        ).code
        == "node_running"
    )


# Random edits


class MovedPlayer(Player):
    """Goes on with a copy of an execution, which moves."""

    def __init__(self, other: Player) -> None:
        super().__init__(other.plan, other.dice)
        self.now, self.log = other.now, list(other.log)
        self.state = fold(ExecutionState(other.plan), self.log)
        self.few_places = False

    def send(self, command: cmd.AnyCommand) -> list[ev.AnyEvent]:
        """Send a command."""
        events = play(self.state, command, self.now)
        self.state.undo_log.keep()
        self.log += [(self.now, event) for event in events]
        if not self.state.facts.closed:
            check_itself(self.state)
        return events


@pytest.mark.parametrize("block", _BLOCKS)
def test_plan_and_move_agree_with_what_then_happens_in_random_edits(block: int) -> None:
    seen: Counter[str] = Counter()
    seed = _SEED * 1_000_000_000 + block * 1_000_000
    while seen["edits"] < min(_EDITS, _EDITS_OF_BLOCK):
        seed += 1
        try:
            for met in _edits(seed):
                seen.update(met)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    for kind in ("same", "changed", "moved", "gone", "can_move", "asked_again", "ready", "passed", "order_changed"):
        assert seen[kind], f"{kind} was never met"


def _edits(seed: int) -> Iterator[list[str]]:
    """Play, edit and move; return what was met on the way."""
    dice = SeededDice(seed)
    player = begin(dice)
    for _ in range(dice.integer(1, 12)):
        player.step()
    for _ in range(10):
        if player.state.counts["calls"] and not player.state.facts.closed:
            player.go_on()
    if player.state.facts.closed:
        return
    for _ in range(_EDITS_OF_ONE):
        found = edited(player.document, dice)
        if found is not None and found[0].hash != player.plan.hash:
            yield _moved(MovedPlayer(player), *found)


def _moved(player: MovedPlayer, plan: Plan, names: dict[str, str]) -> list[str]:
    """Hold the plan of a move against the move, and let the execution come to its end."""
    state, planned = player.state, outlook(player.state, plan, names)
    before, kept = dict(state.nodes.rows), tables(state)
    state.know(plan)
    command = cmd.Move(hash=plan.hash, version=2, names=names)
    events = decide(state, command, player.now)
    assert (tables(state), state.plan) == (kept, player.plan), "deciding left a trace"
    met = ["edits", planned.kind, planned.code or "can_move"]
    assert any(isinstance(event, ev.ExecutionMoved) for event in events) == (not planned.code)
    if planned.code:
        return met
    assert player.send(command) == events
    _agrees(planned, names, before, state, events)
    _leaves_nothing_behind(state)
    _replays(player, plan)
    player.finish()
    _is_remembered(player, plan)
    return [*met, *(name for name in ("asked_again", "ready", "passed") if getattr(planned, name))]


def _agrees(
    planned: Outlook,
    names: dict[str, str],
    before: dict[str, Any],
    state: ExecutionState,
    events: list[ev.AnyEvent],
) -> None:
    """Hold what the plan has said against what has happened."""
    if state.facts.closed:
        return
    again = {name for event in events if isinstance(event, ev.ExecutionMoved) for name in event.again}
    assert not any(isinstance(event, ev.NodeRewound) for event in events), "something is repeated"
    cancelled = [event for event in events if isinstance(event, ev.PausePointCancelled)]
    assert again == set(planned.asked_again)
    assert len(cancelled) >= len(planned.asked_again)
    for name in planned.passed:
        assert state.node(name).status == "skipped" or name.partition(":")[2] not in state.scopes
    started = {event.node for event in events if hasattr(event, "node")}
    if state.facts.gate == "open" and state.status == "paused" and not state.queue.rows:
        assert started >= {name for name in planned.ready if name.partition(":")[2] in state.scopes}
    for name, node in before.items():
        id_, _, path = name.partition(":")
        renamed = names.get(id_, id_)
        is_taken = id_ not in names and id_ in names.values()
        if not path and is_settled(node) and not is_taken and renamed in state.plan.graph.by_id:
            assert state.node(renamed).closed_seq == node.closed_seq, f"{name} was settled, and was repeated"


def _leaves_nothing_behind(state: ExecutionState) -> None:
    """Each node is reached or passed by once all that comes before it has ended; people are asked what is asked now."""
    if state.facts.closed:
        return
    for path in state.scopes.rows:
        graph = state.graph(path)
        for node in graph.nodes:
            if state.node(context_id(path, node.id)).status == "idle":
                before = [graph.nodes[index].id for index in node.sources]
                ended = [is_settled(state.node(context_id(path, one))) for one in before]
                assert not all(ended), f"{node.id} is left behind"
    for point in state.points.rows.values():
        asking = state.planned(point.node).node
        if isinstance(asking, AskingNode) and point.status == "open" and not point.doubt:
            assert point.details.get("title", "") == (asking.title or ""), (
                f"{point.node} asks what is not asked any more"
            )


def _replays(player: MovedPlayer, plan: Plan) -> None:
    """The log gives the same state again, and so does a snapshot."""
    again = ExecutionState(player.plan)
    again.know(plan)
    fold(again, [(at, decode_events(encode_events([event]))[0]) for at, event in player.log])
    assert tables(again) == tables(player.state)
    assert encode_state(decode_state(encode_state(player.state), plan)) == encode_state(player.state)


def _is_remembered(player: MovedPlayer, plan: Plan) -> None:
    """Check that a rewind finds in the log of a moved execution who has set which variables."""
    past = Past(player.plan)
    past.state.know(plan)
    past.read(player.log)
    for path, scope in player.state.scopes.rows.items():
        if scope.variables is not None:
            found: dict[str, object] = {}
            for one in past.sets[path]:
                found |= one.values
            assert found == scope.variables, path or "the root"
