"""The laws of going back: what the plan of a retry or a rewind says happens, and variables are those of that moment.

`LAYOVER_TORTURE=20` plays 20 times as much; `LAYOVER_REWIND_SEED` plays otherwise.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import play
from layover.core.engine.evolve import fold
from layover.core.engine.node_transitions import scope_path
from layover.core.engine.past import Past
from layover.core.engine.repeats import Repeats, has_result, reached_nodes, repeats_of
from layover.core.engine.state import ExecutionState
from tests.conftest import FACTOR
from tests.core.definitions.dice import SeededDice

from .flows import rehearse
from .naive_past import NaivePast
from .random_play import Player, begin

if TYPE_CHECKING:
    from layover.core.engine.state import NodeState
    from layover.core.plan import PlannedNode

_BLOCKS = range(2 * FACTOR)
_PLAYS = 60  # of each block
_SEED = int(os.environ.get("LAYOVER_REWIND_SEED", "0")) * 1_000_000


def rewind(past: Past, to: str) -> cmd.Rewind:
    """Return the command that the operation sends."""
    return past.rewind(cmd.Rewind(to=to, by="op"))


@pytest.mark.parametrize("block", _BLOCKS)
def test_variables_are_as_if_what_was_dropped_had_never_run(block: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(block * _PLAYS, (block + 1) * _PLAYS):
        player, read = begin(SeededDice(_SEED + seed)), 0
        player.takes_back, naive = True, NaivePast(player.plan)
        for step in range(40):
            player.step()
            naive.read(event for _, event in player.log[read:])
            read = len(player.log)
            _check_variables(player, naive, f"seed {seed}, step {step}")
            reached = sorted(name for name, node in player.state.nodes.rows.items() if node.status == "completed")
            reached += [f"{id_}:{path}" for path, one in player.state.halted.rows.items() for id_ in one.nodes]
            if not reached or not player.dice.chance(5):
                continue
            to = player.dice.pick(reached)
            command = rewind(Past(player.plan).read(player.log), to)
            events = player.send(command)
            naive.read(event for _, event in player.log[read:])
            read = len(player.log)
            if any(isinstance(event, ev.NodeRewound) for event in events):
                met["rewinds"] += 1
                met["in a scope"] += ":" in to
                met["taken back"] += bool(command.variables or command.unset)
                met["taken back from all"] += bool(command.root_variables or command.root_unset)
            _check_variables(player, naive, f"seed {seed}, step {step}, after a rewind to {to}")
    assert met["rewinds"] > 50, met
    assert met["in a scope"], met
    assert met["taken back"], met


@pytest.mark.parametrize("block", _BLOCKS)
def test_a_rewind_that_has_its_turn_late_takes_back_what_was_set_since_it_was_sent(block: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(block * _PLAYS, (block + 1) * _PLAYS):
        player, read = begin(SeededDice(_SEED + seed)), 0
        player.takes_back, naive = True, NaivePast(player.plan)
        for step in range(40):
            player.step()
            reached = sorted(name for name, node in player.state.nodes.rows.items() if node.status == "completed")
            if not reached or not player.dice.chance(4):
                continue
            command = rewind(Past(player.plan).read(player.log), player.dice.pick(reached))
            sent = len(player.log)
            for _ in range(player.dice.integer(1, 4)):
                player.step()
            late = player.log[sent:]
            if any(isinstance(one, ev.NodeRewound | ev.ExecutionReopened | ev.ExecutionResumed) for _, one in late):
                continue
            if any(isinstance(one, ev.VariableSet) and not naive.is_behind(one.node, command.to) for _, one in late):
                continue  # whether an answer to a node that stays has brought it is not certain then
            events = player.send(command)
            naive.read(event for _, event in player.log[read:])
            read = len(player.log)
            if any(isinstance(event, ev.NodeRewound) for event in events):
                met["rewinds"] += 1
                met["late"] += any(isinstance(event, ev.VariableSet) for _, event in late)
                _check_variables(player, naive, f"seed {seed}, step {step}, after a late rewind to {command.to}")
    assert met["late"], met


def test_a_rewind_in_a_branch_takes_back_what_an_answer_there_set_for_all() -> None:
    flow = rehearse(
        """
  - id: p
    type: parallel
    branches:
      - {id: a, body: [{id: ask, type: form, next: after}, {id: after, type: form}]}
      - {id: b, body: [{id: wait, type: form}]}
"""
    ).start()
    flow.send(cmd.Answer(point=flow.point("ask:p.a").id, data={}, variables={"count": 7, "size": 1}, by="ann"))
    assert flow.state.scopes[""].variables == {"count": 7, "size": 1}
    flow.send(rewind(Past(flow.plan).read(flow.log), "ask:p.a"))
    assert flow.state.scopes["p.a"].variables == {"count": 0}
    assert flow.state.scopes[""].variables == {"count": 0}


def test_a_rewind_that_changed_no_variable_is_remembered_by_the_next_one() -> None:
    """Both nodes set the same value: only when the second of them is dropped as well does it change."""
    flow = rehearse(
        "  - {id: s, type: compute, output: 1, next: [a, b]}\n"
        "  - {id: a, type: form, next: x}\n  - {id: x, type: set, values: {count: 2}, next: z}\n"
        "  - {id: b, type: form, next: y}\n  - {id: y, type: set, values: {count: 2}, next: z}\n"
        "  - {id: z, type: form}\n",
        settings="{resume: concurrent}",
    ).start()
    flow.answer("a", {}).answer("b", {})
    assert flow.state.scopes[""].variables == {"count": 2}
    flow.send(rewind(Past(flow.plan).read(flow.log), "b"))
    assert flow.state.scopes[""].variables == {"count": 2}
    flow.send(rewind(Past(flow.plan).read(flow.log), "a"))
    assert flow.state.scopes[""].variables == {"count": 0}


@pytest.mark.parametrize("block", _BLOCKS)
def test_after_a_rewind_variables_are_those_of_the_moment_at_which_the_node_was_reached(block: int) -> None:
    """Where nothing else has set any since: then no reckoning is needed to know what they were."""
    met = 0
    for seed in range(block * 5 * _PLAYS, (block + 1) * 5 * _PLAYS):
        player = begin(SeededDice(_SEED + seed))
        for _ in range(player.dice.integer(5, 40)):
            player.step()
        reached = sorted(name for name, node in player.state.nodes.rows.items() if node.status == "completed")
        for to in reached:
            moment = _moment_of(player, to)
            path = _variable_scope(player.state, to)
            if moment is None or _is_set_by_others(player, to, moment):
                continue
            then = fold(ExecutionState(player.plan), player.log[:moment]).scopes[path].variables
            copy = Copy(player)
            events = copy.send(rewind(Past(player.plan).read(player.log), to))
            after = fold(ExecutionState(player.plan), [*player.log, *_upto_rewind(player, events)])
            assert after.scopes[path].variables == then, f"seed {seed}: {to}"
            met += after.scopes[path].variables != player.state.scopes[path].variables
    assert met, "no rewind has changed a variable"


def _moment_of(player: Player, to: str) -> int | None:
    """Return the number of the event with which a node was begun last, if it was not begun before."""
    kinds = (ev.NodeScheduled, ev.NodeStarted, ev.PausePointOpened, ev.NodeCompleted, ev.NodeFailed)
    found = [n for n, (_, event) in enumerate(player.log) if isinstance(event, kinds) and event.node == to]
    rewound = any(isinstance(event, ev.NodeRewound | ev.ExecutionReopened) for _, event in player.log)
    return None if rewound or not found else found[0]


def _is_set_by_others(player: Player, to: str, moment: int) -> bool:
    """Return whether variables were set since a moment by nodes that are not behind a node, or by an operator.

    Or before it by one that is: with `join: any`, what comes after a node may have run before it.
    """
    naive = NaivePast(player.plan)
    before = [event for _, event in player.log[:moment] if isinstance(event, ev.VariableSet)]
    if any(event.node and naive.is_behind(event.node, to) for event in before):
        return True
    for _, event in player.log[moment:]:
        if isinstance(event, ev.ExecutionResumed) and event.data:
            return True
        if isinstance(event, ev.VariableSet) and not naive.is_behind(event.node, to):
            return True
    return False


def _variable_scope(state: ExecutionState, name: str) -> str:
    path = name.partition(":")[2]
    while state.scopes[path].variables is None:
        path = path.rpartition(":")[0]
    return path


# What the plan says, and what then happens


class Copy(Player):
    """Goes on with a copy of an execution."""

    def __init__(self, other: Player) -> None:
        super().__init__(other.plan, other.dice)
        self.now, self.log = other.now, list(other.log)
        self.state = fold(ExecutionState(other.plan), self.log)
        self.few_places, self.takes_back = False, True

    def send(self, command: cmd.AnyCommand) -> list[ev.AnyEvent]:
        """Send a command."""
        events = play(self.state, command, self.now)
        self.state.undo_log.keep()
        self.log += [(self.now, event) for event in events]
        return events


@pytest.mark.parametrize("block", _BLOCKS)
def test_the_plan_of_a_retry_or_a_rewind_is_what_then_happens(block: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(block * _PLAYS, (block + 1) * _PLAYS):
        player = begin(SeededDice(_SEED + seed))
        player.takes_back = True
        for _ in range(4):
            for _ in range(10):
                player.step()
            _check_plans(player, met, f"seed {seed}")
    missing = {
        "retry",
        "rewind",
        "in a scope",
        "dropped",
        "superseded",
        "calls",
        "again",
        "in what is done",
        "loop",
        "parallel",
        "workflow",
    }
    assert not missing - {name for name, count in met.items() if count}, met


def _check_plans(player: Player, met: Counter[str], where: str) -> None:
    halted = [f"{id_}:{path}" for path, one in player.state.halted.rows.items() for id_ in one.nodes]
    names = sorted((*player.state.nodes.rows, *halted))
    acts: list[cmd.Retry | cmd.Rewind] = [cmd.Retry(), *(cmd.Rewind(to=name) for name in names)]
    called_before = Past(player.plan).read(player.log).called
    for act in acts:
        planned = repeats_of(player.state, act, player.now, called_before)
        command = act
        if planned is not None and isinstance(act, cmd.Rewind):
            command = rewind(Past(player.plan).read(player.log), act.to)
        _check_plan(player, command, planned, f"{where}, {act}")
        if planned is not None:
            met["retry" if isinstance(act, cmd.Retry) else "rewind"] += 1
            met["in a scope"] += isinstance(act, cmd.Rewind) and ":" in act.to
            for kind in ("dropped", "superseded", "calls"):
                met[kind] += bool(getattr(planned, kind))
            met.update(player.state.planned(name).node.type for name in planned.repeated)
            met["in what is done"] += any(player.state.planned(name).bodies for name in planned.calls)
            met["again"] += isinstance(act, cmd.Rewind) and act.to in planned.calls


def _check_plan(player: Player, command: cmd.Retry | cmd.Rewind, planned: Repeats | None, where: str) -> None:
    copy = Copy(player)
    events = copy.send(command)
    if planned is None:
        assert not any(isinstance(one, ev.NodeRewound | ev.ExecutionReopened) for one in events), where
        return
    assert planned.calls == tuple(name for name in planned.repeated if _was_called(player, name)), where
    before = {name: node for name, node in reached_nodes(player.state).items() if has_result(node)}
    if isinstance(command, cmd.Rewind):
        direct = _upto_rewind(player, events)
        closed = sorted(
            player.state.points[one.point].node for _, one in direct if isinstance(one, ev.PausePointCancelled)
        )
        assert planned.superseded == tuple(closed), where
        rewound = fold(ExecutionState(player.plan), [*player.log, *direct])
        left = {one.node for one in rewound.points.rows.values()} & set(planned.repeated)
        assert not left, f"{where}: points of nodes that begin anew are still there"
        after = reached_nodes(rewound)
        lost = {name for name, node in before.items() if not _is_same(node, after.get(name))}
        assert set(planned.dropped) == lost, where
    copy.finish()
    rest = [event for _, event in copy.log[len(player.log) :]]
    if sum(isinstance(one, ev.NodeRewound) for one in rest) > isinstance(command, cmd.Rewind):
        return  # what failed behind an answer has led to another one
    worked = (ev.NodeScheduled, ev.NodeStarted, ev.NodeCompleted, ev.PausePointOpened)
    made = {one.node for one in rest if isinstance(one, worked)}
    assert not made & (before.keys() - set(planned.dropped)), f"{where}: a result that was to be kept was made again"
    if isinstance(command, cmd.Rewind) and not _is_cut_short(rest, command.to):
        assert command.to in made, f"{where}: it was not made again"


def _is_cut_short(events: list[ev.AnyEvent], name: str) -> bool:
    """Return whether something else ended the execution, or a scope around a node, or the node failed at once."""
    for event in events:
        match event:
            case ev.ExecutionFailed():
                return True
            case ev.ExecutionCompleted() if event.outcome != "executed":  # at another `end`
                return True
            case ev.ScopeClosed() if f"{name.partition(':')[2]}:".startswith(f"{scope_path(event.node, event.key)}:"):
                return True
            case ev.NodeFailed() if event.node == name:
                return True
            case _:
                pass
    return False


def _upto_rewind(player: Player, events: list[ev.AnyEvent]) -> list[tuple[int, ev.AnyEvent]]:
    """Return the events of a rewind itself, without what follows from it."""
    last = next(n for n, event in enumerate(events) if isinstance(event, ev.NodeRewound))
    return [(player.now, event) for event in events[: last + 1]]


def _is_same(node: NodeState, other: NodeState | None) -> bool:
    return (
        other is not None and has_result(other) and (node.output, node.closed_seq) == (other.output, other.closed_seq)
    )


def _was_called(player: Player, name: str) -> bool:
    """Return whether the log has a call of a node since its scope was opened, or its origin may have called it."""
    path, called = name.partition(":")[2], False
    planned = player.state.planned(name)
    if planned.bodies:
        return any(_is_call_within(player, event, name) for _, event in player.log)
    kinds = (ev.NodeScheduled,) if planned.role in ("call", "callback") else (ev.NodeScheduled, ev.PausePointOpened)
    if planned.role not in ("call", "callback") and planned.node.type not in ("workflow", "send"):
        return False
    for _, event in player.log:
        if isinstance(event, ev.ScopeOpened) and scope_path(event.node, event.key) == path:
            called = False
        elif isinstance(event, kinds) and event.node == name:
            called = True
        elif isinstance(event, ev.ExecutionForked):
            called = name in event.nodes
    return called


def _is_call_within(player: Player, event: ev.AnyEvent, container: str) -> bool:
    """Return whether an event is a call of a node within a container, or its result was taken over with all of them."""
    if isinstance(event, ev.ExecutionForked):
        return container in event.nodes and _has_calls(player.state.planned(container))
    if not isinstance(event, ev.NodeStarted | ev.PausePointOpened) or not _is_inside(event.node, container):
        return False
    return _has_effect(player.state.planned(event.node))


def _is_inside(name: str, container: str) -> bool:
    first, _, path = container.partition(":")
    return f"{name.partition(':')[2]}.".startswith(f"{path}:{first}." if path else f"{first}.")


def _has_effect(planned: PlannedNode) -> bool:
    return planned.role in ("call", "callback") or planned.node.type in ("workflow", "send")


def _has_calls(planned: PlannedNode) -> bool:
    inner = [one for body in planned.bodies.values() for one in body.nodes]
    return any(_has_effect(one) or _has_calls(one) for one in inner)


def _check_variables(player: Player, naive: NaivePast, where: str) -> None:
    if not player.state.facts.started_at:
        return
    scopes = {**{path: one.scope for path, one in player.state.halted.rows.items()}, **player.state.scopes.rows}
    for path, scope in scopes.items():
        assert (scope.variables is not None) == naive.has_own(path), where
        if scope.variables is not None:
            assert scope.variables == naive.variables(path), f"{where}: variables of {path or 'the root'}"
