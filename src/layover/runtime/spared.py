"""Calls whose time is up by the calendar only, because it was set forward while they were out.

A timeout is a length of time. Deadlines and delays are moments: for them it counts what the calendar says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.runtime.caller import CallOut


def spared(calls: Mapping[str, CallOut], now: int, leaps: int) -> dict[str, int]:
    """Return the calls that are late by the time, and have some of theirs left: so many milliseconds."""
    found: dict[str, int] = {}
    for name, out in list(calls.items()):  # a decision may be made again on another thread
        until = out.call.timeout_at
        if until is not None and until <= now < until + leaps - out.leaps:
            found[name] = until + leaps - out.leaps - now
    return found
