"""Every part of a definition, with its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions import trigger_types
from layover.core.definitions.model import (
    CanvasPosition,
    ConcurrencyDefinition,
    Definition,
    DefinitionPart,
    DeliveredSignal,
    Edge,
    GraphDefinition,
    HookSecret,
    InlineDestination,
    MessageDefinition,
    Node,
    NotifyDefinition,
    RetryDefinition,
    TriggerDefinition,
    WorkflowSettings,
)
from layover.core.definitions.node_types import (
    BUILT_IN,
    Branch,
    CallNode,
    Case,
    EscalationDefinition,
    PeopleDefinition,
    SignalDefinition,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Step = tuple[str, int | None]
Path = tuple[Step, ...]


def parts_of(part: DefinitionPart, path: Path = ()) -> Iterator[tuple[Path, DefinitionPart]]:
    """Return a part and all parts in it; a step of a path is a field and, for a list, the index in it."""
    yield path, part
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, DefinitionPart):
            yield from parts_of(value, (*path, (field, None)))
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, DefinitionPart):
                    yield from parts_of(item, (*path, (field, index)))


_PARTS: tuple[type[DefinitionPart], ...] = (
    *(Definition, GraphDefinition, Edge, CanvasPosition, RetryDefinition, WorkflowSettings, ConcurrencyDefinition),
    *(Case, Branch, PeopleDefinition, EscalationDefinition, SignalDefinition),
    *BUILT_IN,
    CallNode,
    *(DeliveredSignal, trigger_types.CatchUpDefinition, HookSecret, trigger_types.HookVerification),
    *trigger_types.BUILT_IN,
    *(NotifyDefinition, MessageDefinition, InlineDestination),
)


def wanted_fields() -> set[tuple[str, str]]:
    """Return all fields of the model, each with the class that it was declared in."""
    return {(declaring(struct, field), field) for struct in _PARTS for field in struct.__struct_fields__}


def declaring(struct: type[DefinitionPart], field: str) -> str:
    """Return the class that a field was declared in: fields that nodes share need not be seen in each."""
    bases = [base for base in reversed(struct.__mro__) if issubclass(base, DefinitionPart)]
    return next(base.__name__ for base in bases if base is not DefinitionPart and field in base.__struct_fields__)


def said(part: DefinitionPart) -> Iterator[str]:
    """Return the fields of a part that differ from their defaults, and those that always count."""
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        always = field.required or (field.name == "type" and isinstance(part, Node | TriggerDefinition))
        free = field.default is msgspec.UNSET and value is not msgspec.UNSET
        if always or free or value not in (field.default, None, (), {}, msgspec.UNSET):
            yield field.name
