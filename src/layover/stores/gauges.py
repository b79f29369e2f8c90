"""The gauges of a store, added up from the counts of its statements."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from layover.ports.records import Gauges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def sum_gauges(rows: Iterable[Sequence[Any]]) -> Gauges:
    """Return the sum of rows of: status, executions, unread commands, due, paused for long, oldest pause."""
    executions: Counter[str] = Counter()
    commands = due = paused_long = 0
    oldest: int | None = None
    for status, count, queued, is_due, is_long, since in rows:
        executions[status] += count
        commands += queued
        due += is_due
        paused_long += is_long
        if since is not None:
            oldest = since if oldest is None else min(oldest, since)
    return Gauges(
        executions=dict(executions), due=due, commands=commands, paused_long=paused_long, oldest_paused=oldest
    )
