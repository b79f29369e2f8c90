"""Progress and log lines of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple

from layover.ports.view_records import LogChunk, LogTrim, NodeProgress
from layover.stores.checks import at_most, check_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresNodeReports:
    """Reports of nodes in a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def save_progress(self, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
        """Write the last progress of calls, and delete that of calls which have ended."""

        async def save(tx: Transaction) -> None:
            if ended:
                await tx.fetch("delete_progress", *_columns(ended)[:3])
            if latest:
                await tx.fetch("save_progress", *_columns(_one_each(latest)))

        await self._session.db.transact(save)

    async def read_progress(self, execution_ids: Sequence[str]) -> list[NodeProgress]:
        """Return the last progress of executions."""
        check_ids(execution_ids)
        rows = await self._session.db.fetch("progress_of_executions", list(execution_ids))
        return [NodeProgress(**dict(row)) for row in rows]

    async def add_logs(self, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
        """Add log lines to executions that have no more bytes of them."""
        rows = await self._session.db.fetch("save_log_chunks", *log_columns(chunks), most_bytes)
        return [row[0] for row in rows]

    async def trim_logs(self, trims: Sequence[LogTrim]) -> None:
        """Remove chunks from the middle of what attempts have logged."""
        removed = [(trim.execution_id, id_) for trim in trims for id_ in trim.removed]
        following = sorted((trim.execution_id, trim.following, trim.dropped) for trim in trims)

        async def trim_all(tx: Transaction) -> None:
            await tx.fetch("delete_log_chunks", [one for one, _ in removed], [id_ for _, id_ in removed])
            await tx.fetch("note_dropped_lines", *(list(column) for column in zip(*following, strict=True)))

        if trims:
            await self._session.db.transact(trim_all)

    async def read_logs(self, execution_id: str, after: str, node: str | None, most: int) -> list[LogChunk]:
        """Return log lines of an execution behind a chunk, the oldest first."""
        check_ids([execution_id])
        rows = await self._session.db.fetch("log_chunks_of_execution", execution_id, after, node, at_most(most))
        return [chunk_of(row) for row in rows]


def chunk_of(row: Any) -> LogChunk:
    """Return a chunk of log lines."""
    return LogChunk(**dict(row))


def log_columns(chunks: Sequence[LogChunk]) -> list[list[object]]:
    """Return chunks column by column, in the order in which the statements take them."""
    if not chunks:
        return [[] for _ in LogChunk.__struct_fields__]
    return [list(column) for column in zip(*map(astuple, chunks), strict=True)]


def _one_each(latest: Sequence[NodeProgress]) -> list[NodeProgress]:
    """Return the last one of each call, in the order in which every instance locks the rows."""
    found = {(one.execution_id, one.node): one for one in sorted(latest, key=lambda one: one.attempt)}
    return [found[name] for name in sorted(found)]


def _columns(rows: Sequence[NodeProgress]) -> list[list[object]]:
    ordered = sorted(rows, key=lambda row: (row.execution_id, row.node))
    return [list(column) for column in zip(*map(astuple, ordered), strict=True)]
