"""When a pause ends by itself, as programs give it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

from layover.interface.bounds import CONDITION, SHORT, check_text, refused
from layover.interface.requests import ResumeTime
from layover.model.pause_ends import ResumeSignal

_LONGEST_CRON: Final = 200
_LONGEST_ZONE: Final = 64
_SIGNAL_FIELDS: Final = ("signal", "key", "filter")


class _Names(NamedTuple):
    """How the arguments are called."""

    at: str
    cron: str
    on: str


OF_RESUME: Final = _Names("at", "cron", "on")
OF_PAUSE: Final = _Names("until", "until_cron", "resume_on")


def resume_time(
    names: _Names,
    at: datetime | None,
    cron: str | None,
    zone: str | None,
    on: ResumeSignal | Mapping[str, object] | None,
) -> ResumeTime | None:
    """Return what was given, or None; refuse two at once, and a time without a zone."""
    check_text(names.cron, cron, _LONGEST_CRON, 1)
    check_text("zone", zone, _LONGEST_ZONE, 1)
    given = [name for name, value in zip(names, (at, cron, on), strict=True) if value is not None]
    if len(given) > 1:
        raise refused(given[0], f"give `{given[0]}` or `{given[1]}`, not both")
    if zone is not None and cron is None:
        raise refused("zone", f"it belongs to `{names.cron}`")
    if on is not None:
        return ResumeTime(on=_signal(names.on, on))
    if at is None:
        return None if cron is None else ResumeTime(cron=cron, zone=zone)
    moment: object = at  # Python passes whatever it is given
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise refused(names.at, f"{at!r:.100} is not a `datetime` with a time zone")
    return ResumeTime(at=at.astimezone(UTC).isoformat(timespec="milliseconds"))


def check_before(end: ResumeTime | None, *, running: bool = False) -> None:
    """Refuse what does not go with a pause before a node."""
    if end is not None or running:
        raise refused("before", "a pause before a node neither ends by itself nor begins at once")


def _signal(name: str, given: object) -> ResumeSignal:
    if isinstance(given, ResumeSignal):
        fields: Mapping[str, object] = {field: getattr(given, field) for field in _SIGNAL_FIELDS}
    elif isinstance(given, Mapping):
        fields = given
    else:
        raise refused(name, f"{given!r:.100} is not a mapping with a `signal`")
    unknown = [field for field in fields if field not in _SIGNAL_FIELDS]
    if unknown:
        raise refused(name, f"it has no field `{unknown[0]!s:.100}`: give `signal`, `key` and `filter`")
    values = {field: fields.get(field, "") for field in _SIGNAL_FIELDS}
    for field, value in values.items():
        if not isinstance(value, str):
            raise refused(f"{name}.{field}", f"{value!r:.100} is not a text")
        check_text(f"{name}.{field}", value, CONDITION if field == "filter" else SHORT, int(field == "signal"))
    return ResumeSignal(**{field: str(value) for field, value in values.items()})
