"""Progress and log lines of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.stores.checks import at_most, check_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.view_records import LogChunk, LogTrim, NodeProgress
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryNodeReports:
    """Reports of nodes in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def save_progress(self, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
        """Write the last progress of calls, and delete that of calls which have ended."""
        save_progress(await self._session.turn(), latest, ended)

    async def read_progress(self, execution_ids: Sequence[str]) -> list[NodeProgress]:
        """Return the last progress of executions."""
        check_ids(execution_ids)
        db = await self._session.turn()
        return [row for id_ in sorted(set(execution_ids)) for _, row in sorted(db.progress.get(id_, {}).items())]

    async def add_logs(self, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
        """Add log lines to executions."""
        return add_logs(await self._session.turn(), chunks, most_bytes)

    async def trim_logs(self, trims: Sequence[LogTrim]) -> None:
        """Remove chunks from the middle of what attempts have logged."""
        trim_logs(await self._session.turn(), trims)

    async def read_logs(self, execution_id: str, after: str, node: str | None, most: int) -> list[LogChunk]:
        """Return log lines of an execution."""
        check_ids([execution_id])
        chunks = (await self._session.turn()).node_logs.get(execution_id, {})
        wanted = [chunk for id_, chunk in sorted(chunks.items()) if id_ > after and node in (None, chunk.node)]
        return wanted[: at_most(most)]


def save_progress(db: MemoryDatabase, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
    """Write the last progress of calls, and delete that of calls which have ended."""
    for one in ended:
        rows = db.progress.get(one.execution_id, {})
        if one.node in rows and rows[one.node].attempt <= one.attempt:
            del rows[one.node]
    for one in latest:
        if one.execution_id in db.heads:
            rows = db.progress.setdefault(one.execution_id, {})
            if one.node not in rows or one.attempt >= rows[one.node].attempt:
                rows[one.node] = one


def add_logs(db: MemoryDatabase, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
    """Add log lines to executions that have no more bytes of them."""
    added: list[str] = []
    for chunk in chunks:
        rows = db.node_logs.setdefault(chunk.execution_id, {}) if chunk.execution_id in db.heads else None
        if rows is not None and sum(len(one.body) for one in rows.values()) <= most_bytes:
            rows[chunk.id] = chunk
            added.append(chunk.id)
    return added


def trim_logs(db: MemoryDatabase, trims: Sequence[LogTrim]) -> None:
    """Remove chunks from the middle of what attempts have logged."""
    for trim in trims:
        rows = db.node_logs.get(trim.execution_id, {})
        for id_ in trim.removed:
            rows.pop(id_, None)
        if trim.following in rows:
            rows[trim.following] = replace(rows[trim.following], dropped=trim.dropped)
