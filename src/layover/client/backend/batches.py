"""Batches over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import delete, get, path_of, post
from layover.interface.batch_wait import until_at_rest
from layover.model.batches import BatchInfo, BatchItem, StopBatchBody
from layover.model.shared import EmptyBody, Page

if TYPE_CHECKING:
    from layover.client.transport import Transport
    from layover.model.batches import BatchBody


class HttpBatches:
    """One act on many items."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, body: BatchBody, idempotency_key: str | None) -> BatchInfo:
        """Make a batch; with `dry_run`, only count its items, and show some."""
        return await self._transport.ask(post(path_of("batches"), body, idempotency_key), BatchInfo)

    async def list(self, status: str | None, limit: int, cursor: str | None) -> Page[BatchInfo]:
        """Return a page of batches, the newest first."""
        path = path_of("batches", status=status, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[BatchInfo])

    async def get(self, batch_id: str) -> BatchInfo:
        """Return a batch."""
        return await self._transport.ask(get(path_of("batches", batch_id)), BatchInfo)

    async def wait(self, batch_id: str, timeout: float | None) -> BatchInfo:  # noqa: ASYNC109 - as the interface
        """Return a batch once it is completed, or has stopped or failed."""
        return await until_at_rest(lambda: self.get(batch_id), timeout)

    async def items(self, batch_id: str, status: str | None, limit: int, cursor: str | None) -> Page[BatchItem]:
        """Return a page of the items of a batch, in their order."""
        path = path_of("batches", batch_id, "items", status=status, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[BatchItem])

    async def stop(self, batch_id: str, reason: str) -> BatchInfo:
        """Stop a batch."""
        body = StopBatchBody(reason=reason or None)
        return await self._transport.ask(post(path_of("batches", batch_id, "stop"), body), BatchInfo)

    async def continue_(self, batch_id: str) -> BatchInfo:
        """Have a stopped batch go on where it was."""
        return await self._transport.ask(post(path_of("batches", batch_id, "continue"), EmptyBody()), BatchInfo)

    async def delete(self, batch_id: str) -> None:
        """Delete a batch that has ended or was stopped."""
        await self._transport.send(delete(path_of("batches", batch_id)))
