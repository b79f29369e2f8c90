"""One batch, to act on and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from layover.interface.arguments import check_word
from layover.interface.bounds import SHORT, check_text
from layover.interface.durations import seconds_of
from layover.interface.handle import Handle
from layover.interface.listing import Listing
from layover.model.batches import BatchInfo

if TYPE_CHECKING:
    from typing import Any

    from layover.core.moments import Moment
    from layover.interface.durations import Duration
    from layover.model.batches import BatchCanary, BatchItem
    from layover.model.shared import Page

BATCH_STATUSES: Final = ("pending", "running", "watching", "stopped", "completed", "failed")
ITEM_STATUSES: Final = ("pending", "done", "failed")


class BatchHandle(Handle[BatchInfo]):
    """A batch: its methods act, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        id: str | None  # None: a dry run
        act: str
        status: str  # no Literal: a type checker would not believe that it changes
        code: str | None
        reason: str
        user: str | None
        where: dict[str, Any]
        options: dict[str, Any]
        rate: str | None
        canary: BatchCanary | None
        created_at: Moment
        ended_at: Moment | None
        total: int
        more: bool
        done: int
        failed: int
        skipped: int
        pending: int
        sample: tuple[BatchItem, ...]

    def __repr__(self) -> str:
        return (
            f"<batch {self.info.id} of {self.info.act}: {self.info.status}, {self.info.pending} of {self.info.total}>"
        )

    async def refresh(self) -> Self:
        """Read it anew."""
        self.info = await self._backend.batches.get(self.info.id or "")
        return self

    async def wait(self, *, timeout: Duration | None = None) -> Self:  # noqa: ASYNC109 - as everywhere
        """Return once it is completed, or has stopped or failed; WaitTimeout if that takes longer."""
        if self.info.id is None:  # a dry run
            return self
        self.info = await self._backend.batches.wait(self.info.id, seconds_of("timeout", timeout))
        return self

    async def stop(self, reason: str = "") -> Self:
        """Stop it: what it has begun to do is finished, and no more is begun."""
        check_text("reason", reason, SHORT)
        self.info = await self._backend.batches.stop(self.info.id or "", reason)
        return self

    async def continue_(self) -> Self:
        """Have it go on where it was stopped. After a failed canary, the rest is done without one."""
        self.info = await self._backend.batches.continue_(self.info.id or "")
        return self

    def items(self, *, status: str | None = None) -> Listing[BatchItem]:
        """Return its items in their order, each with what became of it."""
        check_word("status", status, ITEM_STATUSES)
        backend, id_ = self._backend, self.info.id or ""

        async def read(limit: int, cursor: str | None) -> Page[BatchItem]:
            return await backend.batches.items(id_, status, limit, cursor)

        return Listing(read)

    async def delete(self) -> None:
        """Delete it, unless it is at work; what it has done stays done."""
        await self._backend.batches.delete(self.info.id or "")
