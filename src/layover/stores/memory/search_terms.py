"""The search index in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.search_records import ExecutionTerms, TermCounts
from layover.stores.checks import at_most, check_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.core.search_terms import TermSearch
    from layover.ports.search_records import Age
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemorySearchTerms:
    """Search terms in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def list_unindexed(self, after: Age | None, most: int) -> list[Age]:
        """Read which executions are marked as not indexed, newest first."""
        check_ids([after[1]] if after is not None else [])
        db = await self._session.turn()
        ages = ((db.infos[id_].created_at, id_) for id_ in db.unindexed)
        return sorted((age for age in ages if after is None or age < after), reverse=True)[: at_most(most)]

    async def save(self, found: Sequence[ExecutionTerms]) -> int:
        """Replace the terms of executions and remove their marks."""
        check_ids([one.execution_id for one in found])
        db = await self._session.turn()
        fresh = [
            one
            for one in found
            if one.execution_id in db.unindexed and db.heads[one.execution_id].last_seq == one.last_seq
        ]
        for one in fresh:
            db.terms[one.execution_id] = one.terms
            db.unindexed.discard(one.execution_id)
        return len(fresh)

    async def read(self, execution_ids: Sequence[str]) -> list[ExecutionTerms | None]:
        """Read the terms of executions."""
        check_ids(execution_ids)
        db = await self._session.turn()
        return [
            ExecutionTerms(execution_id=id_, last_seq=db.heads[id_].last_seq, terms=db.terms.get(id_, frozenset()))
            if id_ in db.heads and id_ not in db.unindexed
            else None
            for id_ in execution_ids
        ]

    async def count(self, searches: Sequence[TermSearch], most: int) -> TermCounts:
        """Count the terms that each search finds, and the executions that are marked."""
        db = await self._session.turn()
        limit = at_most(most)
        totals = [sum(_has(search, terms) for terms in db.terms.values()) for search in searches]
        return TermCounts([min(total, limit) for total in totals], min(len(db.unindexed), limit))


def _has(search: TermSearch, terms: Iterable[bytes]) -> int:
    """Return how many of some terms a search finds."""
    found = sum(term in search.exact for term in terms)
    first, last = search.first, search.last
    if first is None or last is None:
        return found
    return found + sum(first <= term <= last for term in terms)


def may_be_found(db: MemoryDatabase, execution_id: str, search: TermSearch) -> bool:
    """Return whether a search looks at an execution."""
    if execution_id in db.unindexed or db.heads[execution_id].status == "running":
        return True
    return _has(search, db.terms.get(execution_id, frozenset())) > 0
