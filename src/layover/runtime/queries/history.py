"""The events of executions, as callers read them."""

from __future__ import annotations

import msgspec

from layover.core.engine.events import AnyEvent


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a log, with its number and its time."""

    seq: int
    at: int
    event: AnyEvent
