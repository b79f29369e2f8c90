"""What a fork takes over from its origin, and what it repeats: read from the log of the origin, which stays as it is.

Results are taken over by node, outside all scopes: a loop or parallel that is done gives its output, and one that is
not begins anew, with all that is in it. Pause points, children, timers and calls that are under way stay with the
origin; the fork opens and makes its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.engine import events as ev
from layover.core.engine.apply_fork import take_over
from layover.core.engine.commands import Fork
from layover.core.engine.node_transitions import is_settled, open_scope
from layover.core.engine.past import Past, outermost
from layover.core.engine.repeats import Repeats, has_called, has_result, reached_nodes
from layover.core.engine.rewind import names_behind
from layover.core.engine.state import ExecutionState, Scope

if TYPE_CHECKING:
    from collections.abc import Container

    from layover.core.engine.events import NodeStatus
    from layover.core.plan import Plan

_NOT_REACHED: Final[frozenset[NodeStatus]] = frozenset({"idle", "skipped"})


class ForkDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A fork, what of the origin it repeats, and which nodes of it keep their results."""

    fork: Fork
    repeats: Repeats
    kept: tuple[str, ...]


def was_reached(state: ExecutionState, node: str) -> bool:
    """Return whether a node outside all scopes has been reached."""
    return state.node(node).status not in _NOT_REACHED


def plan_fork(past: Past, plan: Plan, from_node: str = "", *, latest: Past | None = None) -> ForkDraft:
    """Return the fork of an execution as it was after the events that were read, in any version of its workflow.

    With its `latest` past, what it has done since is repeated as well.
    """
    state = past.state
    dropped: Container[str] = names_behind(state, from_node) if from_node else ()
    results = {
        name: ev.CarriedNode(
            type=state.planned(name).node.type,
            status="failed" if node.status == "failed" else "completed",
            output=node.output,
            port=node.port,
            error=node.error,
        )
        for name, node in sorted(state.nodes.rows.items(), key=lambda row: row[1].closed_seq)
        if ":" not in name and node.status != "skipped" and is_settled(node) and name not in dropped
    }
    kept = _fitting(results, plan)
    sets = tuple(one for one in _joined(past) if not one.node or one.node in kept)
    facts = state.facts
    pasts = [past] if latest is None or latest.state.plan.hash != state.plan.hash else [past, latest]
    again = {
        name: (one, node)
        for one in pasts
        for name, node in reached_nodes(one.state).items()
        if outermost(name) not in kept
    }
    return ForkDraft(
        fork=Fork(origin=facts.id, at=state.counts["seq"] - 1, from_node=from_node, nodes=kept, sets=sets),
        repeats=Repeats(
            repeated=tuple(sorted(again)),
            dropped=tuple(sorted(name for name, (_, node) in again.items() if has_result(node))),
            calls=tuple(
                sorted(
                    name
                    for name, (one, node) in again.items()
                    if has_called(one.state, name, node) or (name in one.called and ":" not in name)
                )
            ),
        ),
        kept=tuple(sorted(kept)),
    )


def _fitting(results: dict[str, ev.CarriedNode], plan: Plan) -> dict[str, ev.CarriedNode]:
    """Return the results that a graph can start with: of nodes that it has, with all before them."""
    known = plan.graph.by_id
    same = {name: one for name, one in results.items() if name in known and known[name].node.type == one.type}
    state = ExecutionState(plan)
    open_scope(state, "", Scope(open=len(plan.graph.nodes), variables={}), plan.graph)
    take_over(state, same)
    return {name: one for name, one in same.items() if state.node(name).status in ("completed", "failed")}


def _joined(past: Past) -> list[ev.CarriedSet]:
    """Return what was set besides the defaults, by nodes outside all scopes; values of one node in a row are joined."""
    _, *sets = past.sets.get("", [ev.CarriedSet(values={})])
    found: list[ev.CarriedSet] = []
    for one in sets:
        node = outermost(one.node)
        if found and found[-1].node == node:
            found[-1] = ev.CarriedSet(node=node, values={**found[-1].values, **one.values})
        elif one.values:
            found.append(ev.CarriedSet(node=node, values=one.values))
    return found
