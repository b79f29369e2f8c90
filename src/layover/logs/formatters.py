"""Two forms of a log line: `key=value` for people, and JSON for machines. Credentials are masked in both.

Both say the event first, then its fields, then the ids of the call or request. An id wins over a field of the same
name, which is then called `extra_…`: a search for an execution finds all of its lines.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from logging import CRITICAL, DEBUG, ERROR, INFO, WARNING, Formatter, LogRecord
from typing import TYPE_CHECKING, Final

import msgspec

from layover.logs.context import IDS, ids_of
from layover.logs.fields import fields_of, message_of, template_of
from layover.redaction import has_secrets, mask_secrets, redact

if TYPE_CHECKING:
    from layover.logs.fields import EventTemplate

_PLAIN: Final = re.compile(r"[^\s\"'=\\\x00-\x1f\x7f-\x9f]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # also what turns text around
_ASIS: Final = (int, float, type(None))  # bool is one of them
_OURS: Final = frozenset(IDS) | {"instance", "epoch", "point", "kind", "code", "service"}  # names and ids that we made
_COLOURS: Final = {DEBUG: "2", INFO: "36", WARNING: "33", ERROR: "31", CRITICAL: "1;31"}
_DETAILS: Final = {"traceback", "stack"}  # they have lines of their own
_LONGEST_TRACE: Final = 32_000  # characters

_json: Final = msgspec.json.Encoder(enc_hook=str)


class TextFormatter(Formatter):
    """A line for people: time, level, event, `key=value`."""

    def __init__(self, *, colour: bool = False) -> None:
        super().__init__()
        self.colour = colour

    def format(self, record: LogRecord) -> str:
        """Return the line; a traceback follows on lines of its own."""
        template = template_of(record)
        event = redact(template.event) if template is not None else _one_line(redact(message_of(record)))
        level = f"{record.levelname.lower():<7}"
        if self.colour:
            level = f"\x1b[{_COLOURS.get(record.levelno, '0')}m{level}\x1b[0m"
            event = f"\x1b[1m{event}\x1b[0m"
        fields = _fields(record, template)
        details = [str(fields.pop(name)) for name in _DETAILS if name in fields]
        shown = [f" {name}={field_text(value)}" for name, value in fields.items() if value not in (None, "")]
        line = f"{_moment(record)} {level} {event}{''.join(shown)} logger={record.name}"
        return "\n".join([line, *map(_indented, details)]) if details else line


class JsonFormatter(Formatter):
    """A line for machines: one JSON object, with `event`, `time`, `level` and `logger`, then fields and ids."""

    def format(self, record: LogRecord) -> str:
        """Return the object."""
        template = template_of(record)
        line: dict[str, object] = {
            "event": redact(message_of(record) if template is None else template.event),
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        for name, value in _fields(record, template).items():
            line[f"extra_{name}" if name in line else name] = value
        return encoded(line).decode()


def encoded(value: object) -> bytes:
    """Return a value as JSON, whatever it is: what JSON has no form for becomes a text."""
    try:
        return _json.encode(value)
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError):  # a key that is no text, a half character
        if isinstance(value, dict):
            return _json.encode({str(key): _plain_text(one) for key, one in value.items()})
        return _json.encode(_plain_text(value))


def _fields(record: LogRecord, template: EventTemplate | None) -> dict[str, object]:
    """Return the fields of a record and the ids of its call, without credentials."""
    ids, told = ids_of(record), {}
    for name, value in fields_of(record, template).items():
        if name in ids and value == ids[name]:
            continue
        told[f"extra_{name}" if name in ids else name] = _masked(name, value)
    told.update(ids)
    if record.exc_info and record.exc_info[0] is not None:
        told["error_type"] = record.exc_info[0].__qualname__
        told["traceback"] = redact(Formatter.formatException(_PLAIN_FORMATTER, record.exc_info), _LONGEST_TRACE)
    if record.stack_info:
        told["stack"] = redact(record.stack_info, _LONGEST_TRACE)
    return told


def _masked(name: str, value: object) -> object:
    """Return a value without credentials; its name may say that all of it is one."""
    if name in _OURS:
        return value
    if isinstance(value, _ASIS):
        if not has_secrets():
            return value
        shown = str(value)  # a secret may be a number
        return value if (masked := mask_secrets(shown)) == shown else masked
    if isinstance(value, dict | list | tuple):
        text = encoded(value).decode()
        masked = redact(f"{name}={text}").removeprefix(f"{name}=")
        return value if masked == text else masked
    return redact(f"{name}={value}").removeprefix(f"{name}=")


def field_text(value: object) -> str:
    """Return a value as it stands behind its name in a line."""
    if type(value) is int:
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    text = value if isinstance(value, str) else encoded(value).decode()
    return text if _PLAIN.fullmatch(text) or not isinstance(value, str) else encoded(text).decode()


def _one_line(text: str) -> str:
    """Return a message that cannot pass for several lines, nor move a cursor."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text).replace("\n", "\n    ")


def _indented(text: str) -> str:
    return "    " + _one_line(text.strip("\n"))


def _plain_text(value: object) -> str:
    return str(value).encode("utf-8", "backslashreplace").decode()


def _moment(record: LogRecord) -> str:
    """Return when a record was written, as everywhere in ISO 8601 and UTC."""
    return f"{_second(int(record.created))}.{int(record.msecs):03d}Z"


@lru_cache(maxsize=16)  # many lines are of the same second
def _second(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))


_PLAIN_FORMATTER: Final = Formatter()
