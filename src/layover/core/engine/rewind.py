"""The decision to reopen work: everything that was given up, or from one node on.

Points behind that node are cancelled, and results behind it are dropped. A halted scope around it is reopened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from layover.core.context_ids import context_id
from layover.core.engine import events as ev
from layover.core.engine.apply_rewind import behind_of
from layover.core.engine.halting import has_rounds, is_given_up
from layover.core.engine.late_sets import with_late_sets
from layover.core.engine.node_transitions import container_of, points_in, scope_path, scopes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.events import NodeStatus
    from layover.core.engine.state import ExecutionState, Point

_NOT_REACHED: Final[frozenset[NodeStatus]] = frozenset({"idle", "skipped", "ready"})


def can_go_back(state: ExecutionState, to: str) -> bool:
    """Return whether a node has been reached in a scope that is still there or halted."""
    name, _, path = to.partition(":")
    halted = state.halted.get(path)
    if halted is not None:
        node = halted.nodes.get(name)
        return node is not None and node.status not in _NOT_REACHED
    if path not in state.scopes or name not in state.graph(path).positions:
        return False
    return state.node(to).status not in _NOT_REACHED


def is_behind(context: DecisionContext, name: str, to: str) -> bool:
    """Return whether a node comes after another, in the same graph or inside something that does."""
    return is_among(name, names_behind(context.state, to))


def give_up(context: DecisionContext, point: Point, reason: str, by: str | None = None) -> None:
    """Cancel a point; a child that it waits for has to be told, and a call that is out has to stop."""
    call = call_out(context, point)
    context.emit(ev.PausePointCancelled(point=point.id, reason=reason, child=point.child, call=call, by=by))


def call_out(context: DecisionContext, point: Point) -> str:
    """Return the node of a point if its call is still out, which it may be for a callback."""
    calling = point.kind == "callback" and context.state.node(point.node).status == "running"
    return point.node if calling else ""


def go_back(
    context: DecisionContext,
    to: str,
    reason: str = "",
    *,
    command: cmd.Rewind | None = None,
    error: ev.Error | None = None,
) -> None:
    """Go back to a node for which `can_go_back` holds; a closed execution is reopened by the command that asks."""
    names = names_behind(context.state, to)
    for point in _points_behind(context.state, names):
        give_up(context, context.state.points[point], reason)
    if context.state.facts.closed and command is not None:
        reopen_execution(context, "rewind", command, behind=names)
    _reopen_around(context, context.scope_of(to))
    if command is None:
        context.emit(ev.NodeRewound(node=to, reason=reason, error=error))
        return
    command = with_late_sets(context.state, command, lambda name: is_among(name, names))
    context.emit(
        ev.NodeRewound(
            node=to,
            variables=command.variables,
            unset=command.unset,
            root_variables=command.root_variables,
            root_unset=command.root_unset,
            reason=reason,
            by=command.by,
            error=error,
        )
    )


def reopen_execution(
    context: DecisionContext,
    why: Literal["retry", "rewind"],
    command: cmd.Retry | cmd.Rewind,
    *,
    behind: Sequence[str] = (),
) -> None:
    """Reopen a closed execution: nodes that were given up are ready again, except those `behind` a rewound node.

    A container that has opened scopes continues with them: their completed nodes stay completed. A leg of the instance
    and the timeout of the execution start anew.
    """
    state = context.state
    nodes: list[str] = []
    containers = {container_of(path) for path in state.halted.rows}
    containers = {name for name in containers if state.node(name).status == "entered"}
    for name, node in state.nodes.rows.items():
        if is_given_up(node):
            if has_rounds(node):
                containers.add(name)
            else:
                nodes.append(name)
    ready = tuple(sorted(name for name in nodes if not is_among(name, behind)))
    going_on = tuple(sorted(name for name in containers if not is_among(name, behind)))
    context.emit(
        ev.ExecutionReopened(
            why=why,
            nodes=ready,
            by=command.by,
            key=command.key,
            containers=going_on,
            time_anew=state.timed,
        )
    )
    if command.instance:
        context.emit(ev.LegStarted(cause=why, instance=command.instance, traceparent=command.leg_traceparent))


def reopen_scope(context: DecisionContext, container: str, key: int | str) -> None:
    """Reopen a halted scope: nodes that were given up are ready again, and its containers go on."""
    path = scope_path(container, key)
    halted = context.state.halted[path].nodes
    inner = {context_id(path, id_): node for id_, node in halted.items()}
    nodes = tuple(sorted(name for name, node in inner.items() if is_given_up(node) and not has_rounds(node)))
    context.emit(ev.ScopeReopened(node=container, key=key, nodes=nodes))
    context.settled.append(path)
    context.settled.extend(scope_path(name, "") for name, node in inner.items() if has_rounds(node))


def _reopen_around(context: DecisionContext, path: str) -> None:
    """Reopen the halted scopes on a path, the outermost first."""
    if path and path not in context.state.scopes:
        container = container_of(path)
        _reopen_around(context, context.scope_of(container))
        reopen_scope(context, container, context.state.halted[path].scope.key)


def _points_behind(state: ExecutionState, names: list[str]) -> list[str]:
    own = [point for name in names if (point := state.node(name).point)]
    return sorted((*own, *points_in(state, (path for name in names for path in scopes_of(state, name)))))


def names_behind(state: ExecutionState, to: str) -> list[str]:
    """Return a node and all nodes of its scope that can be reached from it."""
    name, _, path = to.partition(":")
    graph = state.graph(path)
    return [context_id(path, graph.nodes[index].id) for index in behind_of(graph, graph.positions[name])]


def is_among(name: str, names: Sequence[str]) -> bool:
    """Return whether a node is one of some nodes, or in a scope of one of them."""
    return any(name == one or name.partition(":")[2].startswith(scope_path(one, "")) for one in names)
