"""What a function returns: it is what its annotation says, and JSON all through, or the place is named where it is not.

A result fits if the JSON that is kept of it could be read as the annotated type; so whatever Python takes for that type
(a subclass, a whole number for a float, true for 1) is welcome.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Never, NoReturn, TypeVar, get_args, get_origin

import msgspec

from layover.core.errors import LayoverError
from layover.core.payloads import Reference
from layover.nodes.annotations import custom_types, fits_json, is_model
from layover.nodes.conversion import from_model, to_model, told, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANYTHING = (Any, object, NoReturn, Never)
_SCALARS = frozenset({str, int, float, bool})
_OPEN = (Any, object, str)  # what a first argument may be: the keys of a dict are text in any case
_DEEPEST = 200
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


class BadOutput(LayoverError):  # noqa: N818 - it says what the output is
    """A result that is not what its function promises, or that cannot be kept; another attempt would not help."""

    code = "bad_output"
    retryable = False


class Result:
    """What the annotation of one function's result asks for."""

    __slots__ = ("_enough", "_holder", "_models")

    def __init__(self, kind: object) -> None:
        known = fits_json(kind) is None
        self._enough = _enough_to_see(kind)
        self._holder = msgspec.defstruct("Held", [("value", kind)]) if known else None
        self._models = known and any(is_model(one) for one in custom_types(kind))

    def checked(self, value: object) -> object:
        """Return a result as it is kept, or raise what is wrong with it."""
        seen = type(value) is self._enough
        if seen and self._enough in _SCALARS:
            return value
        if self._models:
            value = _written(value)
        if self._holder is not None and not seen:
            try:
                msgspec.convert({"value": value}, self._holder, str_keys=True, dec_hook=to_model)
            except msgspec.ValidationError:
                self._read_again(value)
        _refuse_what_is_no_json(value)
        return value

    def _read_again(self, value: object) -> None:
        """Look whether what would be kept of a value fits."""
        kept = {"value": whole_numbers(_written(value), truths=True)}
        try:
            msgspec.convert(kept, self._holder, str_keys=True, dec_hook=to_model)
        except msgspec.ValidationError as error:
            raise BadOutput(told(error).replace("value", "result", 1)) from error


def result_of(kind: object) -> Result | None:
    """Return what to look at in the results of a function; None if its annotation says nothing about them."""
    return None if kind in _ANYTHING or isinstance(kind, TypeVar) else Result(kind)


def _enough_to_see(kind: object) -> object:
    """Return the class for which a type asks and nothing else, such as `str`, or dict for `dict[str, object]`."""
    if kind in (*_SCALARS, dict, list):
        return kind
    origin, inside = get_origin(kind), get_args(kind)
    return origin if origin in (dict, list) and inside[-1] in (Any, object) and inside[0] in _OPEN else None


def _written(value: object) -> Any:
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_write)
    except _NO_JSON:
        _refuse_what_is_no_json(value)
        raise


def _write(value: object) -> object:
    return value.as_value() if isinstance(value, Reference) else from_model(value)


_encode = msgspec.json.Encoder(enc_hook=_write).encode


def _refuse_what_is_no_json(value: object) -> None:
    """Raise which part of a value cannot be written; what is only too large or too deep is somebody else's to tell."""
    try:
        _encode(value)
    except _NO_JSON as error:
        found = _first_bad(value, "result", _DEEPEST)
        if found is not None:
            place, part = found
            raise BadOutput(f"{place}: {type(part).__name__} is no JSON") from error


def _first_bad(value: object, place: str, deepest: int) -> tuple[str, object] | None:
    """Return the innermost part of a value that cannot be written, and where it is; None if it lies too deep."""
    if not deepest:
        return None
    inside = list(_inside(value))
    for step, part in inside:
        try:
            _encode(part)
        except _NO_JSON:
            return _first_bad(part, f"{place}{step}", deepest - 1)
    return place, value


def _inside(value: object) -> Iterable[tuple[str, object]]:
    if isinstance(value, dict):
        return [(f".{key}" if isinstance(key, str) else f"[{key!r:.100}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    if isinstance(value, msgspec.Struct):
        return [(f".{name}", getattr(value, name)) for name in value.__struct_fields__]
    if dataclasses.is_dataclass(value):
        return [(f".{one.name}", getattr(value, one.name, None)) for one in dataclasses.fields(value)]
    return ()
