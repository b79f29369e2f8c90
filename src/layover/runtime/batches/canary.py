"""Looks whether an item of a canary has failed since its act was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.ports.batch_records import BatchItemFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.batch_records import BatchItemRow, BatchRow
    from layover.ports.store import Store

_AT_ONCE: Final = 100
_ENDS_IT: Final = frozenset({"cancel", "purge"})  # after these, nothing is left that could fail


class Look(NamedTuple):
    """A look at some items: what has failed of them, in a sentence, and the last of them; None if there are no more."""

    fault: str | None = None
    after: int | None = None


async def look_at(store: Store, row: BatchRow, after: int) -> Look:
    """Look at the next items that were done so far."""
    if row.act in _ENDS_IT:
        return Look()
    items = await store.batches.list_items(BatchItemFilter(batch_id=row.id, state="done", after=after, limit=_AT_ONCE))
    done = [item for item in items if item.n <= row.position]
    return Look(await _fault_among(store, row, done), items[-1].n if len(items) == _AT_ONCE else None)


async def failed_act(store: Store, row: BatchRow) -> str | None:
    """Return which act has failed, in a sentence; None if none has."""
    wanted = BatchItemFilter(batch_id=row.id, state="failed", limit=1)
    return next((failure_of(item) for item in await store.batches.list_items(wanted)), None)


def failure_of(item: BatchItemRow) -> str:
    """Return that the act on an item has failed, in a sentence."""
    return f"The act on {item.target:.100} of the canary failed: {item.reason}"


async def _fault_among(store: Store, row: BatchRow, items: Sequence[BatchItemRow]) -> str | None:
    if row.act in ("redeliver", "replay"):
        faults = [await _fault_of(store, row, item) for item in items]
        return next((fault for fault in faults if fault is not None), None)
    heads = await store.queries.read_heads([item.parent for item in items])
    failed = next((head for head in heads if head is not None and head.status == "failed"), None)
    return await _fault_of_execution(store, failed.execution_id) if failed is not None else None


async def _fault_of(store: Store, row: BatchRow, item: BatchItemRow) -> str | None:
    """Return what has become of a delivery or of an input, if that is a fault."""
    if row.act == "redeliver":
        delivery = await store.deliveries.find(item.target)
        if delivery is not None and delivery.state == "dead":
            return f"The delivery {item.target} failed after it was sent once more: {delivery.reason}"
        return None
    found = await store.triggers.find_input(item.parent, item.target)
    if found is None:
        return None
    if found.state == "rejected":
        return f"The input {item.target:.100} was rejected again: {found.reason}"
    return await _fault_of_execution(store, found.execution_id) if found.execution_id else None


async def _fault_of_execution(store: Store, execution_id: str) -> str | None:
    execution = await store.queries.find_execution(execution_id)
    if execution is None or execution.head.status != "failed":
        return None
    code = execution.closed.error_code if execution.closed is not None else None
    return f"The execution {execution_id} failed after the act{f' ({code})' if code else ''}."
