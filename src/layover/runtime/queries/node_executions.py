"""The executions of every node, derived from the log: inputs, outputs, attempts, errors and durations.

They are derived on request from events that are stored anyway, so that no step pays for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from layover.core.context_ids import context_id, renamed
from layover.core.engine import events as ev
from layover.core.engine.apply_rewind import behind_of
from layover.core.engine.node_transitions import scope_path
from layover.tracebacks import Traceback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from layover.core.plan import Plan, PlannedGraph

_MOST_ATTEMPTS = 100  # shown of one node, the first and the latest: a retry can go on forever
_AT_WORK = frozenset({"scheduled", "queued", "running", "entered", "backoff", "incident", "waiting"})


class AttemptDraft(msgspec.Struct, kw_only=True, gc=False):
    """One attempt of a call, as far as the log has been read."""

    attempt: int
    cause: str
    scheduled_at: int
    started_at: int | None = None
    finished_at: int | None = None
    error: ev.Error | None = None
    traceback: Traceback | None = None
    retry_at: int | None = None


class NodeDraft(msgspec.Struct, kw_only=True, gc=False):
    """One node in one scope at its latest run, as far as the log has been read."""

    context_id: str
    node: str
    type: str
    status: str
    attempt: int = 0
    input: object = None
    output: object = None
    port: str = ""
    error: ev.Error | None = None
    traceback: Traceback | None = None
    started_at: int | None = None
    finished_at: int | None = None
    duration_ms: int | None = None
    attempts: list[AttemptDraft] = []


def node_executions(plan: Plan, entries: Iterable[tuple[int, ev.AnyEvent]]) -> list[NodeDraft]:
    """Return every node that was reached, in the order in which they were."""
    telling = Telling(plan)
    for at, event in entries:
        telling.take(at, event)
    return list(telling.nodes.values())


class Telling:
    """Derives node executions from events, one by one; `nodes` has those that were reached, in that order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.nodes: dict[str, NodeDraft] = {}
        self._within: dict[str, dict[str, None]] = {}  # the nodes in a scope, or in a scope within it
        self._points: dict[str, str] = {}
        self._stopped: dict[str, str] = {}  # what the end of the execution interrupted, and what it was at

    def take(self, at: int, event: ev.AnyEvent) -> None:
        """Take the next event."""
        take = self._TAKERS.get(type(event))
        if take is not None:
            take(self, at, event)

    def _forked(self, _at: int, event: ev.ExecutionForked) -> None:
        """Show the results that it began with: its origin has when and how they came about."""
        for name, result in event.nodes.items():
            node = self._node(name)
            node.status, node.output, node.port, node.error = result.status, result.output, result.port, result.error

    def move(self, plan: Plan, names: Mapping[str, str]) -> None:
        """Go on by another version, in which some nodes have other names; what is not there any more stays told."""
        self._plan = plan
        if not names:
            return
        before, self.nodes, self._within = self.nodes, {}, {}
        moved = {name: renamed(name, names) for name in before}
        taken = {new for name, new in moved.items() if new != name}
        for name, node in before.items():
            new = moved[name]
            if new == name and name in taken:
                continue  # another node has its name now
            node.context_id, node.node = new, new.partition(":")[0]
            self.nodes[new] = node
            for around in _scopes_around(new):
                self._within.setdefault(around, {})[new] = None
        self._points = {point: moved.get(name, name) for point, name in self._points.items()}

    # What happens to nodes

    def _scheduled(self, at: int, event: ev.NodeScheduled) -> None:
        node = self._node(event.node)
        node.status, node.attempt = "queued" if event.queued else "scheduled", event.attempt
        node.finished_at = node.duration_ms = None
        node.attempts.append(AttemptDraft(attempt=event.attempt, cause=event.cause, scheduled_at=at))
        if len(node.attempts) > _MOST_ATTEMPTS:
            del node.attempts[1]

    def _started(self, at: int, event: ev.NodeStarted) -> None:
        node = self._node(event.node)
        node.status, node.input = "running", event.input
        node.started_at = node.started_at or at
        if node.attempts:
            node.attempts[-1].started_at = at

    def _completed(self, at: int, event: ev.NodeCompleted) -> None:
        node = self._node(event.node)
        node.status, node.output, node.port, node.error = "completed", event.output, event.port, event.error
        node.traceback = None
        self._finish(node, at)

    def _failed(self, at: int, event: ev.NodeFailed) -> None:
        node = self._node(event.node)
        last = node.attempts[-1] if node.attempts else None
        is_cancelled, failed_at = node.status == "backoff", last.finished_at if last is not None else None
        node.port = event.port or ""
        node.status = "backoff" if event.retry_at is not None else "incident" if event.incident else "failed"
        self._finish(node, at)
        if is_cancelled:  # its last attempt has failed before: it is as it was, and only not followed by another
            if last is not None:
                last.finished_at, last.retry_at = failed_at, None
            return
        node.error, node.traceback = event.error, event.traceback
        if last is not None:
            last.error, last.traceback, last.retry_at = event.error, event.traceback, event.retry_at

    def _undo_failed(self, at: int, event: ev.NodeUndoFailed) -> None:
        node = self._node(event.node)
        node.error, node.traceback = event.error, event.traceback
        if event.retry_at is not None:
            node.status = "backoff"
            self._finish(node, at)
        if node.attempts:
            node.attempts[-1].error, node.attempts[-1].traceback = event.error, event.traceback
            node.attempts[-1].retry_at = event.retry_at

    def _opened(self, at: int, event: ev.PausePointOpened) -> None:
        node = self._node(event.node)
        node.status = "waiting"
        node.started_at = node.started_at or at
        self._points[event.point] = event.node

    def _point_cancelled(self, _at: int, event: ev.PausePointCancelled) -> None:
        if event.point in self._points:
            self._node(self._points[event.point]).status = "cancelled"

    def _rewound(self, _at: int, event: ev.NodeRewound) -> None:
        self._go_back(event.node)

    # What happens around nodes: to their scopes, and to the execution

    def _scope_opened(self, at: int, event: ev.ScopeOpened) -> None:
        node = self._node(event.node)
        node.status = "entered"
        node.started_at = node.started_at or at

    def _scope_closed(self, at: int, event: ev.ScopeClosed) -> None:
        if event.end in ("failed", "cancelled"):
            self._stop(at, scope_path(event.node, event.key))

    def _ended(self, at: int, _event: ev.AnyEvent) -> None:
        self._stop(at, "")

    def _reopened(self, _at: int, event: ev.ExecutionReopened) -> None:
        for name, status in self._stopped.items():
            self._again(name, status)
        self._stopped.clear()
        for name in event.nodes:
            self._again(name, "ready")
        for name in event.containers:
            self._again(name, "entered")

    def _scope_reopened(self, _at: int, event: ev.ScopeReopened) -> None:
        self._reopen(scope_path(event.node, event.key), event.nodes)

    def _reopen(self, path: str, ready: tuple[str, ...]) -> None:
        """Tell that a scope goes on: what had not begun in it is ready, containers that had not settled are entered."""
        for name in ready:
            self._again(name, "ready")
        for planned in self._graph(path).nodes:
            name = context_id(path, planned.id)
            node = self.nodes.get(name)
            if planned.bodies and node is not None and node.status in ("stopped", "failed") and not node.port:
                self._again(name, "entered")

    def _again(self, name: str, status: str) -> None:
        """Mark a node as running again; its attempts stay as they ended."""
        node = self.nodes.get(name)
        if node is not None:
            node.status = status
            node.finished_at = node.duration_ms = None

    def _stop(self, at: int, path: str) -> None:
        """Tell that what was at work in a scope, or anywhere, is so no longer; what ends with it can be reopened."""
        for name in self._within.get(path, ()) if path else self.nodes:
            node = self.nodes[name]
            if node.status in _AT_WORK:
                if not path:
                    self._stopped[name] = node.status
                node.status = "stopped"
                self._finish(node, at)

    def _go_back(self, context_id: str) -> None:
        """Forget a node and all that lies behind it, with what is inside of them."""
        name, _, path = context_id.partition(":")
        graph = self._graph(path)
        behind = {graph.nodes[index].id for index in behind_of(graph, graph.positions[name])}
        inner = tuple(f"{path}:{one}." if path else f"{one}." for one in sorted(behind))
        for found in list(self.nodes):
            id_, _, scope = found.partition(":")
            if (scope == path and id_ in behind) or scope.startswith(inner):
                del self.nodes[found]
                self._stopped.pop(found, None)
                for around in _scopes_around(found):
                    self._within[around].pop(found, None)

    def _finish(self, node: NodeDraft, at: int) -> None:
        node.started_at = node.started_at or at
        node.finished_at = at
        node.duration_ms = at - node.started_at
        if node.attempts:
            node.attempts[-1].finished_at = at

    def _node(self, context_id: str) -> NodeDraft:
        found = self.nodes.get(context_id)
        if found is None:
            name = context_id.partition(":")[0]
            type_ = self._type(context_id)
            found = self.nodes[context_id] = NodeDraft(context_id=context_id, node=name, type=type_, status="ready")
            for around in _scopes_around(context_id):
                self._within.setdefault(around, {})[context_id] = None
        return found

    def _type(self, context_id: str) -> str:
        name, _, path = context_id.partition(":")
        return self._graph(path).node(name).node.type

    def _graph(self, path: str) -> PlannedGraph:
        graph = self._plan.graph
        for step in path.split(":") if path else ():
            container, _, key = step.partition(".")
            bodies = graph.node(container).bodies
            graph = bodies[""] if "" in bodies else bodies[key]
        return graph

    _TAKERS: ClassVar[dict[type[ev.DomainEvent], Callable[[Telling, int, Any], None]]] = {
        ev.ExecutionForked: _forked,
        ev.NodeScheduled: _scheduled,
        ev.NodeStarted: _started,
        ev.NodeCompleted: _completed,
        ev.NodeFailed: _failed,
        ev.NodeUndoFailed: _undo_failed,
        ev.PausePointOpened: _opened,
        ev.PausePointCancelled: _point_cancelled,
        ev.NodeRewound: _rewound,
        ev.ScopeOpened: _scope_opened,
        ev.ScopeClosed: _scope_closed,
        ev.ExecutionCompleted: _ended,
        ev.ExecutionFailed: _ended,
        ev.ExecutionCancelled: _ended,
        ev.ExecutionReopened: _reopened,
        ev.ScopeReopened: _scope_reopened,
    }


def _scopes_around(context_id: str) -> Iterator[str]:
    """Return the paths of the scopes that a node is in, the outermost first."""
    path = context_id.partition(":")[2]
    end = path.find(":")
    while end >= 0:
        yield path[:end]
        end = path.find(":", end + 1)
    if path:
        yield path
