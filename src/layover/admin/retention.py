"""Deleting executions some time after their end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from layover.admin.progress import AdminProgress, ignore_progress
from layover.admin.reading import opened_to_read, readable
from layover.bootstrap import inspectable_store
from layover.interface.durations import milliseconds_of
from layover.runtime.dispatch.purger import horizons, purge_workflow
from layover.runtime.plans import Plans

if TYPE_CHECKING:
    from layover.admin.progress import OnProgress
    from layover.interface.durations import Duration
    from layover.ports.store import Inspectable

_ALL: Final = 2**31
_MOST_COUNTED: Final = 200_000  # for progress; what is more is deleted without saying of how many


class Purged(msgspec.Struct, frozen=True, kw_only=True):
    """How many executions of each workflow were deleted, or would be (`dry_run`)."""

    dry_run: bool
    workflows: dict[str, int]

    @property
    def executions(self) -> int:
        """How many there are of all workflows."""
        return sum(self.workflows.values())


async def purge(
    db: str, *, older_than: Duration | None = None, dry_run: bool = False, on_progress: OnProgress | None = None
) -> Purged:
    """Delete executions that ended longer ago than `older_than`, with all that belongs to them; never an open one.

    The retention of a workflow comes before `older_than`; without either, nothing of it is deleted. It works in small
    batches while engines are running.
    """
    kept_for = milliseconds_of("older_than", older_than)
    tell = on_progress or ignore_progress
    async with opened_to_read(db) as store:  # a file that is not there is not made
        before = await horizons(store, Plans(store), await store.now(), kept_for)
        if dry_run:
            counts = {name: len(await store.retention.list_purgeable(moment, _ALL, name)) for name, moment in before}
            return Purged(dry_run=True, workflows=counts)
        total = await _total(store, before) if on_progress is not None else None
    store = inspectable_store(db)
    await store.open(f"purge-{os.getpid()}")
    try:
        counts = {name: 0 for name, _ in before}
        with readable(db):
            for name, moment in before:
                async for deleted in purge_workflow(store, name, moment):
                    counts[name] += deleted
                    tell(AdminProgress(part="deleting", executions=sum(counts.values()), total=total))
        return Purged(dry_run=False, workflows=counts)
    finally:
        await store.close()


async def _total(store: Inspectable, before: list[tuple[str, int]]) -> int | None:
    """Return how many executions will be deleted; None if they are too many to count."""
    total = 0
    for name, moment in before:
        total += len(await store.retention.list_purgeable(moment, _MOST_COUNTED + 1 - total, name))
        if total > _MOST_COUNTED:
            return None
    return total
