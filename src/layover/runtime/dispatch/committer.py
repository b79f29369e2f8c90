"""Group commit: the appends of many executions go to the store in one transaction.

Appends are collected until the event loop comes back to the committer, and while the store is busy. A group is bounded
in number and in bytes. The outcome of each append is passed to its callback, in the order of the store's answer.

A store that cannot be reached or written holds no execution up: a creation fails at once, and the appends of running
executions go to the retrier until they have landed. An append that the store refuses for its contents is sent once more
alone, so that it does not spoil its group; then its callback gets the reason.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.prompt_future import PromptFuture
from layover.runtime.dispatch.commit_retrier import CommitRetrier
from layover.runtime.dispatch.queued_append import QueuedAppend, leading, store_error, tell, tell_all

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from layover.ports.records import Append, Outcome, QueuedCommand
    from layover.ports.store import Store
    from layover.runtime.execution.environment import Told
    from layover.runtime.metrics import Metrics

MOST_AT_ONCE = 500
MOST_BYTES = 16_000_000


class Committer:
    """Sends appends to the store; each execution has at most one in flight."""

    def __init__(self, store: Store, metrics: Metrics, most_bytes: int = MOST_BYTES) -> None:
        self._store = store
        self._metrics = metrics
        self._most_bytes = most_bytes
        self._loop = asyncio.get_running_loop()
        self._waiting: list[QueuedAppend] = []
        self._lanes: set[asyncio.Future[Any]] = set()
        self._apart: set[asyncio.Task[None]] = set()  # what is being found out, or written by itself
        self._retrier = CommitRetrier(store, MOST_AT_ONCE, most_bytes)
        self._soon = False

    def submit(self, append: Append, told: Told) -> None:
        """Write an append with the next group."""
        self._waiting.append(QueuedAppend(append, told))
        self._send_soon()

    def insist(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append], told: Told) -> None:
        """Write an append that was refused for commands time and again: once more, with whatever comes in meanwhile."""
        self._beside(self._insist(append, decide, told))

    async def stop(self) -> None:
        """Finish the appends in flight; those that the store does not take are given up."""
        await self._retrier.stop()
        while self._lanes or self._apart or self._waiting:
            self._send()
            if under_way := {*self._lanes, *self._apart}:
                await asyncio.wait(under_way)
            await self._retrier.stop()

    def _send(self) -> None:
        self._soon = False
        while self._waiting and len(self._lanes) < self._store.appends.lanes:
            count = leading(self._waiting, MOST_AT_ONCE, self._most_bytes)
            group, self._waiting = self._waiting[:count], self._waiting[count:]
            written = self._commit_group(group)
            self._lanes.add(written)
            answered = partial(self._answered, group, self._loop.time())
            if isinstance(written, PromptFuture):
                written.on_settled = answered
            else:
                written.add_done_callback(answered)

    def _commit_group(self, group: list[QueuedAppend]) -> asyncio.Future[list[Outcome]]:
        """Return the outcomes of a group to come. There is no task in between: every step waits for this."""
        try:
            written = self._store.appends.commit([one.append for one in group])
            return written if isinstance(written, asyncio.Future) else asyncio.ensure_future(written)
        except Exception as error:  # noqa: BLE001 - the writers get it like any other error
            failed: asyncio.Future[list[Outcome]] = self._loop.create_future()
            failed.set_exception(error)
            return failed

    def _answered(self, group: list[QueuedAppend], sent_at: float, written: asyncio.Future[list[Outcome]]) -> None:
        error = written.exception()
        if error is None:
            reached(CommitPoint.APPEND_COMMITTED)
            self._metrics.commit_size.observe(len(group))
            self._metrics.commit_seconds.observe(self._loop.time() - sent_at)
            tell_all(group, written.result())
        else:
            self._beside(self._retrier.mend(group, error))
        self._lanes.discard(written)
        # Not at once: those who were just told may have something to write, which then goes along.
        self._send_soon()

    def _send_soon(self) -> None:
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._send)

    def _beside(self, work: Coroutine[object, object, None]) -> None:
        """Run something slow in a task of its own, so that it holds up no group."""
        task = self._loop.create_task(work)
        self._apart.add(task)
        task.add_done_callback(self._apart.discard)

    async def _insist(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append], told: Told) -> None:
        latest, pause = append, 0.0

        def decided(commands: tuple[QueuedCommand, ...]) -> Append:
            nonlocal latest
            try:
                latest = decide(commands)
            except Exception as error:
                raise StoreError(f"It cannot be decided: {error!r}.") from error
            return latest

        while True:
            try:
                outcome: Outcome | StoreError | None = await self._store.appends.commit_informed(latest, decided)
            except Exception as error:  # noqa: BLE001 - as above
                outcome = ours = store_error(error)
                if isinstance(ours, StoreUnavailable):  # perhaps it has landed all the same
                    outcome = await self._retrier.outcome_if_known(latest)
                    if outcome is None and self._retrier.stopped:
                        outcome = ours
            if outcome is not None:
                tell(QueuedAppend(latest, told), outcome)
                return
            pause = await self._retrier.wait(pause)
