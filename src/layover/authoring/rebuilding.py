"""From a document back to a workflow in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.authoring.steps import (
    ApprovalStep,
    ConditionStep,
    EndStep,
    LoopStep,
    ParallelStep,
    Step,
    SwitchStep,
    WaitingStep,
    WorkStep,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.authoring.graphs import GraphBuilder

_KINDS: dict[str, type[Step]] = {
    "approval": ApprovalStep,
    "callback": WaitingStep,
    "condition": ConditionStep,
    "end": EndStep,
    "form": WaitingStep,
    "loop": LoopStep,
    "parallel": ParallelStep,
    "switch": SwitchStep,
    "wait_signal": WaitingStep,
}
_INSIDE = {"loop": ("body",), "parallel": ("body", "branches"), "switch": ("cases",)}


def rebuild(graph: GraphBuilder, source: Mapping[str, Any]) -> None:
    """Add the nodes and edges of a valid document to an empty graph."""
    for node in source["nodes"]:
        _add(graph, node)
    for edge in source.get("edges", ()):
        graph.add_edge(edge)
    if "start" in source:
        graph.start(*(graph[name] for name in source["start"]))


def _add(graph: GraphBuilder, node: Mapping[str, Any]) -> None:
    kind = node["type"]
    apart = ("id", "type", *_INSIDE.get(kind, ()))
    fields = {key: value for key, value in node.items() if key not in apart}
    step = graph.add(_KINDS.get(kind, WorkStep), node["id"], kind, fields)
    match step:
        case SwitchStep():
            for case in node["cases"]:
                step.add_case(case)
        case LoopStep():
            _fill(step.body, node["body"])
        case ParallelStep() if "body" in node:
            _fill(step.body, node["body"])
        case ParallelStep():
            for branch in node.get("branches", ()):
                _fill(step.branch(branch["id"]), branch["body"])


def _fill(body: GraphBuilder, source: Mapping[str, Any]) -> None:
    rebuild(body, source)
    body.extra = {key: value for key, value in source.items() if key.startswith("x-")}
