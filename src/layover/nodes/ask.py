"""What a function asks for: types become JSON Schemas for people to fill in, and answers become values of the type."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

import msgspec

from layover.core.definitions.durations import parse_duration
from layover.nodes.journal import BadUse

Length: TypeAlias = "str | int"  # `2d`, or milliseconds

_LONGEST = parse_duration("36500d")
_REFERENCE = "#/$defs/"


def schema_for(wanted: object) -> object:
    """Return the JSON Schema of what is asked for: one that is given as such, or that of a type."""
    if isinstance(wanted, Mapping):
        return wanted
    try:
        return _unfolded(msgspec.json.schema(wanted))
    except (TypeError, ValueError) as error:
        reason = str(error).split("\n", maxsplit=1)[0]
        raise BadUse(f"{wanted!r:.200} can be neither filled in as a form nor is it a JSON Schema: {reason}") from error


def answer_as(wanted: object, key: str, answer: object) -> object:
    """Return an answer as what was asked for."""
    if isinstance(wanted, Mapping):
        return answer
    with suppress(msgspec.ValidationError):
        return msgspec.convert(answer, type=wanted)
    try:
        # To a JSON Schema, `1.0` is an integer: the strict way would refuse what the person was allowed to say.
        return msgspec.convert(answer, type=wanted, strict=False)
    except msgspec.ValidationError as error:
        raise BadUse(f"The answer `{key}` is no {wanted!r:.200}: {error}", code="bad_answer") from error


def milliseconds(length: Length) -> int:
    """Return a length of time that is given as a text such as `2d`, or in milliseconds."""
    if isinstance(length, str):
        try:
            return parse_duration(length)
        except ValueError as error:
            raise BadUse(f"`{length:.100}` is no length of time: {error}.") from error
    if type(length) is not int or not 0 <= length <= _LONGEST:
        raise BadUse(f"{length!r:.100} is no length of time: give a text such as `2d`, or milliseconds from 0 on.")
    return length


def _unfolded(schema: dict[str, object]) -> dict[str, object]:
    """Return a schema that says at its top what it is, rather than where to find it: forms are drawn from that."""
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
