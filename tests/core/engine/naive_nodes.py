"""The node types of the naive interpreter: a port and an output, or a failure.

The scope of a node is plain data: the names around it, the outputs and errors of the nodes before it, its variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from msgspec import UNSET

from layover.core.definitions.node_types import (
    Approval,
    CallNode,
    Compute,
    Condition,
    Delay,
    End,
    Form,
    Merge,
    Set,
    Switch,
)
from layover.core.expressions import ExpressionError, ExpressionTime, Meter
from layover.core.expressions.values import equal

if TYPE_CHECKING:
    from layover.core.definitions import RetryDefinition
    from layover.core.plan import Plan, PlannedGraph, PlannedNode

Behaviour = Callable[[str, int, object], object]


class Replied(Protocol):
    """The answer of a person."""

    @property
    def data(self) -> object: ...
    @property
    def approved(self) -> bool: ...


class Replies(Protocol):
    """The answer at a node, or None if the deadline is left to pass."""

    def __call__(self, context_id: str, *, may_be_late: bool) -> Replied | None: ...


class Failed(Exception):  # noqa: N818 - it says what happened
    """A final failure, on its way out through nodes and scopes; not `caught` if its port has no edge."""

    def __init__(self, error: dict[str, object], *, caught: bool = True) -> None:
        super().__init__(error["code"])
        self.error = error
        self.caught = caught


class Ended(Exception):  # noqa: N818 - it says what happened
    """An `end` was reached; nothing handles that."""

    def __init__(self, output: object, outcome: str, reason: str) -> None:
        super().__init__(outcome)
        self.output = output
        self.outcome = outcome
        self.reason = reason


@dataclass
class World:
    plan: Plan
    given: object
    behave: Behaviour
    reply: Replies
    raced: bool = False

    def only(self, endings: list[Failed | Ended]) -> Failed | Ended:
        """Return the event that ends a graph; of several, it is not known which."""
        self.raced = self.raced or len(endings) > 1
        return endings[0]


@dataclass
class Scope:
    graph: PlannedGraph
    path: str
    around: Scope | None
    variables: dict[str, object]
    names: dict[str, object] = field(default_factory=dict)
    nodes: dict[str, object] = field(default_factory=dict)
    errors: dict[str, object] = field(default_factory=dict)
    ports: dict[str, str | None] = field(default_factory=dict)

    def at(self, node: str) -> str:
        return f"{node}:{self.path}" if self.path else node

    def inside(self, graph: PlannedGraph, container: str, key: object, names: dict[str, object]) -> Scope:
        step = f"{container}.{key}"
        return Scope(graph, f"{self.path}:{step}" if self.path else step, self, self.variables, names)

    def chain(self, part: str) -> dict[str, object]:
        """Return the names, nodes or errors that are visible here: inner ones hide outer ones."""
        outer = self.around.chain(part) if self.around else {}
        own: dict[str, object] = getattr(self, part)
        return {**outer, **own}


def failed(
    scope: Scope, planned: PlannedNode, code: str, kind: str = "", message: str = "", *, caught: bool = True
) -> Failed:
    error: dict[str, object] = {
        "code": code,
        "type": kind,
        "message": message,
        "retryable": False,
        "attempt": 0,
        "context_id": scope.at(planned.id),
    }
    return Failed(error, caught=caught)


# Expressions


def _names(world: World, scope: Scope, extra: Mapping[str, object]) -> dict[str, object]:
    return {
        **scope.chain("names"),
        "input": world.given,
        "nodes": scope.chain("nodes"),
        "errors": scope.chain("errors"),
        "vars": scope.variables,
        **extra,
    }


def value(
    world: World, scope: Scope, planned: PlannedNode, name: str, extra: Mapping[str, object] | None = None
) -> object:
    """Return the value of a field: of an expression, or of data with templates in it."""
    names = _names(world, scope, extra or {})
    if name in planned.expressions:
        return planned.expressions[name].evaluate(names, ExpressionTime())
    return planned.renderers[name].render(names, ExpressionTime(), Meter())


def holds(
    world: World, scope: Scope, planned: PlannedNode, name: str, extra: Mapping[str, object] | None = None
) -> bool:
    found = value(world, scope, planned, name, extra)
    if not isinstance(found, bool):
        raise ExpressionError("no condition", code="no_such_overload")
    return found


# Nodes: each gives a port and an output

Left = tuple[str, object]


def _condition(world: World, scope: Scope, planned: PlannedNode) -> Left:
    held = holds(world, scope, planned, "if")
    return ("true" if held else "false"), held


def _switch(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Switch)
    compared = value(world, scope, planned, "value")
    for index, case in enumerate(node.cases):
        if case.equals is UNSET:
            fits = holds(world, scope, planned, f"cases.{index}.if")
        else:
            fits = equal(compared, value(world, scope, planned, f"cases.{index}.equals"), Meter())
        if fits:
            return case.port, None
    return "default", None


def _set(world: World, scope: Scope, planned: PlannedNode) -> Left:
    values = value(world, scope, planned, "values")
    assert isinstance(values, dict)
    scope.variables.update(values)
    return "done", None


def _compute(world: World, scope: Scope, planned: PlannedNode) -> Left:
    return "done", value(world, scope, planned, "output")


def _merge(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Merge)
    if node.strategy == "custom":
        return "done", value(world, scope, planned, "output")
    arrived: dict[str, object] = {}
    for source in scope.graph.nodes:
        port = scope.ports.get(source.id)
        if port is not None and planned.index in source.targets(port):
            arrived[source.id] = scope.nodes[source.id]
    if node.strategy == "all":
        return "done", arrived
    world.raced = world.raced or len(arrived) > 1
    return "done", next(iter(arrived.values()))


def _end(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, End)
    output = value(world, scope, planned, "output")
    raise Ended(output, node.outcome, str(value(world, scope, planned, "reason")))


def call(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, CallNode)
    failures = 0
    while True:
        given = value(world, scope, planned, "input")
        try:
            return "done", world.behave(node.type, failures, given)
        except Exception as error:  # noqa: BLE001 - whatever a function raises
            failures += 1
            if not _is_tried_again(node.retry, error, failures):
                final = failed(scope, planned, "failed", type(error).__name__, str(error))
                final.error |= {"retryable": True, "attempt": failures}
                raise final from None


def _is_tried_again(retry: RetryDefinition | None, error: Exception, failures: int) -> bool:
    if retry is None or (retry.max_attempts != "forever" and failures >= retry.max_attempts):
        return False
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & set(retry.ignore):
        return False
    return not retry.retry_on or bool(kinds & set(retry.retry_on))


def _delay(_world: World, _scope: Scope, _planned: PlannedNode) -> Left:
    return "done", None


def _form(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Form)
    reply = world.reply(scope.at(node.id), may_be_late=node.deadline is not None)
    if reply is not None:
        return "done", reply.data
    if node.on_deadline == "fail":
        raise failed(scope, planned, "deadline_passed")
    return ("expired" if node.on_deadline == "expired" else "done"), None


def _approval(world: World, scope: Scope, planned: PlannedNode) -> Left:
    node = planned.node
    assert isinstance(node, Approval)
    reply = world.reply(scope.at(node.id), may_be_late=node.deadline is not None)
    if reply is None and node.on_deadline == "fail":
        raise failed(scope, planned, "deadline_passed")
    if reply is None and node.on_deadline == "expired":
        return "expired", None
    approved = reply.approved if reply is not None else node.on_deadline == "approve"
    return ("approved" if approved else "rejected"), {"approved": approved}


Visitor = Callable[["World", "Scope", "PlannedNode"], Left]

VISITORS: dict[type, Visitor] = {
    Condition: _condition,
    Switch: _switch,
    Set: _set,
    Compute: _compute,
    Merge: _merge,
    End: _end,
    Delay: _delay,
    Form: _form,
    Approval: _approval,
}
