"""Every field of a part that may hold an expression or a template.

Found by the kinds of the model's fields, so that the checker and the compiler agree without a list of their own. The
path of a field (`if`, `cases.0.if`, `approvers.users.1`) is its address within the node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, inspect

from layover.core.definitions.kinds import fields_of, kind_of
from layover.core.definitions.model import DefinitionPart, GraphDefinition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.tree import Tree

_LIVING = frozenset({"expression", "template", "value", "values", "span"})


class ExpressionField(msgspec.Struct, frozen=True):
    """One field that holds an expression, a template, or data with templates in it.

    `part` is the innermost part around it, and `field` its path within that part.
    """

    path: str
    kind: str
    value: object
    part: DefinitionPart
    field: str

    @property
    def is_expression(self) -> bool:
        """Whether the value is one bare expression."""
        return self.kind == "expression"


def expression_fields(part: DefinitionPart, prefix: str = "") -> Iterator[ExpressionField]:
    """Return the expression fields of a part and of the parts in it; nested graphs have their own."""
    for attribute, name, kind in _fields(type(part)):
        value = getattr(part, attribute)
        if value is None or value is UNSET or isinstance(value, GraphDefinition):
            continue
        if isinstance(value, tuple):
            for index, item in enumerate(value):
                yield from _slot(part, f"{name}.{index}", kind, item, prefix)
        else:
            yield from _slot(part, name, kind, value, prefix)


def _slot(part: DefinitionPart, field: str, kind: str | None, value: object, prefix: str) -> Iterator[ExpressionField]:
    if isinstance(value, DefinitionPart):
        if not any(isinstance(getattr(value, name), GraphDefinition) for name in value.__struct_fields__):
            yield from expression_fields(value, f"{prefix}{field}.")
    elif kind in _LIVING and (kind != "span" or isinstance(value, str)):
        yield ExpressionField(f"{prefix}{field}", str(kind), value, part, field)


def find(tree: Tree, field: str) -> Tree | None:
    """Return the tree of a field within the tree of its part; None if the field was not written and has its default."""
    at: Tree | None = tree
    for step in field.split("."):
        if at is None:
            return None
        at = at.value[int(step)] if isinstance(at.value, list) else at.get(step)
    return at


_FIELDS: dict[type[DefinitionPart], tuple[tuple[str, str, str | None], ...]] = {}


def _fields(struct: type[DefinitionPart]) -> tuple[tuple[str, str, str | None], ...]:
    known = _FIELDS.get(struct)
    if known is None:
        known = _FIELDS[struct] = tuple((f.name, f.encode_name, _kind(f.type)) for f in fields_of(struct))
    return known


def _kind(type_: inspect.Type) -> str | None:
    """Return the first kind with expressions or templates among the members and items of a type."""
    if isinstance(type_, inspect.VarTupleType):
        return _kind(type_.item_type)
    if isinstance(type_, inspect.UnionType):
        kinds = [_kind(member) for member in type_.types]
        return next((kind for kind in kinds if kind in _LIVING), None)
    return kind_of(type_)
