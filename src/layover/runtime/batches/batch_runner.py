"""Works on batches that are due, for as long as the instance lives.

A round is one claim: the batch is collected, done or watched for one page, and let go of. Nothing of a batch is kept
in memory between two rounds, so any instance does the next one, and batches that are due take turns. An act is done
under an idempotency key that follows from the batch and the number of the item, before it is noted; an instance that
dies in between leaves items that the next one finds done.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.errors import LayoverError
from layover.ports.batch_records import CANARY_FAILED, LIVE_BATCHES, BatchAdvance, BatchClaim, BatchItemFilter
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.runtime.batches.batch_acts import body_of_batch
from layover.runtime.batches.canary import Look, failed_act, failure_of, look_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.batches import BatchBody
    from layover.ports.batch_records import BatchItemRow, BatchRow, BatchState
    from layover.ports.store import Store
    from layover.runtime.batches.batch_acts import BatchActs
    from layover.runtime.batches.collector import ItemCollector
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.service import Service
    from layover.runtime.metrics import Metrics
    from layover.runtime.settings import RuntimeSettings

MOST_ITEMS: Final = 1_000_000  # of one batch
_PAGE: Final = 128  # items of one round
_AT_ONCE: Final = 16  # of them
_LONGEST_CLAIM: Final = 60_000  # milliseconds
_BURST: Final = 1_000  # milliseconds whose items may be done at once after a rest
_LOOKS: Final = 10  # at a canary while it is watched
_LEAST_LOOK: Final = 1_000  # milliseconds
_POLLS_AT_REST: Final = 5
_LONGEST_REASON: Final = 1_000
_MILLION: Final = 1_000_000

_log = logging.getLogger("layover.batches")


class BatchRunner:
    """Claims batches, and does their items."""

    def __init__(
        self, store: Store, clock: Clock, settings: RuntimeSettings, collector: ItemCollector, metrics: Metrics
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._collector = collector
        self._metrics = metrics
        self._claim = min(settings.lease_ttl, _LONGEST_CLAIM)
        self._hinted = asyncio.Event()
        self._look_at = 0
        self._stopped = False
        self.acts: BatchActs | None = None  # without it nothing is claimed

    def hint(self, at: int = 0) -> None:
        """Look at a moment at the latest."""
        self._look_at = min(self._look_at, at)
        self._hinted.set()

    def stop(self) -> None:
        """Claim no more; what is being done is finished and noted."""
        self._stopped = True
        self._hinted.set()

    async def run(self, service: Service) -> None:
        """Work until told to stop."""
        while not self._stopped:
            await self._round()
            service.succeeded()
            while self._rests():
                self._hinted.clear()
                await self._clock.wait(self._look_at, self._hinted)

    def _rests(self) -> bool:
        return not self._stopped and self._look_at > self._clock.now()

    async def _round(self) -> None:
        """Claim the batch that is due first, and work on it; if none is, rest until one may be."""
        now = self._clock.now()
        self._look_at = now + _POLLS_AT_REST * self._settings.poll
        due = await self._store.batches.read_due()
        if due is None or self.acts is None:
            return
        if due > now:
            self.hint(due)
            return
        claim = BatchClaim(now=now, due_again=now + self._claim)
        row = await self._store.batches.claim(claim)
        if row is None:  # another instance was quicker
            self.hint(now + self._settings.poll)
            return
        reached(CommitPoint.BATCH_CLAIMED)
        self._look_at = 0
        try:
            await self._work(row)
        except StoreError:
            raise
        except LayoverError as error:  # what it asks for cannot be done by this release, or not any more
            await self._advance(_ended(row, "failed", error.code, error.message, self._clock.now()))

    async def _work(self, row: BatchRow) -> None:
        body = body_of_batch(row)
        match row.state:
            case "collecting":
                await self._collect(row, body)
            case "watching":
                await self._watch(row)
            case _:
                await self._do(row, body)

    # Collecting

    async def _collect(self, row: BatchRow, body: BatchBody) -> None:
        """Fix the next page of items."""
        page = await self._collector.page(body, row.created_at, row.cursor)
        added = tuple(replace(item, n=row.total + n) for n, item in enumerate(page.items, start=1))
        now = self._clock.now()
        after = replace(row, total=row.total + len(added), cursor=page.cursor or "", due_at=now)
        if page.cursor is None or after.total >= MOST_ITEMS:  # all that there will be
            after = replace(after, canary=-(-after.total * row.share // _MILLION))
        if page.cursor is None:
            after = replace(after, state="running" if after.total else "completed")
            after = after if after.total else replace(after, ended_at=now)
        elif after.total >= MOST_ITEMS:
            reason = f"It has more than {MOST_ITEMS:,} items: narrow it down, or have it go on with those."
            after = replace(_stopped(after, "too_many_items", reason, now), cursor="")
        await self._advance(after, added=added)

    # Acting

    async def _do(self, row: BatchRow, body: BatchBody) -> None:
        """Do the next items, as many as the rate and the canary allow."""
        now = self._clock.now()
        if row.canary and row.failed:  # it was stopped in the moment in which its canary failed
            await self._advance(_stopped(row, CANARY_FAILED, await failed_act(self._store, row) or "", now))
            return
        if row.canary and row.done + row.failed >= row.canary:
            await self._begin_watch(row, now)
            return
        free_at = _free_at(row, now)
        most = min(_PAGE, (now - free_at) // row.interval + 1) if row.interval else _PAGE
        if most <= 0:
            await self._advance(replace(row, due_at=free_at))
            return
        if row.canary:
            most = min(most, row.canary - row.done - row.failed)
        wanted = BatchItemFilter(batch_id=row.id, after=row.position, limit=most)
        settled = await self._perform(row, body, await self._store.batches.list_items(wanted))
        reached(CommitPoint.BATCH_ITEMS_DONE)
        await self._advance(self._after(row, settled, free_at), settled=settled)

    async def _perform(self, row: BatchRow, body: BatchBody, items: Sequence[BatchItemRow]) -> tuple[BatchItemRow, ...]:
        """Do some items, a few at once; stop early if that takes long, or if the batch was stopped."""
        settled: list[BatchItemRow] = []
        until = self._clock.now() + self._claim // 3
        for first in range(0, len(items), _AT_ONCE):
            if first and (self._stopped or self._clock.now() > until or await self._is_stopped(row)):
                break
            some = items[first : first + _AT_ONCE]
            # All are waited for: an act that is left alone could come after what its successor does.
            found = await asyncio.gather(*(self._settle(row, body, item) for item in some), return_exceptions=True)
            for one in found:
                if isinstance(one, BaseException):
                    raise one
                settled.append(one)
        return tuple(settled)

    async def _settle(self, row: BatchRow, body: BatchBody, item: BatchItemRow) -> BatchItemRow:
        if self.acts is None:
            raise AssertionError("a batch is claimed by an instance that can act")
        outcome = await self.acts.perform(row, body, item)
        reached(CommitPoint.BATCH_ITEM_DONE)
        reason = _plain(outcome.reason)
        return replace(item, state=outcome.state, code=outcome.code, reason=reason, at=self._clock.now())

    async def _is_stopped(self, row: BatchRow) -> bool:
        found = await self._store.batches.find(row.id)
        return found is None or found.epoch != row.epoch or found.state not in LIVE_BATCHES

    def _after(self, row: BatchRow, settled: Sequence[BatchItemRow], free_at: int) -> BatchRow:
        """Return a batch after some of its items were done."""
        now, states = self._clock.now(), [item.state for item in settled]
        after = replace(
            row,
            position=settled[-1].n if settled else row.total,
            done=row.done + states.count("done"),
            skipped=row.skipped + states.count("skipped"),
            failed=row.failed + states.count("failed"),
            free_at=free_at + len(settled) * row.interval if row.interval else row.free_at,
        )
        failed = next((item for item in settled if item.state == "failed"), None)
        if row.canary and failed is not None:
            return _stopped(after, CANARY_FAILED, failure_of(failed), now)
        if after.position >= after.total:
            return replace(after, state="completed", ended_at=now, canary=0)
        return replace(after, due_at=max(now, after.free_at) if row.interval else now)

    # Watching

    async def _begin_watch(self, row: BatchRow, now: int) -> None:
        until = now + row.watch
        await self._advance(replace(row, state="watching", watch_until=until, due_at=self._next_look(row, now, until)))

    async def _watch(self, row: BatchRow) -> None:
        """Look at what became of the canary, and keep the claim while that takes."""
        now, until = self._clock.now(), row.watch_until or 0
        keep_at, look = now + self._claim // 3, Look(after=0)
        while look.after is not None:
            look = await look_at(self._store, row, look.after)
            if look.fault is not None:
                await self._advance(_stopped(row, CANARY_FAILED, look.fault, self._clock.now()))
                return
            if self._clock.now() >= keep_at:
                if self._stopped or not await self._keeps(row):
                    return
                keep_at = self._clock.now() + self._claim // 3
        if now >= until:
            await self._advance(replace(row, state="running", canary=0, watch_until=None, due_at=now))
        else:
            await self._advance(replace(row, due_at=self._next_look(row, now, until)))

    async def _keeps(self, row: BatchRow) -> bool:
        """Put off the claim of a batch; false if it was stopped, or if another instance has claimed it since."""
        kept = replace(row, due_at=self._clock.now() + self._claim)
        after = await self._store.batches.advance(BatchAdvance(row=kept))
        return after is not None and after.state in LIVE_BATCHES

    def _next_look(self, row: BatchRow, now: int, until: int) -> int:
        return min(until, now + max(row.watch // _LOOKS, _LEAST_LOOK))

    # Writing

    async def _advance(
        self, row: BatchRow, *, added: tuple[BatchItemRow, ...] = (), settled: tuple[BatchItemRow, ...] = ()
    ) -> None:
        """Write what was done, unless another instance has claimed the batch since: then that one does it again."""
        after = await self._store.batches.advance(BatchAdvance(row=row, added=added, settled=settled))
        reached(CommitPoint.BATCH_ADVANCED)
        if after is None:
            _log.warning("batch_taken_over batch=%s act=%s", row.id, row.act)
            return
        for item in settled:
            self._metrics.count_batch_item(row.act, item.state)
        if after.state == "completed":
            _log.info("batch_completed batch=%s act=%s done=%d skipped=%d failed=%d", *_figures(after))
        elif after.state in ("stopped", "failed") and row.state == after.state:
            _log.warning("batch_stopped batch=%s code=%s reason=%s", after.id, after.code, after.reason)


def _free_at(row: BatchRow, now: int) -> int:
    """Return when the rate allows the next item: after a rest, as if as many as go at once had been left out."""
    if not row.interval:
        return now
    at_once = max(_BURST // row.interval, 1)
    return max(row.free_at, now - (at_once - 1) * row.interval)


def _stopped(row: BatchRow, code: str, reason: str, now: int) -> BatchRow:
    return _ended(row, "stopped", code, reason, now)


def _ended(row: BatchRow, state: BatchState, code: str, reason: str, now: int) -> BatchRow:
    return replace(row, state=state, code=code, reason=_plain(reason), ended_at=now)


def _plain(reason: str) -> str:
    """Return a reason that every database can keep: it may quote what a caller or a server has said."""
    return reason[:_LONGEST_REASON].encode("utf-8", "replace").decode().replace("\0", "")


def _figures(row: BatchRow) -> tuple[str, str, int, int, int]:
    return row.id, row.act, row.done, row.skipped, row.failed
