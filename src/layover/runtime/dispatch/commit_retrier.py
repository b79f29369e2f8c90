"""Appends whose commit failed or was not answered: they stay in memory until their outcome is known.

The head of an execution tells the outcome: its epoch and the length of the log say whether an append has landed, must
be sent again, or was fenced. Creations under one id all have the same epoch and may have the same length, so their
contents tell which one has landed. Appends are sent again in groups that are halved after each failure, so that a group
that is too large for the store, or for its timeout, gets through in parts.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError
from layover.ports.records import Outcome
from layover.runtime.dispatch.queued_append import is_refusal, leading, store_error, tell, tell_all

if TYPE_CHECKING:
    from layover.ports.records import Append
    from layover.ports.store import Store
    from layover.runtime.dispatch.queued_append import QueuedAppend

_FIRST_PAUSE = 0.05  # seconds
_LONGEST_PAUSE = 1.0

_log = logging.getLogger("layover.committer")


class CommitRetrier:
    """Writes the appends that failed with their group; other appends do not wait for it."""

    def __init__(self, store: Store, most: int, most_bytes: int) -> None:
        self._store = store
        self._largest = self._most = most
        self._most_bytes = most_bytes
        self._kept: list[tuple[QueuedAppend, StoreError]] = []
        self._task: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    async def mend(self, group: list[QueuedAppend], error: BaseException) -> None:
        """Find the outcome of appends whose commit failed, and write those that have not landed."""
        if is_refusal(error):
            for one in group:
                await self._write_alone(one)
            return
        ours = store_error(error)
        _log.warning("commit_failed appends=%d error=%s", len(group), ours.message, exc_info=error)
        self._schedule([(one, ours) for one in group if one.append.new is None])
        for one in group:
            if one.append.new is not None:  # the caller of a start decides what to do then
                await self._tell(one, ours)

    async def wait(self, seconds: float) -> float:
        """Wait before the next attempt, unless the committer stops; return the next pause."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds or _FIRST_PAUSE):
                await self._stopped.wait()
        return min(max(seconds, _FIRST_PAUSE) * 2, _LONGEST_PAUSE)

    async def stop(self) -> None:
        """Give up the appends that the store does not take."""
        self._stopped.set()
        if self._task is not None:
            await self._task

    @property
    def stopped(self) -> bool:
        """Whether retrying has stopped."""
        return self._stopped.is_set()

    async def outcome_if_known(self, append: Append) -> Outcome | None:
        """Return the outcome of an append; None if it has not landed, or the store does not answer."""
        try:
            return await self._outcome_of(append)
        except StoreError:
            return None
        except Exception:  # noqa: BLE001 - whatever it is, the next look may tell; nothing is left without an outcome
            _log.exception("outcome_not_found execution=%s", append.execution_id)
            return None

    # What is kept

    def _schedule(self, group: list[tuple[QueuedAppend, StoreError]]) -> None:
        """Retry appends until they have landed, or another instance drives their execution."""
        if not group:
            return
        self._most = max(1, min(self._most, len(group) // 2))
        self._kept += group
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._retry())

    async def _retry(self) -> None:
        pause = 0.0
        while self._kept and not self.stopped:
            kept, self._kept = self._kept, []
            left = [(one, error) for one, error in kept if not await self._has_become_known(one)]
            if left:
                pause = await self.wait(pause)
            while left and not self.stopped:
                count = leading([one for one, _ in left], self._most, self._most_bytes)
                group, left = left[:count], left[count:]
                if not await self._send(group):
                    break
                pause = 0.0
            self._kept = [*left, *self._kept]
        self._task = None
        for one, error in self._kept:
            tell(one, error)
        self._kept.clear()

    async def _has_become_known(self, one: QueuedAppend) -> bool:
        outcome = await self.outcome_if_known(one.append)
        if outcome is not None:
            tell(one, outcome)
        return outcome is not None

    async def _send(self, group: list[tuple[QueuedAppend, StoreError]]) -> bool:
        """Send appends once more; false if that failed, so that later ones wait."""
        pending = [one for one, _ in group]
        try:
            outcomes = await self._store.appends.commit([one.append for one in pending])
        except Exception as error:  # noqa: BLE001 - whatever it is, every caller gets an answer
            if is_refusal(error):
                for one, unanswered in group:
                    await self._write_alone(one, unanswered)
                return True
            ours = store_error(error)
            self._schedule([(one, ours) for one in pending])  # behind the others: what fails alone holds up no other
            return False
        self._most = min(self._most * 2, self._largest)
        # The one that was not answered may have landed after we looked, and then this one is refused because of it.
        self._kept += [told for told, outcome in zip(group, outcomes, strict=True) if outcome.verdict == "fenced"]
        for one, outcome in zip(pending, outcomes, strict=True):
            if outcome.verdict != "fenced":
                tell(one, outcome)
        return True

    # One by one

    async def _write_alone(self, one: QueuedAppend, unanswered: StoreError | None = None) -> None:
        """Write an append alone that was refused, or was in a group with a refused one.

        An attempt that was `unanswered` may have landed before: then neither being fenced nor a refusal tells that this
        append is not in the log, and it is kept until the head tells.
        """
        try:
            outcomes = await self._store.appends.commit([one.append])
        except Exception as error:  # noqa: BLE001 - as above
            if not is_refusal(error):
                await self.mend([one], error)
            else:
                await self._refused(one, error, unanswered)
            return
        reached(CommitPoint.APPEND_COMMITTED)
        if unanswered is not None and outcomes[0].verdict == "fenced":
            self._schedule([(one, unanswered)])
        else:
            tell_all([one], outcomes)

    async def _refused(self, one: QueuedAppend, error: Exception, unanswered: StoreError | None) -> None:
        """Tell that an append is refused, unless an attempt before has landed; if that cannot be seen, keep it."""
        if unanswered is not None:
            try:
                outcome = await self._outcome_of(one.append)
            except Exception:  # noqa: BLE001 - whatever it is, the next look may tell
                self._schedule([(one, unanswered)])
                return
            if outcome is not None:
                tell(one, outcome)
                return
        _log.error("append_unwritable execution=%s error=%s", one.append.execution_id, error, exc_info=error)
        await self._tell(one, store_error(error))

    async def _tell(self, one: QueuedAppend, error: StoreError) -> None:
        """Tell whether an append has landed, or else why not."""
        tell(one, await self.outcome_if_known(one.append) or error)

    async def _outcome_of(self, append: Append) -> Outcome | None:
        """Return the outcome of an append by reading the head; None if it has not landed and may be sent again."""
        row = await self._store.queries.find_execution(append.execution_id)
        if row is None:
            return None if append.new is not None else Outcome(verdict="fenced")
        if append.new is not None and not await self._has_begun_it(append):
            return Outcome(verdict="exists")
        head = row.head
        landed = (head.last_epoch, head.last_seq) == (append.epoch, append.expected_seq + append.count)
        if not append.count:  # it only took note of commands, or released the execution
            owners = (None,) if append.rest is not None else (None, append.owner)
            landed = landed and head.commands_done >= append.commands_seen and head.owner in owners
        is_driven_here = (head.owner, head.epoch) == (append.owner, append.epoch)
        if landed and (append.new is None or append.rest is not None or is_driven_here):
            return Outcome(verdict="passed", commands_seq=append.commands_seen)
        if is_driven_here and head.last_seq == append.expected_seq:
            return None
        return Outcome(verdict="fenced", commands_seq=head.commands_seq)

    async def _has_begun_it(self, append: Append) -> bool:
        """Return whether this append created the execution, and not another one under the same id."""
        first = await self._store.queries.read_history(append.execution_id, 0, 1)
        return bool(first) and (first[0].at, first[0].events) == (append.at, append.events)
