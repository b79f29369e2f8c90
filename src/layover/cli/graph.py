"""A plan as text: what runs after what, containers indented."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.durations import format_duration
from layover.core.definitions.node_types import (
    Approval,
    Callback,
    ChildWorkflow,
    Condition,
    Delay,
    End,
    Form,
    Http,
    Loop,
    Parallel,
    Send,
    Switch,
    WaitSignal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.model import Node
    from layover.core.plan import Plan, PlannedGraph, PlannedNode

_LONGEST = 60


def graph_lines(plan: Plan) -> Iterator[str]:
    """Return the lines of the picture."""
    definition = plan.definition
    yield f"{definition.name}  {plan.hash[:12]}"
    yield from _lines(plan.graph, "  ")


def _lines(graph: PlannedGraph, margin: str) -> Iterator[str]:
    wide = max(len(node.id) for node in graph.nodes)
    for index in graph.order:
        planned = graph.nodes[index]
        start = "●" if index in graph.starts else "○"
        detail = node_summary(planned.node)
        yield f"{margin}{start} {planned.id:{wide}}  {planned.node.type}{f'  {detail}' if detail else ''}"
        for branch, body in planned.bodies.items():
            if branch:
                yield f"{margin}  │ {branch}"
            yield from _lines(body, f"{margin}  │   " if branch else f"{margin}  │ ")
        yield from _port_lines(planned, graph, f"{margin}    ")


def _port_lines(planned: PlannedNode, graph: PlannedGraph, margin: str) -> Iterator[str]:
    for port, targets in planned.ports.items():
        names = ", ".join(graph.nodes[target].id for target in targets)
        yield f"{margin}{port} → {names}"


def node_summary(node: Node) -> str:
    """Return what a reader of a graph wants to know of a node at a glance."""
    match node:
        case Condition():
            text = node.if_
        case Switch():
            text = node.value or "first case that holds"
        case Approval() | Form():
            text = node.title
        case Delay():
            text = (
                format_duration(node.duration) if isinstance(node.duration, int) else node.duration or node.until or ""
            )
        case WaitSignal():
            text = node.signal or ", ".join(signal.signal for signal in node.signals)
        case Callback():
            text = f"call {node.call}" if node.call else ""
        case ChildWorkflow():
            text = node.workflow
        case Send():
            text = f"by {node.via}" if isinstance(node.via, str) else "to a webhook"
        case Http():
            text = f"{node.method} {node.url}"
        case Loop() | Parallel():
            text = _rounds(node)
        case End():
            text = node.outcome
        case _:
            text = ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _rounds(node: Loop | Parallel) -> str:
    if node.for_each is not None:
        return f"each {node.as_} of {node.for_each}"
    if isinstance(node, Loop):
        return f"while {node.while_}" if node.while_ is not None else f"{node.times} times"
    return f"{len(node.branches)} branches"
