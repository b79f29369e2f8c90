"""What became of every node, told by the log: inputs, outputs, attempts, errors, and how long each took.

It is worked out when somebody asks, from events that are stored anyway, so that no step pays for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.engine import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.plan import Plan


class Attempt(msgspec.Struct, kw_only=True):
    """One try of a call."""

    attempt: int
    cause: str
    scheduled_at: int
    started_at: int | None = None
    finished_at: int | None = None
    error: ev.Error | None = None
    retry_at: int | None = None


class NodeExecution(msgspec.Struct, kw_only=True):
    """One node in one scope, at its latest run."""

    context_id: str
    node: str
    type: str
    status: str
    attempt: int = 0
    input: object = None
    output: object = None
    port: str = ""
    error: ev.Error | None = None
    started_at: int | None = None
    finished_at: int | None = None
    duration_ms: int | None = None
    attempts: list[Attempt] = []


def node_executions(plan: Plan, entries: Iterable[tuple[int, ev.AnyEvent]]) -> list[NodeExecution]:
    """Return every node that was reached, in the order in which they were."""
    telling = _Telling(plan)
    for at, event in entries:
        telling.take(at, event)
    return list(telling.nodes.values())


class _Telling:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.nodes: dict[str, NodeExecution] = {}
        self._points: dict[str, str] = {}

    def take(self, at: int, event: ev.AnyEvent) -> None:
        match event:
            case ev.NodeScheduled():
                node = self._node(event.node)
                node.status, node.attempt = "queued" if event.queued else "scheduled", event.attempt
                node.attempts.append(Attempt(attempt=event.attempt, cause=event.cause, scheduled_at=at))
            case ev.NodeStarted():
                node = self._node(event.node)
                node.status, node.input = "running", event.input
                node.started_at = node.started_at or at
                if node.attempts:
                    node.attempts[-1].started_at = at
            case ev.NodeCompleted():
                node = self._node(event.node)
                node.status, node.output, node.port, node.error = "completed", event.output, event.port, event.error
                self._finish(node, at)
            case ev.NodeFailed():
                self._failed(at, event)
            case ev.PausePointOpened():
                node = self._node(event.node)
                node.status = "waiting"
                node.started_at = node.started_at or at
                self._points[event.point] = event.node
            case ev.PausePointCancelled():
                if event.point in self._points:
                    self._node(self._points[event.point]).status = "cancelled"
            case ev.NodeRewound():
                self.nodes.pop(event.node, None)
            case _:
                pass

    def _failed(self, at: int, event: ev.NodeFailed) -> None:
        node = self._node(event.node)
        node.error = event.error
        node.port = event.port or ""
        node.status = "backoff" if event.retry_at is not None else "incident" if event.incident else "failed"
        self._finish(node, at)
        if node.attempts:
            node.attempts[-1].error = event.error
            node.attempts[-1].retry_at = event.retry_at

    def _finish(self, node: NodeExecution, at: int) -> None:
        node.started_at = node.started_at or at
        node.finished_at = at
        node.duration_ms = at - node.started_at
        if node.attempts:
            node.attempts[-1].finished_at = at

    def _node(self, context_id: str) -> NodeExecution:
        found = self.nodes.get(context_id)
        if found is None:
            name = context_id.partition(":")[0]
            type_ = self._type(context_id)
            found = self.nodes[context_id] = NodeExecution(context_id=context_id, node=name, type=type_, status="ready")
        return found

    def _type(self, context_id: str) -> str:
        name, _, path = context_id.partition(":")
        graph = self._plan.graph
        for step in path.split(":") if path else ():
            container, _, key = step.partition(".")
            bodies = graph.node(container).bodies
            graph = bodies[""] if "" in bodies else bodies[key]
        return graph.node(name).node.type
