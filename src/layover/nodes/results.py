"""Results of functions: checked against their annotation and converted to JSON; a misfit is reported with its place.

A result fits if its JSON could be read as the annotated type; so everything that Python accepts for that type (a
subclass, a whole number for a float, true for 1) is accepted.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Never, NoReturn, TypeVar, get_args, get_origin

import msgspec

from layover.core.payloads import Reference
from layover.errors import LayoverError
from layover.nodes.annotations import custom_types, fits_json, is_model
from layover.nodes.conversion import from_model, misfit_message, to_model, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANYTHING = (Any, object, NoReturn, Never)
_SCALARS = frozenset({str, int, float, bool})
_OPEN = (Any, object, str)  # possible first arguments: the keys of a dict are text anyway
_DEEPEST = 200
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


class BadOutput(LayoverError):  # noqa: N818 - it says what the output is
    """A result that does not fit its annotation, or that cannot be stored; another attempt would not help."""

    code = "bad_output"
    retryable = False


class Result:
    """The check of one function's results, from its annotation."""

    __slots__ = ("_enough", "_holder", "_models")

    def __init__(self, kind: object) -> None:
        known = fits_json(kind) is None
        self._enough = _instance_check(kind)
        self._holder = msgspec.defstruct("Held", [("value", kind)]) if known else None
        self._models = known and any(is_model(one) for one in custom_types(kind))

    def checked(self, value: object) -> object:
        """Return a result as JSON data, or raise the misfit."""
        seen = type(value) is self._enough
        if seen and self._enough in _SCALARS:
            return value
        if self._models:
            value = _to_builtins(value)
        if self._holder is not None and not seen:
            try:
                msgspec.convert({"value": value}, self._holder, str_keys=True, dec_hook=to_model)
            except msgspec.ValidationError:
                self._read_again(value)
        _refuse_non_json(value)
        return value

    def _read_again(self, value: object) -> None:
        """Check that the JSON of a value fits."""
        kept = {"value": whole_numbers(_to_builtins(value), truths=True)}
        try:
            msgspec.convert(kept, self._holder, str_keys=True, dec_hook=to_model)
        except msgspec.ValidationError as error:
            raise BadOutput(misfit_message(error).replace("value", "result", 1)) from error


def result_of(kind: object) -> Result | None:
    """Return the check of a function's results; None if its annotation says nothing about them."""
    return None if kind in _ANYTHING or isinstance(kind, TypeVar) else Result(kind)


def _instance_check(kind: object) -> object:
    """Return the class if an instance check is enough: `str`, or dict for `dict[str, object]`."""
    if kind in (*_SCALARS, dict, list):
        return kind
    origin, inside = get_origin(kind), get_args(kind)
    return origin if origin in (dict, list) and inside[-1] in (Any, object) and inside[0] in _OPEN else None


def _to_builtins(value: object) -> Any:
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_write)
    except _NO_JSON:
        _refuse_non_json(value)
        raise


def _write(value: object) -> object:
    return value.as_value() if isinstance(value, Reference) else from_model(value)


_encode = msgspec.json.Encoder(enc_hook=_write).encode


def _refuse_non_json(value: object) -> None:
    """Raise which part of a value is not JSON; values that are too large or too deep are reported elsewhere."""
    try:
        _encode(value)
    except _NO_JSON as error:
        found = _first_bad(value, "result", _DEEPEST)
        if found is not None:
            place, part = found
            raise BadOutput(f"{place}: {type(part).__name__} is not a JSON type") from error


def _first_bad(value: object, place: str, deepest: int) -> tuple[str, object] | None:
    """Return the innermost part of a value that is not JSON, and its place; None if it is too deep to find."""
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
