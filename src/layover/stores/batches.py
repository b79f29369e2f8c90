"""What a claim, an advance or a change does to the row of a batch: the same in every store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from layover.ports.batch_records import CANARY_FAILED, LIVE_BATCHES, BatchItemRow, BatchRow
from layover.stores.checks import check_ids, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.batch_records import BatchAdvance, BatchChange, BatchClaim

NEWEST_BATCH: Final = (2**63 - 1, "ffffffff-ffff-ffff-ffff-ffffffffffff")
_LONGEST_REASON: Final = 1_000

# What an advance writes; everything else of a batch stays as it was created.
PROGRESS: Final = (
    "state",
    "code",
    "reason",
    "ended_at",
    "due_at",
    "epoch",
    "free_at",
    "canary",
    "watch_until",
    "cursor",
    "position",
    "total",
    "done",
    "skipped",
    "failed",
)


def check_batch(row: BatchRow) -> None:
    """Refuse a batch that some store could not keep."""
    check_ids([row.id])
    check_texts(row.act, row.user, row.state, row.code, row.reason, row.cursor)


def check_items(items: Sequence[BatchItemRow]) -> None:
    """Refuse items that some store could not keep."""
    for item in items:
        check_texts(item.target, item.parent, item.pin, item.code)


def claimed(row: BatchRow, claim: BatchClaim) -> BatchRow:
    """Return a batch that is claimed."""
    return replace(row, epoch=row.epoch + 1, due_at=claim.due_again)


def advanced(row: BatchRow, advance: BatchAdvance) -> BatchRow | None:
    """Return a batch after what was done for it; None if another instance has claimed it since."""
    given = advance.row
    if row.epoch != given.epoch:
        return None
    if row.state not in LIVE_BATCHES:  # it was stopped meanwhile
        given = replace(given, state=row.state, code=row.code, reason=row.reason, ended_at=row.ended_at)
    return replace(row, **{name: getattr(given, name) for name in PROGRESS})


def changed(row: BatchRow, change: BatchChange) -> BatchRow | None:
    """Return a batch after a change by an operator; None if it is not in a state that allows it."""
    if row.state not in change.of:
        return None
    after = replace(row, state=change.state, code=change.code, reason=plain_reason(change.reason))
    if change.state in LIVE_BATCHES:
        # The operator has looked at the canary: what is left is done without it.
        canary = 0 if row.code == CANARY_FAILED else row.canary
        return replace(after, due_at=change.at, epoch=row.epoch + 1, ended_at=None, canary=canary, watch_until=None)
    return replace(after, ended_at=change.at)


def plain_reason(reason: str) -> str:
    """Return a reason that every database can keep."""
    return reason[:_LONGEST_REASON].encode("utf-8", "replace").decode().replace("\0", "")


def item_of(columns: Iterable[Any]) -> BatchItemRow:
    """Return an item from its columns."""
    n, target, parent, pin, state, code, reason, at = columns
    return BatchItemRow(n=n, target=target, parent=parent, pin=pin, state=state, code=code, reason=reason, at=at)


def batch_of(id_: str, columns: Iterable[Any]) -> BatchRow:
    """Return a batch from its columns; the first, its id, is written differently by each database."""
    _, *rest = columns
    return BatchRow(id=id_, **dict(zip(BatchRow.__struct_fields__[1:], rest, strict=True)))
