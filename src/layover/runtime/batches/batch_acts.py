"""What the runner of batches needs of those who know how to act as a user: they are above the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from layover.errors import LayoverError
from layover.model.batches import BatchBody, WhichItems

if TYPE_CHECKING:
    from layover.ports.batch_records import BatchItemRow, BatchRow, ItemState


class ItemOutcome(NamedTuple):
    """What became of an item: with a code and a reason, if the act was not done."""

    state: ItemState
    code: str = ""
    reason: str = ""


class BatchActs(Protocol):
    """Acts as the user of a batch."""

    async def perform(self, row: BatchRow, body: BatchBody, item: BatchItemRow) -> ItemOutcome:
        """Do the act of a batch to an item, once: an act that was done before it could be noted is not done again."""


def stored_body(body: BatchBody) -> tuple[bytes, bytes]:
    """Return which items a batch is for, and everything else that was asked for, as a store keeps it."""
    rest = replace(body, where=WhichItems(), dry_run=False)
    return msgspec.json.encode(body.where), msgspec.json.encode(rest)


def body_of_batch(row: BatchRow) -> BatchBody:
    """Return what was asked for; LayoverError if a newer release was asked for it."""
    try:
        where = msgspec.json.decode(row.wanted, type=WhichItems)
        return replace(msgspec.json.decode(row.arguments, type=BatchBody), where=where)
    except msgspec.DecodeError as error:
        message = "A newer release has made this batch: update this server, and have the batch go on."
        raise LayoverError(message, code="unreadable") from error
