"""Which search terms find the fewest executions, if the index is worth to be asked at all.

Counts are bounded, so that the choice costs little. A value that very many share is not sought by the index if the
filter has an index of its own; neither is a range with many numbers in it, which would have to be sorted by age first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.search_terms import TermSearch
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionFilter

FEW: Final = 5_000  # executions with a term, or not yet indexed, among which is searched whatever the filter is
VERY_FEW: Final = 200  # the same: then nothing is counted on, which would take longer than to read them
FEW_IN_RANGE: Final = 1_000  # numbers in a range: all of them are read for each page


async def choose_terms(store: Store, wanted: ExecutionFilter, searches: Sequence[TermSearch]) -> TermSearch | None:
    """Return the search that finds the fewest executions; None if the filter is better served without the index."""
    if not searches or wanted.q is not None:
        return None
    if not _has_index(wanted) and len(searches) == 1 and searches[0].first is None:
        marked = (await store.search_terms.count((), FEW + 1)).unindexed if wanted.where is not None else 0
        return searches[0] if marked <= FEW else None  # there is no choice but an index of inputs, if the store has one
    counted = await store.search_terms.count(searches, VERY_FEW + 1)
    if min(counted.found) > VERY_FEW or counted.unindexed > VERY_FEW:
        counted = await store.search_terms.count(searches, FEW + 1)
    by_count = sorted(zip(counted.found, searches, strict=True), key=lambda one: one[0])
    usable = [(n, one) for n, one in by_count if one.first is None or n <= FEW_IN_RANGE]
    if not usable:
        return None
    count, best = usable[0]
    if count <= FEW and counted.unindexed <= FEW:
        return best
    if _has_index(wanted) or (wanted.where is not None and counted.unindexed > FEW):
        return None
    return best


def _has_index(wanted: ExecutionFilter) -> bool:
    """Return whether a filter has an index of its own."""
    return (
        wanted.workflow is not None
        or wanted.tag is not None
        or wanted.parent_id is not None
        or wanted.correlation_id is not None
        or wanted.error_code is not None
        or (bool(wanted.status) and "completed" not in wanted.status)
        or wanted.min_resumes is not None
        or wanted.user is not None
        or wanted.hashes is not None
        or bool(wanted.on)
    )
