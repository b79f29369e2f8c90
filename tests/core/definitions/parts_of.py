"""Every part of a definition, with the fields that say where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions.model import Concurrency, Definition, Edge, Graph, Node, Part, Position, Retry, Settings
from layover.core.definitions.node_types import (
    BUILT_IN,
    AwaitedSignal,
    Branch,
    Call,
    Case,
    Escalation,
    People,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Step = tuple[str, int | None]
Path = tuple[Step, ...]


def parts_of(part: Part, path: Path = ()) -> Iterator[tuple[Path, Part]]:
    """Return a part and all parts in it; a step of a path is a field and, if it is a list, the place in it."""
    yield path, part
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, Part):
            yield from parts_of(value, (*path, (field, None)))
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Part):
                    yield from parts_of(item, (*path, (field, index)))


_PARTS: tuple[type[Part], ...] = (
    *(Definition, Graph, Edge, Position, Retry, Settings, Concurrency),
    *(Case, Branch, People, Escalation, AwaitedSignal),
    *BUILT_IN,
    Call,
)


def wanted_fields() -> set[tuple[str, str]]:
    """Return all fields of the model, each with the class that it was declared in."""
    return {(declaring(struct, field), field) for struct in _PARTS for field in struct.__struct_fields__}


def declaring(struct: type[Part], field: str) -> str:
    """Return the class that a field was declared in: what nodes have in common need not be seen in each."""
    bases = [base for base in reversed(struct.__mro__) if issubclass(base, Part)]
    return next(base.__name__ for base in bases if base is not Part and field in base.__struct_fields__)


def said(part: Part) -> Iterator[str]:
    """Return the fields of a part that say something else than their defaults, and those that always speak."""
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        always = field.required or (field.name == "type" and isinstance(part, Node))
        free = field.default is msgspec.UNSET and value is not msgspec.UNSET
        if always or free or value not in (field.default, None, (), {}, msgspec.UNSET):
            yield field.name
