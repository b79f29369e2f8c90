"""The search index of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from layover.ports.search_records import ExecutionTerms, TermCounts
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.search_terms import packed, unpacked
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.core.search_terms import TermSearch
    from layover.ports.search_records import Age
    from layover.stores.sqlite.session import SqliteSession

_NEWEST = (2**63 - 1, b"\xff" * 16)

_Key: TypeAlias = tuple[bytes, int, bytes]  # of a row: the term, and the age and id of an execution


class SqliteSearchTerms:
    """The search terms of the executions of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def list_unindexed(self, after: Age | None, most: int) -> list[Age]:
        """Read which executions are marked as not indexed."""
        return await self._session.read(lambda db: unindexed(db, after, most))

    async def save(self, found: Sequence[ExecutionTerms]) -> int:
        """Replace the terms of executions and remove their marks."""
        check_ids([one.execution_id for one in found])
        return await self._session.write(lambda db: save(db, found))

    async def read(self, execution_ids: Sequence[str]) -> list[ExecutionTerms | None]:
        """Read the terms of executions."""
        check_ids(execution_ids)
        return await self._session.read(lambda db: [read(db, id_) for id_ in execution_ids])

    async def count(self, searches: Sequence[TermSearch], most: int) -> TermCounts:
        """Count the terms that each search finds, and the executions that are marked."""
        return await self._session.read(lambda db: counts(db, searches, most))


def unindexed(db: apsw.Connection, after: Age | None, most: int) -> list[Age]:
    """Return executions that are marked as not indexed."""
    after_at, after_id = _NEWEST if after is None else (after[0], key(after[1]))
    values: dict[str, apsw.SQLiteValue] = {"after_at": after_at, "after_id": after_id, "most": at_most(most)}
    return [(at, text(id_)) for at, id_ in db.execute(SQL["unindexed_executions"], values)]


def save(db: apsw.Connection, found: Sequence[ExecutionTerms]) -> int:
    """Replace the terms of executions whose logs are still those that they are of; return how many."""
    gone: list[_Key] = []
    added: list[_Key] = []
    count = 0
    for one in found:
        id_ = key(one.execution_id)
        db.execute(SQL["mark_indexed"], {"id": id_, "last_seq": one.last_seq})
        if db.changes() != 1:
            continue
        ((created_at, stored),) = db.execute(SQL["stored_terms_of_execution"], {"id": id_})
        before = unpacked(stored)
        gone += [(term, created_at, id_) for term in before - one.terms]
        added += [(term, created_at, id_) for term in one.terms - before]
        if stored is None or before != one.terms:
            db.execute(SQL["save_terms_of_execution"], {"id": id_, "terms": packed(one.terms)})
        count += 1
    db.executemany(SQL["delete_terms"], sorted(gone))  # in the order of the table: what is near is written together
    db.executemany(SQL["insert_terms"], sorted(added))
    return count


def read(db: apsw.Connection, execution_id: str) -> ExecutionTerms | None:
    """Return the terms of an execution, unless it is marked as not indexed."""
    for last_seq, stored in db.execute(SQL["terms_of_execution"], {"id": key(execution_id)}):
        return ExecutionTerms(execution_id=execution_id, last_seq=last_seq, terms=unpacked(stored))
    return None


def counts(db: apsw.Connection, searches: Sequence[TermSearch], most: int) -> TermCounts:
    """Return how many terms each search finds, and how many executions are marked."""
    marked = db.execute(SQL["count_unindexed"], {"most": at_most(most)}).get
    return TermCounts([_count(db, search, most) for search in searches], marked)


def _count(db: apsw.Connection, search: TermSearch, most: int) -> int:
    left = at_most(most)
    ranges = [(one, one) for one in search.exact]
    if search.first is not None and search.last is not None:
        ranges.append((search.first, search.last))
    for first, last in ranges:
        values: dict[str, apsw.SQLiteValue] = {"first": first, "last": last, "most": left}
        left -= db.execute(SQL["count_terms"], values).get
    return at_most(most) - left


def forget(db: apsw.Connection, id_: bytes) -> None:
    """Delete the terms of an execution that is purged, before its other rows are."""
    for created_at, stored in db.execute(SQL["stored_terms_of_execution"], {"id": id_}).fetchall():
        db.executemany(SQL["delete_terms"], [(term, created_at, id_) for term in unpacked(stored)])
    db.execute(SQL["delete_terms_of_execution"], {"id": id_})
