"""What the ports of a node that asks people lead to, in the words of its author.

Where the author says nothing, the next nodes are named. What a function does is not known from its name: a port that
leads to one promises nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.node_types import AskingNode, Callback, CallNode

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.plan import PlannedNode

PREFIX = "leads_to."


def consequences(context: DecisionContext, name: str, planned: PlannedNode) -> dict[str, str]:
    """Return what each port leads to, by the ports of which something is known."""
    graph = context.state.graph(context.scope_of(name))
    found: dict[str, str] = {}
    for port, targets in planned.ports.items():
        names = [_name_of(graph.nodes[target]) for target in targets]
        if port != "error" and all(names):
            found[port] = ", ".join(names)
    for field in planned.renderers:
        if field.startswith(PREFIX) and (text := context.text(name, planned, field)):
            found[field.removeprefix(PREFIX)] = text
    return found


def _name_of(planned: PlannedNode) -> str:
    """Return what a node is called; nothing if it is a function."""
    node = planned.node
    if isinstance(node, CallNode) or (isinstance(node, Callback) and node.call is not None):
        return ""
    title = node.title if isinstance(node, AskingNode) and planned.renderers["title"].constant else ""
    return title or node.label or node.id
