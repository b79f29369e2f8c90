"""The event by which an execution begins with results of another one."""

from __future__ import annotations

from typing import Literal

import msgspec

from layover.core.engine.event_base import DomainEvent, Error


class CarriedNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A result that a fork takes over: how a node outside all scopes was left."""

    type: str
    status: Literal["completed", "failed"] = "completed"
    output: object = None
    port: str
    error: Error | None = None


class CarriedSet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Variables that a node had set in the origin; without a node, an operator."""

    node: str = ""
    values: dict[str, object]


class ExecutionForked(DomainEvent, frozen=True, kw_only=True, tag="execution_forked"):
    """The execution begins with results of its `origin`, as they were after the event of a number.

    They are in the order in which they came about. With a `node`, that is where it goes on from. A result counts once
    the start has come, and only if all before it in the graph counts as well.
    """

    origin: str
    at: int
    from_node: str = ""
    nodes: dict[str, CarriedNode] = {}
    sets: tuple[CarriedSet, ...] = ()
    reason: str = ""
    by: str | None = None
