"""Reads the log of an execution into its past: what was set and called, in each version that it has run by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.past import Past
from layover.runtime.execution.replay import first_version, know_versions, moves_in, slices_of

if TYPE_CHECKING:
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.replay import Versions


async def past_of(store: Store, row: ExecutionRow, plans: Versions, until: int) -> Past:
    """Return the past of an execution up to the event of a number."""
    past = Past(await plans.of(await first_version(store, row)))
    async for part in slices_of(store, row):
        await know_versions(past.state, moves_in([event for _, _, event in part.events]), plans)
        past.read((at, event) for seq, at, event in part.events if seq <= until)
    return past
