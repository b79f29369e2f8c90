"""Progress and log lines of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.view_records import LogChunk, LogTrim, NodeProgress
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.stores.sqlite.session import SqliteSession


class SqliteNodeReports:
    """Reports of nodes in a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def save_progress(self, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
        """Write the last progress of calls, and delete that of calls which have ended."""
        await self._session.write(lambda db: save_progress(db, latest, ended))

    async def read_progress(self, execution_ids: Sequence[str]) -> list[NodeProgress]:
        """Return the last progress of executions."""
        check_ids(execution_ids)
        return await self._session.read(lambda db: read_progress(db, execution_ids))

    async def add_logs(self, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
        """Add log lines to executions."""
        return await self._session.write(lambda db: add_logs(db, chunks, most_bytes))

    async def trim_logs(self, trims: Sequence[LogTrim]) -> None:
        """Remove chunks from the middle of what attempts have logged."""
        await self._session.write(lambda db: trim_logs(db, trims))

    async def read_logs(self, execution_id: str, after: str, node: str | None, most: int) -> list[LogChunk]:
        """Return log lines of an execution."""
        check_ids([execution_id])
        return await self._session.read(lambda db: read_logs(db, execution_id, after, node, most))


def save_progress(db: apsw.Connection, latest: Sequence[NodeProgress], ended: Sequence[NodeProgress]) -> None:
    """Write the last progress of calls, and delete that of calls which have ended."""
    for one in ended:
        db.execute(SQL["delete_progress"], {"id": key(one.execution_id), "node": one.node, "attempt": one.attempt})
    for one in latest:
        db.execute(SQL["save_progress"], {**asdict(one), "id": key(one.execution_id)})


def read_progress(db: apsw.Connection, execution_ids: Sequence[str]) -> list[NodeProgress]:
    """Return the last progress of executions, in their order and by node."""
    found: list[NodeProgress] = []
    for id_ in sorted(set(execution_ids)):
        rows = db.execute(SQL["progress_of_execution"], {"id": key(id_)})
        found += [
            NodeProgress(execution_id=id_, node=node, attempt=attempt, at=at, body=body)
            for _, node, attempt, at, body in rows
        ]
    return found


def add_logs(db: apsw.Connection, chunks: Sequence[LogChunk], most_bytes: int) -> list[str]:
    """Add log lines to executions that have no more bytes of them."""
    added: list[str] = []
    for chunk in chunks:
        values = {**asdict(chunk), "execution_id": key(chunk.execution_id), "most": most_bytes}
        db.execute(SQL["save_log_chunk"], values)
        if db.changes():
            added.append(chunk.id)
    return added


def trim_logs(db: apsw.Connection, trims: Sequence[LogTrim]) -> None:
    """Remove chunks from the middle of what attempts have logged."""
    for trim in trims:
        of = {"execution_id": key(trim.execution_id)}
        db.executemany(SQL["delete_log_chunk"], [{**of, "id": id_} for id_ in trim.removed])
        db.execute(SQL["note_dropped_lines"], {**of, "id": trim.following, "dropped": trim.dropped})


def read_logs(db: apsw.Connection, execution_id: str, after: str, node: str | None, most: int) -> list[LogChunk]:
    """Return log lines of an execution behind a chunk, the oldest first."""
    values = {"execution_id": key(execution_id), "after": after, "node": node, "limit": at_most(most)}
    return [chunk_of(row) for row in db.execute(SQL["log_chunks_of_execution"], values)]


def chunk_of(row: tuple[apsw.SQLiteValue, ...]) -> LogChunk:
    """Return a chunk of log lines."""
    id_, *rest = row
    values = dict(zip(LogChunk.__struct_fields__[1:], rest, strict=True))
    return LogChunk(execution_id=text(id_), **values)  # type: ignore[arg-type]  # the columns are of these types
