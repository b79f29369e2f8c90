"""A second, naive interpreter: it predicts the result of an execution, without events, state or time.

Each graph is run once, in topological order, as if every node took no time; containers call themselves for their
bodies. It is written from the rules of the format and shares nothing with the engine but definitions, plans and
expressions.

An unhandled failure or an `end` ends a graph in reality while other branches are still running. If there is only one in
a graph, it decides the end; of several, the first to happen does, which cannot be predicted: then the prediction says
that there was a race.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from layover.core.definitions.node_types import Loop, Parallel
from layover.core.expressions import ExpressionError

from .naive_nodes import VISITORS, Ended, Failed, Scope, World, call, failed, holds, value

if TYPE_CHECKING:
    from layover.core.definitions import Node
    from layover.core.plan import Plan, PlannedNode

    from .naive_nodes import Behaviour, Left, Replies, Visitor


@dataclass
class Prediction:
    """The predicted end of an execution; after a race, only that it ends."""

    status: str
    output: object = None
    outcome: str = ""
    reason: str = ""
    error: dict[str, object] | None = None
    raced: bool = False


def predict(plan: Plan, given: object, behave: Behaviour, reply: Replies) -> Prediction:
    """Return the end of an execution if no call is lost and every deadline that can be met is met."""
    world = World(plan, given, behave, reply)
    try:
        output = _run(world, Scope(plan.graph, "", None, dict(plan.definition.variables)))
    except Ended as end:
        return Prediction("completed", end.output, end.outcome, end.reason, raced=world.raced)
    except Failed as failure:
        return Prediction("failed", error=failure.error, raced=world.raced)
    return Prediction("completed", output, "executed", raced=world.raced)


# Graphs


def _run(world: World, scope: Scope) -> object:
    """Run a graph; return its default output."""
    endings: list[Failed | Ended] = []
    stuck: set[str] = set()
    for index in scope.graph.order:
        planned = scope.graph.nodes[index]
        sources = [(one, port) for one in scope.graph.nodes for port in one.ports if index in one.ports[port]]
        if any(source.id in stuck for source, _ in sources):
            stuck.add(planned.id)  # its sources never settle
        elif sources and not any(scope.ports[source.id] == port for source, port in sources):
            scope.ports[planned.id] = None  # nothing leads here
        else:
            try:
                scope.ports[planned.id] = _visit(world, scope, planned)
            except (Failed, Ended) as ending:
                endings.append(ending)
                stuck.add(planned.id)
    if endings:
        raise world.only(endings)
    ends = [planned.id for planned in scope.graph.nodes if _is_last(scope, planned)]
    return scope.nodes[ends[0]] if len(ends) == 1 else {name: scope.nodes[name] for name in ends}


def _is_last(scope: Scope, planned: PlannedNode) -> bool:
    """Whether a path ended at a node."""
    port = scope.ports[planned.id]
    return port is not None and not planned.targets(port)


def _visit(world: World, scope: Scope, planned: PlannedNode) -> str:
    """Run a node; return the port by which it leaves."""
    node = planned.node
    try:
        try:
            port, scope.nodes[node.id] = _visitor(node)(world, scope, planned)
        except ExpressionError as failure:
            raise failed(scope, planned, failure.code, "ExpressionError", failure.message) from None
        if port in ("rejected", "expired") and not planned.targets(port):
            raise failed(scope, planned, "rejected" if port == "rejected" else "pause_expired", caught=False)
    except Failed as failure:
        if failure.caught and planned.targets("error"):
            port = "error"
        elif failure.caught and node.on_error == "continue":
            port = "done"
        else:
            failure.caught = True  # by a container around it
            raise
        scope.nodes[node.id] = None
        scope.errors[node.id] = failure.error
    return port


# Containers


def _loop(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Loop)
    items = _items(world, scope, planned)
    most = node.max_iterations
    if items is not None and most is not None and len(items) > most:
        raise failed(scope, planned, "too_many_iterations")
    outputs: list[object] = []
    number = 0
    while _goes_on(world, scope, planned, items, number):
        if most is not None and number >= most:
            raise failed(scope, planned, "too_many_iterations")
        names: dict[str, object] = {node.index_as: number}
        if node.for_each is not None and items is not None:
            names[node.as_] = items[number]
        inner = scope.inside(planned.bodies[""], node.id, number, names)
        number += 1
        if node.skip_if is not None and holds(world, scope, planned, "skip_if", names):
            continue
        output = _run(world, inner)
        outputs.append(value(world, inner, planned, "collect") if "collect" in planned.renderers else output)
        if node.break_if is not None and holds(world, inner, planned, "break_if"):
            break
    return "done", outputs


def _goes_on(world: World, scope: Scope, planned: PlannedNode, items: list[object] | None, number: int) -> bool:
    node = planned.node
    assert isinstance(node, Loop)
    if items is not None:
        return number < len(items)
    return holds(world, scope, planned, "while", {node.index_as: number})


def _items(world: World, scope: Scope, planned: PlannedNode) -> list[object] | None:
    """Return one item per round; None if the number of rounds is not known."""
    node = planned.node
    if isinstance(node, Loop) and node.times is not None:
        times = value(world, scope, planned, "times") if isinstance(node.times, str) else node.times
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise ExpressionError("no number", code="invalid_argument")
        return [None] * times
    if "for_each" not in planned.expressions:
        return None
    found = value(world, scope, planned, "for_each")
    if not isinstance(found, list):
        raise ExpressionError("no list", code="no_such_overload")
    return found


def _parallel(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Parallel)
    scopes: dict[str, Scope] = {}
    for branch in node.branches:
        scopes[branch.id] = scope.inside(planned.bodies[branch.id], node.id, branch.id, {})
    for index, item in enumerate(_items(world, scope, planned) or ()):
        names = {node.index_as: index, node.as_: item}
        scopes[str(index)] = scope.inside(planned.bodies[""], node.id, index, names)
    outputs: dict[str, object] = {}
    failures: dict[str, Failed] = {}
    ends: list[Failed | Ended] = []
    for key, inner in scopes.items():
        inner.variables = dict(scope.variables)
        outputs[key] = None
        try:
            outputs[key] = _branch(world, inner, scope, planned)
        except Failed as failure:
            failures[key] = failure
        except Ended as end:
            ends.append(end)
    if node.on_failure == "fail_fast":
        ends += failures.values()
    elif node.on_failure == "wait" and not ends:
        ends += [*failures.values()][:1]
    if ends:
        raise world.only(ends)
    if failures:
        error = failed(scope, planned, "branches_failed").error
        scope.errors[node.id] = {**error, "retryable": True}
    return "done", outputs if node.branches else list(outputs.values())


def _branch(world: World, inner: Scope, scope: Scope, planned: PlannedNode) -> object:
    output = _run(world, inner)
    if "collect" not in planned.renderers:
        return output
    try:
        return value(world, inner, planned, "collect")
    except ExpressionError as failure:
        raise failed(scope, planned, failure.code, "ExpressionError", failure.message) from None


_CONTAINERS: dict[type, Visitor] = {Loop: _loop, Parallel: _parallel}


def _visitor(node: Node) -> Visitor:
    return _CONTAINERS.get(type(node)) or VISITORS.get(type(node), call)
