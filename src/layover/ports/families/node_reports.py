"""What nodes report while they run: how far they are, and what they log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.view_records import LogChunk, LogTrim, NodeProgress


class NodeReportStore(Protocol):
    """The last progress of running calls, and the log lines of calls; neither is part of any log of events.

    Both are written beside the steps of executions, and may be lost with the instance that wrote them.
    """

    async def save_progress(self, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
        """Write the last progress of calls, and delete that of calls which have ended."""

    async def read_progress(self, execution_ids: Sequence[str]) -> list[NodeProgress]:
        """Return the last progress of executions, in their order and by node; it may be of a call that was lost."""

    async def add_logs(self, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
        """Add log lines to executions that have no more bytes of them; return the ids of what was added."""

    async def trim_logs(self, trims: Sequence[LogTrim]) -> None:
        """Remove chunks from the middle of what attempts have logged, and note how many lines that are."""

    async def read_logs(self, execution_id: str, after: str, node: str | None, most: int) -> list[LogChunk]:
        """Return log lines of an execution, or of one node, behind the chunk of an id, the oldest first."""
