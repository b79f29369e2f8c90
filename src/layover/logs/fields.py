"""What a record says, as an event and its fields.

Our own lines are templates such as `"lease_lost execution=%s epoch=%d"`: any handler prints them as they are, and here
they are taken apart again, so that a value keeps its type and is quoted where it has to be. The message of any other
line is its event. Fields of a record are followed by what was passed as `extra`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from logging import LogRecord
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.logs.context import IDS, RECORDED

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATE: Final = re.compile(r"[a-z][a-z0-9_]*(?: [a-z_]+=[^ ]+)*")
_CONVERSION: Final = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")
_WHOLE: Final = frozenset({"%s", "%d"})  # they keep the type of their value
_STANDARD: Final = frozenset(LogRecord("", 0, "", 0, "", (), None).__dict__) | {
    *("asctime", "message", "taskName", RECORDED),
}


class EventTemplate(NamedTuple):
    """A message of ours: its event, and its fields, each with its conversion and the number of its arguments."""

    event: str
    names: tuple[str, ...]
    conversions: tuple[tuple[str, int], ...]
    arguments: int  # of all fields
    is_plain: bool  # each field is one argument, as it is


def message_of(record: LogRecord) -> str:
    """Return the message of a record; one that does not fit its arguments is told beside them."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the standard would print all of it to standard error, with its secrets
        return f"{record.msg} {record.args!r}"


def fields_of(record: LogRecord, template: EventTemplate | None) -> dict[str, object]:
    """Return the fields of a record: those of its message, and what was passed as `extra`."""
    fields = extra_of(record)
    if template is None:
        return fields
    arguments: tuple[object, ...] = record.args if isinstance(record.args, tuple) else ()
    if template.is_plain:
        fields.update(zip(template.names, arguments, strict=True))
        return fields
    left = iter(arguments)
    for name, (conversion, count) in zip(template.names, template.conversions, strict=True):
        fields[name] = _value(conversion, left, count)
    return fields


def extra_of(record: LogRecord) -> dict[str, object]:
    """Return what was passed as `extra`."""
    if record.__dict__.keys() <= _STANDARD:  # by far most lines
        return {}
    extra = {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
    if extra:
        ids = record.__dict__.get(RECORDED, {})
        for name in IDS:
            if name in extra and extra[name] == ids.get(name, ""):  # by a `CallFilter`
                del extra[name]
    return extra


def _value(conversion: str, left: Iterator[object], count: int) -> object:
    values = tuple(next(left) for _ in range(count))
    return values[0] if conversion in _WHOLE else conversion % values


def template_of(record: LogRecord) -> EventTemplate | None:
    """Return what a line of ours is made by; None for any other line."""
    message = record.msg
    if not (record.name.startswith("layover.") or record.name == "layover") or not isinstance(message, str):
        return None
    template = parsed_template(message)
    arguments = record.args or ()
    fits = template is not None and isinstance(arguments, tuple) and len(arguments) == template.arguments
    return template if fits else None


@lru_cache(maxsize=512)
def parsed_template(message: str) -> EventTemplate | None:
    """Take a message of ours apart, before its arguments are put in; None if it is not made like that."""
    if _TEMPLATE.fullmatch(message) is None:
        return None
    event, *rest = message.split(" ")
    named = [one.partition("=") for one in rest]
    conversions = tuple((conversion, len(_CONVERSION.findall(conversion))) for _, _, conversion in named)
    return EventTemplate(
        event,
        tuple(name for name, _, _ in named),
        conversions,
        sum(count for _, count in conversions),
        is_plain=all(conversion in _WHOLE for conversion, _ in conversions),
    )
