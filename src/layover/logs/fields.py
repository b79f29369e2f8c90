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
    """A message of ours: its event, and each field with its conversion and the number of its arguments."""

    event: str
    fields: tuple[tuple[str, str, int], ...]


def event_of(record: LogRecord) -> str:
    """Return the name of an event of ours, or else the message."""
    template = _template_of(record)
    return message_of(record) if template is None else template.event


def message_of(record: LogRecord) -> str:
    """Return the message of a record; one that does not fit its arguments is told beside them."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the standard would print all of it to standard error, with its secrets
        return f"{record.msg} {record.args!r}"


def fields_of(record: LogRecord) -> dict[str, object]:
    """Return the fields of a record: those of its message, and what was passed as `extra`."""
    fields: dict[str, object] = {}
    template = _template_of(record)
    if template is not None and isinstance(record.args, tuple):
        left = iter(record.args)
        for name, conversion, count in template.fields:
            fields[name] = _value(conversion, left, count)
    return {**extra_of(record), **fields}


def extra_of(record: LogRecord) -> dict[str, object]:
    """Return what was passed as `extra`."""
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


def _template_of(record: LogRecord) -> EventTemplate | None:
    if not (record.name == "layover" or record.name.startswith("layover.")) or not isinstance(record.msg, str):
        return None
    template = template_of(record.msg)
    if template is None or isinstance(record.args, dict):
        return None
    count = sum(count for _, _, count in template.fields)
    return template if len(record.args or ()) == count else None


@lru_cache(maxsize=512)
def template_of(message: str) -> EventTemplate | None:
    """Take a message of ours apart, before its arguments are put in; None if it is not made like that."""
    if _TEMPLATE.fullmatch(message) is None:
        return None
    event, *rest = message.split(" ")
    named = (one.partition("=") for one in rest)
    return EventTemplate(
        event, tuple((name, conversion, len(_CONVERSION.findall(conversion))) for name, _, conversion in named)
    )
