"""The records that belong to no execution, as they are copied: each kind page by page, in its own order.

An interrupted copy holds a prefix of each kind, so the name of its last record says where to resume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from layover.ports.access import AuditFilter
from layover.ports.moving import Batch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from layover.ports.access import Standing
    from layover.ports.records import AuditEntry
    from layover.ports.store import Store


class Shared(NamedTuple):
    """One kind of it: how it is read after a name, what each is named, how much at once, and what is said of it."""

    read: Callable[[Store, str, int], Awaitable[list[Any]]]
    name: Callable[[Any], str]
    batch: Callable[[tuple[Any, ...]], Batch]
    most: int
    what: str

    async def pages(self, store: Store, after: str = "") -> AsyncIterator[list[Any]]:
        """Yield all of it that comes after a name."""
        while page := await self.read(store, after, self.most):
            yield page
            after = self.name(page[-1])

    async def each(self, store: Store) -> AsyncIterator[Any]:
        """Yield all of it."""
        async for page in self.pages(store):
            for one in page:
                yield one


async def _standings(store: Store, after: str, most: int) -> list[Standing]:
    return [standing for standing in await store.standings() if standing.workflow > after][:most]


async def _audit(store: Store, after: str, most: int) -> list[AuditEntry]:
    at, _, id_ = after.partition(" ")
    return await store.audit(AuditFilter(after=(int(at), id_) if after else None, limit=most))


# By the names that they have in a tally; what is large, such as the data of signals, is few at once.
SHARED = {
    "signals": Shared(
        lambda store, after, most: store.kept_signals(after, most),
        lambda kept: str(kept.signal.id),
        lambda page: Batch(signals=page),
        50,
        "The signals are not the same.",
    ),
    "rates": Shared(
        lambda store, after, most: store.used_rates(after, most),
        lambda rate: str(rate.name),
        lambda page: Batch(rates=page),
        1_000,
        "What is used of rates is not the same.",
    ),
    "keys": Shared(
        lambda store, after, most: store.keys(after, most),
        lambda key: str(key.id),
        lambda page: Batch(keys=page),
        500,
        "The keys are not the same.",
    ),
    "standings": Shared(
        _standings,
        lambda standing: str(standing.workflow),
        lambda page: Batch(standings=page),
        500,
        "How workflows stand is not the same.",
    ),
    "audit": Shared(
        _audit,
        lambda entry: f"{entry.at} {entry.id}",
        lambda page: Batch(audit=page),
        500,
        "The audit entries are not the same.",
    ),
}
