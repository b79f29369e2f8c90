"""Questions of functions: types become JSON Schemas for forms, and answers become values of the type."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

import msgspec

from layover.core.definitions.durations import parse_duration
from layover.errors import BadUse

Length: TypeAlias = "str | timedelta"  # such as `2d`

_LONGEST = parse_duration("36500d")
_MILLISECOND = timedelta(milliseconds=1)
_REFERENCE = "#/$defs/"


def schema_for(wanted: object) -> object:
    """Return the JSON Schema for a question: a given one, or that of a type."""
    if isinstance(wanted, Mapping):
        return wanted
    try:
        return _unfolded(msgspec.json.schema(wanted))
    except (TypeError, ValueError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise BadUse(f"{wanted!r:.200} is neither a type for a form nor a JSON Schema: {reason}") from error


def answer_as(wanted: object, key: str, answer: object) -> object:
    """Return an answer as a value of the wanted type."""
    if isinstance(wanted, Mapping):
        return answer
    with suppress(msgspec.ValidationError):
        return msgspec.convert(answer, type=wanted)
    try:
        # To a JSON Schema, `1.0` is an integer: a strict conversion would refuse an answer that the form allowed.
        return msgspec.convert(answer, type=wanted, strict=False)
    except msgspec.ValidationError as error:
        raise BadUse(f"The answer `{key}` does not fit {wanted!r:.200}: {error}", code="bad_answer") from error


def milliseconds(length: Length) -> int:
    """Return a duration in milliseconds."""
    if isinstance(length, str):
        try:
            return parse_duration(length)
        except ValueError as error:
            raise BadUse(f"`{length:.100}` is not a duration: {error}.") from error
    given: object = length  # Python passes whatever it is given
    found = given // _MILLISECOND if isinstance(given, timedelta) else -1
    if not 0 <= found <= _LONGEST:
        raise BadUse(f"{length!r:.100} is not a duration: give a text such as `2d`, or a timedelta from 0 on.")
    return found


def _unfolded(schema: dict[str, object]) -> dict[str, object]:
    """Return a schema without a reference at its top, so that a form can be made from it."""
    parts = schema.get("$defs")
    where = schema.get("$ref")
    if not isinstance(parts, dict) or not isinstance(where, str):
        return schema
    top = parts[where.removeprefix(_REFERENCE)]
    shallow = {**top, "$defs": parts}
    others = {name: part for name, part in parts.items() if part is not top}
    if not _refers_to(where, [top, others]):
        shallow["$defs"] = others
    if not shallow["$defs"]:
        del shallow["$defs"]
    return shallow


def _refers_to(where: str, part: object) -> bool:
    if isinstance(part, dict):
        return part.get("$ref") == where or any(_refers_to(where, one) for one in part.values())
    return isinstance(part, list) and any(_refers_to(where, one) for one in part)
