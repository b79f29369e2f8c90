"""The search index of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.search_records import ExecutionTerms, TermCounts
from layover.stores.checks import at_most, check_ids
from layover.stores.search_terms import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.search_terms import TermSearch
    from layover.ports.search_records import Age
    from layover.stores.postgres.session import PostgresSession

_NEWEST = (2**63 - 1, "ffffffff-ffff-ffff-ffff-ffffffffffff")


class PostgresSearchTerms:
    """The search terms of the executions of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def list_unindexed(self, after: Age | None, most: int) -> list[Age]:
        """Read which executions are marked as not indexed, newest first."""
        begin = after if after is not None else _NEWEST
        check_ids([begin[1]])
        return [(at, id_) for at, id_ in await self._session.db.fetch("unindexed_executions", at_most(most), *begin)]

    async def save(self, found: Sequence[ExecutionTerms]) -> int:
        """Replace the terms of executions and remove their marks, in one statement."""
        ids = [one.execution_id for one in found]
        check_ids(ids)
        terms = [packed(one.terms) for one in found]
        seqs = [one.last_seq for one in found]
        rows = await self._session.db.fetch("save_terms_of_executions", ids, seqs, terms)
        return int(rows[0][0])

    async def read(self, execution_ids: Sequence[str]) -> list[ExecutionTerms | None]:
        """Read the terms of executions."""
        check_ids(execution_ids)
        rows = await self._session.db.fetch("terms_of_executions", list(dict.fromkeys(execution_ids)))
        found = {id_: ExecutionTerms(execution_id=id_, last_seq=seq, terms=unpacked(terms)) for id_, seq, terms in rows}
        return [found.get(id_) for id_ in execution_ids]

    async def count(self, searches: Sequence[TermSearch], most: int) -> TermCounts:
        """Count the terms that each search finds, and the executions that are marked."""
        limit = at_most(most)
        ranges = [(place, one, one) for place, search in enumerate(searches) for one in search.exact]
        ranges += [
            (place, search.first, search.last)
            for place, search in enumerate(searches)
            if search.first is not None and search.last is not None
        ]
        firsts, lasts = [first for _, first, _ in ranges], [last for _, _, last in ranges]
        totals = [0] * len(searches)
        marked = await self._session.db.fetch("count_unindexed", limit)
        counted = await self._session.db.fetch("count_terms", firsts, lasts, limit)
        for (place, _, _), (count,) in zip(ranges, counted, strict=True):
            totals[place] += count
        return TermCounts([min(total, limit) for total in totals], marked[0][0])
