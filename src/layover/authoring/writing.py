"""From the names that Python allows to those of the format."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from layover.authoring.errors import BadBuild
from layover.authoring.parts import Part
from layover.authoring.shapes import schema_of
from layover.core.definitions.durations import format_duration
from layover.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection

_SCHEMAS = frozenset({"schema"})
_MILLISECOND = timedelta(milliseconds=1)


def to_format(what: str, given: Mapping[str, object], known: Collection[str]) -> dict[str, object]:
    """Return the fields of a node in the words of the format; TypeError for an unknown field."""
    fields: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{what} has no field `{name}`.{did_you_mean(name, known)}")
        if name == "extra":
            fields |= _extra(value)
        elif name == "position" and isinstance(value, tuple | list) and len(value) == 2:
            fields["position"] = {"x": value[0], "y": value[1]}
        elif name not in ("users", "roles"):
            fields[name.rstrip("_")] = schema_of(value) if name in _SCHEMAS else plain_part(value)
    people = {name: given[name] for name in ("users", "roles") if name in given}
    if people and "approvers" in given:
        raise BadBuild(f"{what} has `approvers` already: put `{next(iter(people))}` into them.")
    return {**fields, "approvers": people} if people else fields


def plain_part(value: object) -> object:
    """Return a part, a duration or a list of them in the words of the format; any other value as it is."""
    if isinstance(value, Part):
        parts = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: plain_part(part) for name, part in parts.items() if part is not None}
    if isinstance(value, timedelta):
        return _length(value)
    if isinstance(value, tuple | list):
        return [plain_part(one) for one in value] if any(isinstance(one, Part | timedelta) for one in value) else value
    return value


def _length(value: timedelta) -> str:
    if value < timedelta():
        raise BadBuild(f"{value} is not a duration: it is negative.")
    return format_duration(value // _MILLISECOND)


def _extra(value: object) -> dict[str, object]:
    """Return the fields of other programs, which begin with `x-` so that they never collide with ours."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and key.startswith("x-") for key in value):
        raise BadBuild("`extra` must be a mapping whose keys begin with `x-`.")
    return dict(value)
