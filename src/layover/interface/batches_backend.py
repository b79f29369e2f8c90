"""What the door needs of a backend for batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.model.batches import BatchBody, BatchInfo, BatchItem
    from layover.model.shared import Page


class BatchesBackend(Protocol):
    """One act on many items."""

    async def create(self, body: BatchBody, idempotency_key: str | None) -> BatchInfo:
        """Make a batch; with `dry_run`, only count its items, and show some."""

    async def list(self, status: str | None, limit: int, cursor: str | None) -> Page[BatchInfo]:
        """Return a page of batches, the newest first."""

    async def get(self, batch_id: str) -> BatchInfo:
        """Return a batch."""

    async def wait(self, batch_id: str, timeout: float | None) -> BatchInfo:  # noqa: ASYNC109 - seconds
        """Return a batch once it is completed, or has stopped or failed; raise WaitTimeout when that takes longer."""

    async def items(self, batch_id: str, status: str | None, limit: int, cursor: str | None) -> Page[BatchItem]:
        """Return a page of the items of a batch, in their order."""

    async def stop(self, batch_id: str, reason: str) -> BatchInfo:
        """Stop a batch."""

    async def continue_(self, batch_id: str) -> BatchInfo:
        """Have a stopped batch go on where it was."""

    async def delete(self, batch_id: str) -> None:
        """Delete a batch that has ended or was stopped."""
