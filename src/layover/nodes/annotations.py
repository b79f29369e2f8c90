"""The annotations of a function, be they classes or text, and whether JSON can become those types."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Iterable
from types import GenericAlias, SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from layover.errors import LayoverError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from layover.nodes.conversion import Model

_CONTEXT = re.compile(r"(?:Optional\[)?(?:\w+\.)*((?:Sync)?NodeContext)(?: \| None|\])?").fullmatch


class BadFunction(LayoverError):  # noqa: N818 - it says what the function is
    """A function that cannot be a node."""

    code = "bad_function"


def context_kind(annotation: object) -> str | None:
    """Return the kind of context that a parameter takes, or None; its annotation may be a class or a text."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation).removeprefix("typing.")
    found = _CONTEXT(text)
    return found[1] if found else None


def hints_of(name: str, function: Callable[..., object], seen: Mapping[str, object]) -> dict[str, object]:
    """Return the types of a function's parameters (and of the result, as `return`); contexts are left out.

    `seen` are names visible to the function besides those of its module: the locals of the function that defines it.
    """
    target = _written_as(function)
    known = getattr(target, "__globals__", {})
    inside = {**_closure(target), **seen}
    hints: dict[str, object] = {}
    for parameter, annotation in getattr(target, "__annotations__", {}).items():
        if context_kind(annotation) is not None:
            continue
        one = SimpleNamespace(__annotations__={parameter: annotation})
        try:
            hints |= typing.get_type_hints(one, known, inside, include_extras=True)
        except Exception as error:
            where = "its result" if parameter == "return" else f"its parameter `{parameter}`"
            raise BadFunction(
                f"`{name}` cannot be a node: the annotation `{annotation}` of {where} cannot be read: {error}. Its "
                "names must exist at run time, and not only for a type checker; names that are local to a "
                "function are only seen by `@node`."
            ) from error
    return {parameter: _as_list(kind) for parameter, kind in hints.items()}


def locals_of(function: Callable[..., object], found: Mapping[str, object]) -> dict[str, object]:
    """Return the local names that the annotations of a function mention."""
    annotations = getattr(_written_as(function), "__annotations__", {}).values()
    words = [word for one in annotations if isinstance(one, str) for word in re.findall(r"\w+", one)]
    return {word: found[word] for word in words if word in found}


def fits_json(kind: object) -> str | None:
    """Return why no JSON value can become a type, or None if one can."""
    try:
        odd = next((one for one in custom_types(kind) if one is not object and not is_model(one)), None)
    except TypeError as error:
        return str(error).split("\n", maxsplit=1)[0]
    return None if odd is None else f"JSON cannot be converted to {odd.__name__}"


def custom_types(kind: object) -> Iterator[type]:
    """Yield the classes in a type that msgspec does not know; TypeError if it cannot work with the type at all."""
    return (one.cls for one in _parts(kind) if isinstance(one, msgspec.inspect.CustomType))


def is_model(kind: object) -> typing.TypeGuard[type[Model]]:
    """Return whether a class is a pydantic model."""
    return isinstance(kind, type) and hasattr(kind, "model_validate") and hasattr(kind, "model_json_schema")


def _as_list(kind: object) -> object:
    """Return the list type for an iterable or a sequence; any other type as it is."""
    if kind is Iterable or typing.get_origin(kind) is Iterable:
        return GenericAlias(list, typing.get_args(kind) or (Any,))
    return kind


def _parts(kind: object) -> Iterator[msgspec.inspect.Type]:
    """Yield all types inside a type, itself included; a type may contain itself."""
    rest: list[object] = [msgspec.inspect.type_info(kind)]
    seen: set[int] = set()
    while rest:
        part = rest.pop()
        if isinstance(part, tuple):
            rest.extend(part)
        elif isinstance(part, msgspec.inspect.Type | msgspec.inspect.Field) and id(part) not in seen:
            seen.add(id(part))
            if isinstance(part, msgspec.inspect.Type):
                yield part
            rest.extend(getattr(part, name) for name in part.__struct_fields__)


def _written_as(function: Callable[..., object]) -> Any:
    """Return the innermost function: behind decorators, partial calls and callable objects."""
    target: Any = inspect.unwrap(function)
    while isinstance(target, functools.partial):
        target = inspect.unwrap(target.func)
    if inspect.isroutine(target) or isinstance(target, type):
        return target
    return inspect.unwrap(type(target).__call__)


def _closure(function: object) -> dict[str, object]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found: dict[str, object] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True) if code is not None and cells else ():
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    return found
