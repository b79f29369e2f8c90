"""An execution as a tree of lines: its nodes in the order in which they can run, what became of each, scopes indented.

Where a container has many rounds, only the last of them are shown.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from layover.cli.screen import STYLES, harmless
from layover.core.definitions.durations import brief_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover import Graph, GraphNode, NodeExecution, Progress

_BAR = 10  # characters
_MOST_ROUNDS = 10

_MARKS = {
    "completed": "✓",
    "failed": "✗",
    "incident": "✗",
    "stopped": "■",
    "cancelled": "■",
    "waiting": "‖",
    "backoff": "↻",
    "running": "▶",
    "scheduled": "▶",
    "entered": "▶",
    "queued": "…",
}
_AHEAD = "·"

Line = list[tuple[str, str]]


def now() -> int:
    """Return the time of this machine, in milliseconds: what is still running has taken until then."""
    return time.time_ns() // 1_000_000


class NodeTree:
    """The nodes of one execution, by their context ids, in the graph that they stand in."""

    def __init__(self, graph: Graph, nodes: Sequence[NodeExecution], now: int) -> None:
        self._bodies = _bodies_of(graph)
        self._nodes = {node.context_id: node for node in nodes}
        self._now = now
        self._rounds = _rounds_of(self._nodes)

    def lines(self) -> Iterator[Line]:
        """Return the lines of the tree, each in pieces with their styles."""
        return self._body(self._bodies.get(None, {}).get(None, []), "", "  ")

    def _body(self, nodes: list[GraphNode], path: str, margin: str) -> Iterator[Line]:
        wide = max((len(node.node) for node in nodes), default=0)
        for planned in nodes:
            yield self._line(planned, f"{planned.node}:{path}" if path else planned.node, margin, wide)
            if planned.id in self._bodies:
                yield from self._scopes(planned, path, margin)

    def _scopes(self, planned: GraphNode, path: str, margin: str) -> Iterator[Line]:
        container, bodies = f"{path}:{planned.node}" if path else planned.node, self._bodies[planned.id]
        keys = self._rounds.get(container, [])
        if None not in bodies:
            keys = [key for key in bodies if key is not None and key in keys]
        hidden = len(keys) - _MOST_ROUNDS
        if hidden > 0:
            yield [(f"{margin}  │ … {hidden} before", "dim")]
        for key in keys[-_MOST_ROUNDS:]:
            yield [(f"{margin}  │ {key}", "dim")]
            yield from self._body(bodies[None if None in bodies else key], f"{container}.{key}", f"{margin}  │   ")

    def _line(self, planned: GraphNode, context: str, margin: str, wide: int) -> Line:
        node = self._nodes.get(context)
        if node is None:
            return [(f"{margin}{_AHEAD} {planned.node:{wide}}  {planned.type}", "dim")]
        style = STYLES.get(node.status, "")
        told = [planned.type, node.status, *self._facts(node)]
        return [
            (margin, ""),
            (f"{_MARKS.get(node.status, _AHEAD)} {planned.node:{wide}}", style),
            (f"  {'  '.join(told)}", ""),
        ]

    def _facts(self, node: NodeExecution) -> Iterator[str]:
        """Return what is worth knowing of a node at a glance."""
        if node.status == "completed" and node.port not in ("", "done"):
            yield f"→ {node.port}"
        if node.attempt > 1:
            yield f"attempt {node.attempt}"
        if node.duration_ms is not None:
            yield brief_duration(node.duration_ms)
        elif node.started_at is not None:
            yield brief_duration(max(0, self._now - node.started_at.milliseconds))
        if node.progress is not None:
            yield progress_text(node.progress)
        if node.error is not None:
            yield harmless(f"{node.error.code}: {node.error.summary()}", 100)


def progress_text(progress: Progress) -> str:
    """Return how far a call is: a bar where it is known of how much, and what its function says."""
    text = f" {harmless(progress.text, 60)}" if progress.text else ""
    if not progress.total or progress.total < 0:
        return f"{progress.done:g}{text}"
    return f"{bar_of(progress.done, progress.total)} {progress.done:g}/{progress.total:g}{text}"


def bar_of(done: float, total: float) -> str:
    """Return a bar that is filled as far as something is done."""
    share = min(max(done / total, 0.0), 1.0)
    return f"{'█' * round(share * _BAR):░<{_BAR}}"


def _bodies_of(graph: Graph) -> dict[str | None, dict[str | None, list[GraphNode]]]:
    """Return the nodes of each body, in their order: by the container, and by the branch if it has several."""
    found: dict[str | None, dict[str | None, list[GraphNode]]] = {}
    for node in graph.nodes:
        found.setdefault(node.parent, {}).setdefault(node.branch, []).append(node)
    return found


def _rounds_of(nodes: dict[str, NodeExecution]) -> dict[str, list[str]]:
    """Return the rounds or branches that each container has opened, by its place, in their order."""
    found: dict[str, dict[str, None]] = {}
    for context in nodes:
        path = ""
        for step in context.split(":")[1:]:
            container, _, key = step.rpartition(".")
            found.setdefault(f"{path}:{container}" if path else container, {}).setdefault(key)
            path = f"{path}:{step}" if path else step
    return {place: sorted(keys, key=_place_of) for place, keys in found.items()}


def _place_of(key: str) -> tuple[int, str]:
    return (int(key), "") if key.isdecimal() else (-1, key)
