"""Who plays the node types of a workflow in a test: a function, a fake, or nothing; and where it sends to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.node_types import ChildWorkflow, Send
from layover.model.deliveries import DestinationBody
from layover.testing.errors import NobodyPlays

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from layover.core.plan import Plan, PlannedGraph, PlannedNode


def check_played(plan: Plan, played: Collection[str], plans: Mapping[str, Plan]) -> None:
    """Refuse a workflow that calls a node type without a function or fake, be it in one that it starts."""
    missing = sorted({node.calls for node in _all_nodes(plan, plans) if _is_called(node) and node.calls not in played})
    if not missing:
        return
    names = " and ".join(f"`{name}`" for name in missing)
    raise NobodyPlays(
        f"The workflow `{plan.definition.name}` calls {names}, for which there is neither a function nor a fake. "
        f"`layover.nodes({missing[0]})` takes the function; "
        f'`layover.fake("{missing[0]}", returns=...)` stands in for it.'
    )


def named_destinations(plan: Plan) -> list[DestinationBody]:
    """Return the destinations that a workflow names: a test has them all, and they only take what is sent."""
    ways: list[tuple[object, bool]] = [(rule.definition.via, bool(rule.definition.to)) for rule in plan.notify]
    sends = [one.node for one in _nodes(plan.graph) if isinstance(one.node, Send)]
    ways += [(one.via, bool(one.to)) for one in sends]
    mails = {via for via, is_addressed in ways if isinstance(via, str) and is_addressed}
    return [_destination(via, is_mail=via in mails) for via in sorted({via for via, _ in ways if isinstance(via, str)})]


def _destination(name: str, *, is_mail: bool) -> DestinationBody:
    if is_mail:
        return DestinationBody(name=name, kind="mail", address="smtp://mail.test", from_="layover@mail.test")
    return DestinationBody(name=name, kind="webhook", address="https://hook.test")


def _is_called(node: PlannedNode) -> bool:
    return node.role in ("call", "callback") and not isinstance(node.node, ChildWorkflow)


def _all_nodes(plan: Plan, plans: Mapping[str, Plan]) -> Iterator[PlannedNode]:
    """Go through the nodes of a workflow and of those that it starts, each workflow once."""
    seen, waiting = {plan.definition.name}, [plan]
    while waiting:
        for node in _nodes(waiting.pop().graph):
            yield node
            child = plans.get(node.node.workflow) if isinstance(node.node, ChildWorkflow) else None
            if child is not None and child.definition.name not in seen:
                seen.add(child.definition.name)
                waiting.append(child)


def _nodes(graph: PlannedGraph) -> Iterator[PlannedNode]:
    for node in graph.nodes:
        yield node
        for body in node.bodies.values():
            yield from _nodes(body)
