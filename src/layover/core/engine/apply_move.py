"""How a move to another version changes the state: every row that names a node names it as that version does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from layover.core.context_ids import context_id
from layover.core.engine.apply_points import scopes_around
from layover.core.engine.node_transitions import as_reached, is_settled, make_ready
from layover.core.engine.state import ExecutionState, NodeState, Scope
from layover.core.engine.version_map import ScopePair, carried_nodes, scope_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.core.engine import events as ev
    from layover.core.engine.tables import Table

K = TypeVar("K")
V = TypeVar("V")

_IDLE: Final = NodeState()


def moved(state: ExecutionState, event: ev.ExecutionMoved, _at: int) -> None:
    """Go on by another version, which the state knows."""
    plan = state.versions[event.hash]
    pairs = scope_pairs(state, plan, event.names)
    names = _new_names(state, pairs)
    nodes = dict(state.nodes.rows)
    scopes = dict(state.scopes.rows)
    state.use(plan)
    _carry_nodes(state, pairs, nodes, event)
    _replace_rows(state.scopes, dict(_carried_scopes(state, pairs, scopes, names)))
    _replace_rows(state.queue, {ticket: names.get(name, name) for ticket, name in state.queue.rows.items()})
    collected = {(names.get(name, name), key): row for (name, key), row in state.collected.rows.items()}
    _replace_rows(state.collected, collected)
    taken = {id_: replace(one, node=names.get(one.node, one.node)) for id_, one in state.taken.rows.items()}
    _replace_rows(state.taken, taken)
    _replace_rows(state.timers, {names.get(name, name): at for name, at in state.timers.rows.items()})
    _carry_points(state, names)
    _carry_facts(state, event, names)
    for name in event.again:
        make_ready(state, name, as_reached(state.node(name)))
    for name in event.ready:
        make_ready(state, name, state.node(name))


def _new_names(state: ExecutionState, pairs: Mapping[str, ScopePair]) -> dict[str, str]:
    """Return the context ids of nodes by the new version, by the old ones."""
    found: dict[str, str] = {}
    for name in state.nodes.rows:
        id_, _, path = name.partition(":")
        new = pairs[path].renamed(id_)
        if new is not None:
            found[name] = new
    return found


def _carry_nodes(
    state: ExecutionState, pairs: Mapping[str, ScopePair], nodes: Mapping[str, NodeState], event: ev.ExecutionMoved
) -> None:
    kept: dict[str, NodeState] = {}
    for pair in pairs.values():
        for planned, _, node in carried_nodes(pair, nodes, event.passed):
            if node != _IDLE:
                kept[context_id(pair.new_path, planned.id)] = node
    _replace_rows(state.nodes, kept)


def _carried_scopes(
    state: ExecutionState, pairs: Mapping[str, ScopePair], scopes: Mapping[str, Scope], names: Mapping[str, str]
) -> Iterator[tuple[str, Scope]]:
    for path, scope in scopes.items():
        pair = pairs[path]
        again = replace(scope, open=_left_open(state, pair), node=names.get(scope.node, scope.node))
        if not path:  # variables that are there only now have their first values
            again = replace(again, variables={**state.plan.definition.variables, **(scope.variables or {})})
        yield pair.new_path, again


def _left_open(state: ExecutionState, pair: ScopePair) -> int:
    """Return how many nodes of a scope are not settled."""
    graph = state.graph(pair.new_path)
    return sum(not is_settled(state.node(context_id(pair.new_path, planned.id))) for planned in graph.nodes)


def _carry_points(state: ExecutionState, names: Mapping[str, str]) -> None:
    for id_, point in list(state.points.rows.items()):
        node = names.get(point.node, point.node)
        path = node.partition(":")[2]
        branch, round_ = scopes_around(state, path) if path else (None, None)
        state.points.put(id_, replace(point, node=node, branch=branch, round=round_))


def _carry_facts(state: ExecutionState, event: ev.ExecutionMoved, names: Mapping[str, str]) -> None:
    facts = state.facts
    state.change(
        hash=event.hash,
        version=event.version,
        answered=names.get(facts.answered, ""),
        in_flight=tuple(sorted(names.get(name, name) for name in facts.in_flight)),
        fates={names.get(name, name): fate for name, fate in facts.fates.items()},
    )


def _replace_rows(table: Table[K, V], rows: Mapping[K, V]) -> None:
    """Replace the rows of a table."""
    for key in [key for key in table.rows if key not in rows]:
        table.drop(key)
    for key, row in rows.items():
        if table.get(key) != row:
            table.put(key, row)
