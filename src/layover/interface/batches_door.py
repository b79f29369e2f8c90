"""The part of the door that is about batches: one act on many items."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from layover.interface.arguments import check_word
from layover.interface.batch_handle import BATCH_STATUSES, BatchHandle
from layover.interface.bodies import body_of
from layover.interface.bounds import check_key
from layover.interface.listing import Listing
from layover.model.batches import BatchBody
from layover.model.shared import Page

if TYPE_CHECKING:
    from typing import Any

    from layover.interface.backend import Backend

_EXAMPLE: Final = "{'act': 'pause', 'where': {'workflow': 'order'}}"


class BatchesDoor:
    """What a program can ask about batches."""

    _backend: Backend

    async def batch(  # noqa: PLR0913 - each is named where it is given
        self,
        act: str,
        where: Mapping[str, Any],
        *,
        dry_run: bool = False,
        rate: str | None = None,
        canary: Mapping[str, Any] | None = None,
        reason: str | None = None,
        to: str | None = None,
        version: int | None = None,
        map: Mapping[str, str] | None = None,  # noqa: A002 - as everywhere
        data: Any = UNSET,
        approved: bool | None = None,
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> BatchHandle:
        """Do one act to all items that `where` names, as a durable batch that any instance works on.

        With `dry_run` nothing is changed: the result has their number, as `total`, and a `sample`. `canary` is
        `{"share": "5%", "watch": "10m"}`: so many are done first, and the others once none of them has failed.
        """
        check_key(idempotency_key)
        options = {
            "reason": reason,
            "to": to,
            "version": version,
            "map": map or {},
            "approved": approved,
            "comment": comment,
        }
        given = {
            "act": act,
            "where": _with_texts(where),
            "dry_run": dry_run,
            "rate": rate,
            "canary": canary,
            "with": options if data is UNSET else {**options, "data": data},
        }
        body = body_of(given, BatchBody, _EXAMPLE)
        return BatchHandle(self._backend, await self._backend.batches.create(body, idempotency_key))

    async def find_batch(self, id: str) -> BatchHandle:  # noqa: A002 - as everywhere
        """Return a batch."""
        return BatchHandle(self._backend, await self._backend.batches.get(id))

    def batches(self, *, status: str | None = None) -> Listing[BatchHandle]:
        """Return batches, the newest first."""
        check_word("status", status, BATCH_STATUSES)
        backend = self._backend

        async def read(limit: int, cursor: str | None) -> Page[BatchHandle]:
            page = await backend.batches.list(status, limit, cursor)
            return Page(items=tuple(BatchHandle(backend, one) for one in page.items), next=page.next)

        return Listing(read)


def _with_texts(where: object) -> object:
    """Return which items a batch is for, with moments as they are written."""
    if not isinstance(where, Mapping):  # Python passes whatever it is given
        return where
    return {name: one.isoformat() if isinstance(one, datetime) else one for name, one in where.items()}
