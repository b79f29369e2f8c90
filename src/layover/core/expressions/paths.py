"""Reading data: `nodes.review.comment` as one step.

A path from a root is compiled to a single closure that walks plain dicts. Everything else (a Mapping that is not a
dict, a missing key, a value without fields) takes the slow way, which also makes the error message: the whole path as
it is written, and the missing part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from layover.core.expressions.errors import ExpressionError, shift_error
from layover.core.expressions.hints import for_field
from layover.core.expressions.syntax import Has, Index, Literal_, Name, Node, Select, path_text
from layover.core.expressions.values import kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.expressions.frame import Frame, Run

_ABSENT: Final = object()


def steps_of(node: Node) -> tuple[Node, list[Node]]:
    """Return the root of a path of fields, and each step from there, in order."""
    steps: list[Node] = []
    while isinstance(node, Select) or (isinstance(node, Index) and _key(node) is not None):
        steps.append(node)
        node = node.operand
    return node, steps[::-1]


def from_root(name: Name, steps: list[Node]) -> Run:
    """Return a function that reads a path from a root name."""
    if len(steps) == 1:
        return _field_of_root(name, steps[0])
    root = name.name
    walk = walker(steps)

    def read(frame: Frame) -> object:
        try:
            value = frame.context[root]
        except KeyError:
            raise _no_root(name) from None
        return walk(value)

    return read


def reader(name: Name, steps: list[Node], offset: int = 0) -> Callable[[Mapping[str, object]], object]:
    """Return a function that reads a path straight from the data, for templates that are nothing but a path.

    The path begins at an offset in a longer text, which is the offset of an error.
    """
    root = name.name
    keyed = [(key_of(step), step) for step in steps]

    def read(context: Mapping[str, object]) -> object:
        try:
            value = context[root]
        except KeyError:
            raise shift_error(_no_root(name), offset) from None
        try:
            for key, step in keyed:
                value = value[key] if type(value) is dict and key in value else select(value, key, step)
        except ExpressionError as error:
            raise shift_error(error, offset) from None
        return value

    return read


def _field_of_root(name: Name, step: Node) -> Run:
    """Return a function that reads `root.field`, the most common path by far, in one piece."""
    root, field = name.name, key_of(step)

    def read(frame: Frame) -> object:
        try:
            value = frame.context[root]
        except KeyError:
            raise _no_root(name) from None
        if type(value) is dict and field in value:
            return value[field]
        return select(value, field, step)

    return read


def walker(steps: list[Node]) -> Callable[[object], object]:
    """Return a function that walks some steps from any value."""
    keyed = [(key_of(step), step) for step in steps]

    def walk(value: object) -> object:
        for key, step in keyed:
            value = value[key] if type(value) is dict and key in value else select(value, key, step)
        return value

    return walk


def select(value: object, key: str, step: Node) -> object:
    """Return the field of a step, or raise an error with the path as it is written."""
    if isinstance(value, Mapping):
        found = value.get(key, _ABSENT)
        if found is _ABSENT:
            raise missing(step)
        return found
    raise unselectable(value, step)


def key_of(step: Node) -> str:
    """Return the field that a step reads."""
    if isinstance(step, Select | Has):
        return step.field
    key = _key(step)
    if key is None:
        raise TypeError(step)
    return key


def missing(step: Node) -> ExpressionError:
    """Return the error for a field that is not there."""
    key = key_of(step)
    return ExpressionError(
        f"`{path_text(step)}`: there is no `{key}` in `{path_text(_operand(step))}`.",
        code="no_such_key",
        offset=step.offset,
    )


def unselectable(value: object, step: Node) -> ExpressionError:
    """Return the error for a field of a value without fields; for null, the field is missing."""
    place = f"`{path_text(step)}`: `{path_text(_operand(step))}` is"
    if value is None:
        return ExpressionError(f"{place} null and has no fields.", code="no_such_key", offset=step.offset)
    return ExpressionError(
        f"{place} of kind {kind(value)} and has no fields.{for_field(key_of(step), path_text(_operand(step)))}",
        code="no_such_overload",
        offset=step.offset,
    )


def _key(node: Node) -> str | None:
    if isinstance(node, Index) and isinstance(node.index, Literal_) and type(node.index.value) is str:
        return node.index.value
    return None


def _operand(step: Node) -> Node:
    return step.operand if isinstance(step, Select | Has | Index) else step


def _no_root(name: Name) -> ExpressionError:
    return ExpressionError(f"There is no `{name.name}` here.", code="no_such_key", offset=name.offset)
