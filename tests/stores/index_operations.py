"""Random operations on the search index, beside executions that move, rest, close and are purged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.search_terms import TERM_BYTES, TermSearch
from layover.ports.search_records import ExecutionTerms, TermCounts
from layover.ports.view_records import ExecutionFilter
from tests.stores.conformance import WORKFLOWS
from tests.stores.exchanges import EXECUTIONS
from tests.stores.operations import CONDITIONS, ENDED, OPEN, WHERES, Operations

if TYPE_CHECKING:
    import random

    from tests.stores.exchanges import Call

# So few that several executions have the same, and in ranges.
TERMS = [(b"%02d" % n).ljust(TERM_BYTES, b"x") for n in range(12)]
INHERITED = {"commit": 14, "commit_informed": 2, "claim": 4, "release": 2, "purge": 3, "save_version": 1}

INDEX_READS = {"page_of_terms", "unindexed", "read_terms", "count_terms"}
INDEX_WAYS = {
    f"{name}: {way}"
    for name, ways in {
        "save_terms": "some nothing malformed_id",
        "page_of_terms": "some nothing malformed_id invalid_filter",
        "unindexed": "some nothing malformed_id",
        "read_terms": "some nothing malformed_id",
        "count_terms": "some nothing",
    }.items()
    for way in ways.split()
}


class IndexOperations(Operations):
    """A stream of operations about the search index that belong to one seed."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__(dice)
        own = [name.removeprefix("draw_") for name in vars(IndexOperations) if name.startswith("draw_")]
        inherited = [name for name, times in INHERITED.items() for _ in range(times)]
        self._names = [*own * 3, *["save_terms"] * 4, *["page_of_terms"] * 3, *inherited]

    def kinds(self, name: str, answer: object, before: dict[str, object], after: dict[str, object]) -> set[str]:
        """Return how an operation went; those of others are known from their own streams."""
        del before, after  # the marks are compared, and are not in what is told of a state
        if name in INHERITED:
            return set()
        if isinstance(answer, TermCounts):
            return {f"count_terms: {'some' if any(answer.found) or answer.unindexed else 'nothing'}"}
        if isinstance(answer, list):
            return {f"{name}: {'some' if any(one is not None for one in answer) else 'nothing'}"}
        return {f"{name}: {answer if isinstance(answer, str) else 'some' if answer else 'nothing'}"}

    def _terms(self) -> frozenset[bytes]:
        return frozenset(self._dice.sample(TERMS, self._dice.choice((0, 1, 2, 5))))

    def _searched(self) -> TermSearch:
        exact = tuple(self._dice.sample(TERMS, self._dice.choice((0, 1, 1, 3))))
        if exact and self._chance(70):
            return TermSearch(exact)
        first, last = sorted(self._dice.sample(TERMS, 2))
        return TermSearch(exact, first, last)

    def draw_save_terms(self) -> Call:
        ids = self._dice.sample(EXECUTIONS, self._dice.randrange(4))
        if self._chance(4):
            ids.append("no-uuid")
        found = []
        for id_ in ids:
            head = self._heads.get(id_)
            seq = head.last_seq if head is not None else 0
            stale = self._dice.choice((-1, 1)) if self._chance(15) else 0
            found.append(ExecutionTerms(execution_id=id_, last_seq=max(seq + stale, 0), terms=self._terms()))
        return lambda store: store.search_terms.save(found)

    def draw_page_of_terms(self) -> Call:
        wanted = ExecutionFilter(
            terms=self._searched(),
            workflow=self._dice.choice((None, None, *WORKFLOWS)),
            status=tuple(self._dice.sample((*OPEN, *ENDED), self._dice.choice((0, 0, 1, 4)))),
            tag=self._dice.choice((None, None, None, "a", "b")),
            parent_id=self._id() if self._chance(10) else None,
            where=self._dice.choice(WHERES) if self._chance(30) else None,
            conditions=tuple(self._dice.choices(CONDITIONS, k=self._dice.choice((0, 0, 0, 1)))),
            since=self._dice.randrange(1 + self._now) if self._chance(10) else None,
            until=self._dice.randrange(1 + self._now) if self._chance(10) else None,
            after=(self._dice.randrange(1 + self._now // 8), self._id()) if self._chance(30) else None,
            limit=self._limit(),
        )
        return lambda store: store.queries.list_executions(wanted)

    def draw_unindexed(self) -> Call:
        after = (self._dice.randrange(1 + self._now // 8), self._id()) if self._chance(40) else None
        limit = self._limit()
        return lambda store: store.search_terms.list_unindexed(after, limit)

    def draw_read_terms(self) -> Call:
        ids = [self._id() for _ in range(self._dice.randrange(4))]
        return lambda store: store.search_terms.read(ids)

    def draw_count_terms(self) -> Call:
        searches, most = [self._searched() for _ in range(self._dice.randrange(4))], self._limit()
        return lambda store: store.search_terms.count(searches, most)
