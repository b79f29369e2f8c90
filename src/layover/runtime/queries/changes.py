"""Waiting for whatever a follower of an execution wants to know next."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.ports.records import CLOSED
from layover.runtime.results.log_lines import lines_of

if TYPE_CHECKING:
    from layover.model.executions import LogLine
    from layover.ports.records import Head
    from layover.runtime.dispatch.progress_board import ProgressWatch
    from layover.runtime.instance import Instance

_BETWEEN: Final = 1.0
_CHUNKS: Final = 20  # of log lines that are read at once


class NextChange(NamedTuple):
    """What has changed: if it is the log, `head` is as it is now, or None if the execution is gone."""

    in_log: bool
    head: Head | None = None

    def is_over(self, since: int) -> bool:
        """Return whether nothing more will come after the events before a number."""
        if not self.in_log:
            return False
        return self.head is None or (self.head.status in CLOSED and self.head.last_seq < since)


class LineWatch:
    """The log lines of an execution that one caller has not seen; none if they are not kept, or not for the caller."""

    def __init__(self, instance: Instance, execution_id: str, *, may_read: bool) -> None:
        self._reports = instance.store.node_reports
        self._id = execution_id
        self._after = ""
        self._is_wanted = may_read and instance.settings.node_logs
        self.between = _BETWEEN if self._is_wanted else None  # seconds until the next look

    async def take(self) -> list[LogLine]:
        """Return the lines since the last call."""
        found: list[LogLine] = []
        while self._is_wanted and (chunks := await self._reports.read_logs(self._id, self._after, None, _CHUNKS)):
            self._after = chunks[-1].id
            found += [line for chunk in chunks for line in lines_of(chunk)]
        return found


async def next_change(
    instance: Instance,
    execution_id: str,
    since: int,
    progress: ProgressWatch,
    *ends: asyncio.Event,
    timeout: float | None = None,  # noqa: ASYNC109 - it is not an error
) -> NextChange:
    """Wait until there is an event from a number on, a new report, one of the ends, or the time is up."""
    loop = asyncio.get_running_loop()
    more = loop.create_task(
        instance.listeners.until(execution_id, lambda head: head.last_seq >= since or head.status in CLOSED)
    )
    others = [loop.create_task(progress.changed()), *(loop.create_task(one.wait()) for one in ends)]
    try:
        await asyncio.wait({more, *others}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        return NextChange(in_log=True, head=more.result()) if more.done() else NextChange(in_log=False)
    finally:
        for task in (more, *others):
            task.cancel()
