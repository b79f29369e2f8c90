"""The search index: terms of executions, written some time after the appends that change them.

An append that rests, or leaves an execution in any status but `running`, marks it as not indexed. So the terms of an
execution are those of its log unless it is marked or running, and a search by terms finds both of those as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.search_terms import TermSearch
    from layover.ports.search_records import Age, ExecutionTerms, TermCounts


class SearchTermStore(Protocol):
    """Which executions have which search terms."""

    async def list_unindexed(self, after: Age | None, most: int) -> list[Age]:
        """Read the age and id of executions that are marked as not indexed, newest first, behind one of them."""

    async def save(self, found: Sequence[ExecutionTerms]) -> int:
        """Replace the terms of executions and remove their marks; return of how many.

        One that has moved on since, or is not marked, is left as it is.
        """

    async def read(self, execution_ids: Sequence[str]) -> list[ExecutionTerms | None]:
        """Read the terms of executions; of one that is marked as not indexed there are none."""

    async def count(self, searches: Sequence[TermSearch], most: int) -> TermCounts:
        """Count the terms that each search finds, and the executions that are marked, each up to a number."""
