"""The ids of the call, or of the request, within which a log line is written.

The node runner sets `CURRENT_CALL` where a call begins. A context variable reaches whatever a function starts: its
tasks, `asyncio.to_thread`, and the threads in which functions run that are not async. It holds the call itself, so that
a call which logs nothing pays only for setting it.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from logging import Filter, LogRecord
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from contextvars import Token

IDS: Final = ("execution", "workflow", "node", "attempt", "request")
RECORDED: Final = "layover_ids"  # the attribute of a record that has them


class LoggedCall(Protocol):
    """A call within which lines are logged."""

    def log_ids(self) -> dict[str, object]:
        """Return the ids of the call, by their names in the log."""


CURRENT_CALL: ContextVar[LoggedCall | None] = ContextVar("layover_call", default=None)
REQUEST_ID: ContextVar[str] = ContextVar("layover_request", default="")


def current_ids() -> dict[str, object]:
    """Return the ids of the call or the request that is under way here; none outside of both."""
    call = CURRENT_CALL.get()
    if call is not None:
        return call.log_ids()
    request = REQUEST_ID.get()
    return {"request": request} if request else {}


class CallFilter(Filter):
    """Gives records the ids of their call: for handlers of a program that configures logging by itself.

    A format may then use `%(execution)s`, `%(workflow)s`, `%(node)s`, `%(attempt)s` and `%(request)s`, which are empty
    outside a call. A field of the same name that the line has itself is kept.
    """

    def filter(self, record: LogRecord) -> bool:
        """Add the ids; every record passes."""
        ids = ids_of(record)
        for name in IDS:
            record.__dict__.setdefault(name, ids.get(name, ""))
        return True


def ids_of(record: LogRecord) -> dict[str, object]:
    """Return the ids of a record, as they were where it was written."""
    known = record.__dict__.get(RECORDED)
    if isinstance(known, dict):
        return known
    ids = record.__dict__[RECORDED] = current_ids()
    return ids


STRUCTLOG: Final = "structlog.contextvars"  # the module that a program has loaded if it uses structlog


def bind_structlog(call: LoggedCall) -> Mapping[str, Token[Any]] | None:
    """Give events of structlog the ids of a call; the processors that it has by default read them."""
    bind: Callable[..., Mapping[str, Token[Any]]] | None = getattr(sys.modules[STRUCTLOG], "bind_contextvars", None)
    return bind(**call.log_ids()) if bind is not None else None  # another thread may be loading it


def unbind_structlog(bound: Mapping[str, Token[Any]]) -> None:
    """Undo it, in the same context."""
    sys.modules[STRUCTLOG].reset_contextvars(**bound)


def structlog_processor(
    _logger: object, _method: str, event_dict: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    """Give an event of structlog the ids of its call: a processor, for processors without `merge_contextvars`."""
    for name, value in current_ids().items():
        event_dict.setdefault(name, value)
    return event_dict
