"""The decision to go back to a node: what waits behind it is given up, what came of it is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.context_ids import context_id
from layover.core.engine import events as ev
from layover.core.engine.movement import points_in, scope_path, scopes_of
from layover.core.engine.rewinding import behind_of

if TYPE_CHECKING:
    from layover.core.engine.state import Execution, Point
    from layover.core.engine.turn import Turn


def can_go_back(turn: Turn, to: str) -> bool:
    """Return whether a node has been reached in a scope that is still there."""
    name, _, path = to.partition(":")
    if path not in turn.state.scopes or name not in turn.state.graph(path).positions:
        return False
    return turn.state.node(to).status not in ("idle", "skipped", "ready")


def is_behind(turn: Turn, name: str, to: str) -> bool:
    """Return whether a node comes after another, in the same graph or inside something that does."""
    return _is_among(turn, name, _names_behind(turn, to))


def give_up(turn: Turn, point: Point, reason: str, by: str | None = None) -> None:
    """Wait no longer at a point; a child that is waited for there is to be told, a call that is out to stop."""
    call = call_out(turn, point)
    turn.emit(ev.PausePointCancelled(point=point.id, reason=reason, child=point.child, call=call, by=by))


def call_out(turn: Turn, point: Point) -> str:
    """Return the node of a point if its call is still out: whoever is to call back is being called."""
    calling = point.kind == "callback" and turn.state.node(point.node).status == "running"
    return point.node if calling else ""


def go_back(
    turn: Turn, to: str, reason: str = "", *, by: str | None = None, key: str = "", error: ev.Error | None = None
) -> None:
    """Go back to a node that one can go back to; a closed execution is reopened by it."""
    names = _names_behind(turn, to)
    for point in _points_behind(turn.state, names):
        give_up(turn, turn.state.points[point], reason)
    if turn.state.facts.closed:
        given_up = tuple(
            sorted(
                name
                for name, node in turn.state.nodes.rows.items()
                if (node.status == "stopped" or (node.status == "failed" and not node.port))
                and not _is_among(turn, name, names)
            )
        )
        turn.emit(ev.ExecutionReopened(why="rewind", nodes=given_up, by=by, key=key))
    turn.emit(ev.NodeRewound(node=to, reason=reason, by=by, error=error))


def _points_behind(state: Execution, names: list[str]) -> list[str]:
    own = [point for name in names if (point := state.node(name).point)]
    return sorted((*own, *points_in(state, (path for name in names for path in scopes_of(state, name)))))


def _names_behind(turn: Turn, to: str) -> list[str]:
    name, _, path = to.partition(":")
    graph = turn.state.graph(path)
    return [context_id(path, graph.nodes[index].id) for index in behind_of(graph, graph.positions[name])]


def _is_among(turn: Turn, name: str, names: list[str]) -> bool:
    return any(name == one or turn.scope_of(name).startswith(scope_path(one, "")) for one in names)
