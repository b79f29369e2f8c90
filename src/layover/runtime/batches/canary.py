"""Looks whether an item of a canary has failed since its act was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.ports.batch_records import BatchItemFilter

if TYPE_CHECKING:
    from layover.ports.batch_records import BatchItemRow, BatchRow
    from layover.ports.store import Store

_AT_ONCE: Final = 100
_ENDS_IT: Final = frozenset({"cancel", "purge"})  # after these, nothing is left that could fail


async def find_failure(store: Store, row: BatchRow) -> str | None:
    """Return what has failed of the items that were done so far, in a sentence; None if nothing has."""
    if row.act in _ENDS_IT:
        return None
    after = 0
    while items := await store.batches.list_items(
        BatchItemFilter(batch_id=row.id, state="done", after=after, limit=_AT_ONCE)
    ):
        for item in items:
            if item.n > row.position:
                return None
            fault = await _fault_of(store, row, item)
            if fault is not None:
                return fault
        after = items[-1].n
    return None


async def _fault_of(store: Store, row: BatchRow, item: BatchItemRow) -> str | None:
    execution_id = item.parent
    match row.act:
        case "redeliver":
            delivery = await store.deliveries.find(item.target)
            if delivery is not None and delivery.state == "dead":
                return f"The delivery {item.target} failed after it was sent once more: {delivery.reason}"
            return None
        case "replay":
            found = await store.triggers.find_input(item.parent, item.target)
            if found is not None and found.state == "rejected":
                return f"The input {item.target:.100} was rejected again: {found.reason}"
            execution_id = found.execution_id if found is not None else ""
        case _:
            pass
    if not execution_id:
        return None
    execution = await store.queries.find_execution(execution_id)
    if execution is None or execution.head.status != "failed":
        return None
    code = execution.closed.error_code if execution.closed is not None else None
    return f"The execution {execution_id} failed after the act{f' ({code})' if code else ''}."
