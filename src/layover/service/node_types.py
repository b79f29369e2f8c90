"""What a node may be: the types that are built in, and the functions of the engine that answers."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from layover.core.definitions.node_types import TYPES, CallNode, ports_of_type
from layover.model.workflows import NodeType

if TYPE_CHECKING:
    from collections.abc import Collection


def node_types(functions: Collection[str]) -> tuple[NodeType, ...]:
    """Return the types that are built in, in their order, then functions by name."""
    built_in = [
        NodeType(
            name=name,
            kind="built_in",
            description=cleandoc(struct.__doc__ or "").partition("\n\n")[0].replace("\n", " "),
            ports=ports_of_type(struct),
            schema=f"{name}_node",
        )
        for name, struct in TYPES.items()
    ]
    called = [
        NodeType(name=name, kind="function", ports=ports_of_type(CallNode), schema="function_node")
        for name in sorted(set(functions) - TYPES.keys())
    ]
    return (*built_in, *called)
