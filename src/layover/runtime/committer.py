"""Group commit: what many executions have to write goes to the store together.

Appends gather for as long as it takes to come back to the event loop, and while the store is busy. Each is answered by
a call back, in the order of the store's answer. When the outcome of a commit is not known, the head tells it: the
writer's own epoch and the length of the log say whether the append has landed, must be sent again, or was fenced.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from layover.ports.records import Append, Command
    from layover.ports.store import Store
    from layover.runtime.meters import Meters

Told: TypeAlias = "Callable[[Outcome | StoreError], None]"

_MOST_AT_ONCE = 500
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0

_log = logging.getLogger("layover.committer")


class _Waiting(NamedTuple):
    append: Append
    told: Told


class Committer:
    """Sends appends to the store; at most one of each execution is on its way."""

    def __init__(self, store: Store, meters: Meters) -> None:
        self._store = store
        self._meters = meters
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Waiting] = []
        self._lanes: set[asyncio.Future[Any]] = set()
        self._soon = False
        self._stopped = False

    def submit(self, append: Append, told: Told) -> None:
        """Write an append with the next group."""
        self._waiting.append(_Waiting(append, told))
        self._send_soon()

    def insist(self, append: Append, decide: Callable[[tuple[Command, ...]], Append], told: Told) -> None:
        """Write an append that was refused for commands time and again: once more, with whatever comes in meanwhile."""
        self._occupy(self._insist(append, decide, told))

    async def _insist(self, append: Append, decide: Callable[[tuple[Command, ...]], Append], told: Told) -> None:
        try:
            outcome: Outcome | StoreError = await self._store.commit_informed(append, decide)
        except StoreError as error:  # what it came to is not known here: the next who takes it up finds out
            outcome = error
        told(outcome)

    async def stop(self) -> None:
        """Finish what is on its way; what the store cannot take is given up."""
        self._stopped = True
        while self._lanes or self._waiting:
            self._send()
            if self._lanes:
                await asyncio.wait(self._lanes)

    def _send(self) -> None:
        self._soon = False
        while self._waiting and len(self._lanes) < self._store.lanes:
            group, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
            written = self._written(group)
            self._lanes.add(written)
            written.add_done_callback(partial(self._answered, group, self._loop.time()))

    def _written(self, group: list[_Waiting]) -> asyncio.Future[list[Outcome]]:
        """Return the outcomes of a group to come. There is no task in between: every step waits for this."""
        try:
            return asyncio.ensure_future(self._store.commit([one.append for one in group]))
        except Exception as error:  # noqa: BLE001 - it is told like any other
            failed: asyncio.Future[list[Outcome]] = self._loop.create_future()
            failed.set_exception(error)
            return failed

    def _answered(self, group: list[_Waiting], sent_at: float, written: asyncio.Future[list[Outcome]]) -> None:
        error = written.exception()
        if error is None:
            reached(CommitPoint.APPEND_COMMITTED)
            self._meters.commit_size.observe(len(group))
            self._meters.commit_seconds.observe(self._loop.time() - sent_at)
            _tell_all(group, written.result())
        else:
            self._occupy(self._mend(group, error))
        self._lane_is_free(written)

    def _occupy(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._lanes.add(task)
        task.add_done_callback(self._lane_is_free)

    def _lane_is_free(self, lane: asyncio.Future[Any]) -> None:
        self._lanes.discard(lane)
        # Not at once: those who were just told may have something to write, which then goes along.
        self._send_soon()

    def _send_soon(self) -> None:
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._send)

    async def _commit(self, group: list[_Waiting]) -> None:
        try:
            outcomes = await self._store.commit([one.append for one in group])
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may be left without an answer
            await self._mend(group, error)
            return
        reached(CommitPoint.APPEND_COMMITTED)
        _tell_all(group, outcomes)

    async def _mend(self, group: list[_Waiting], error: BaseException) -> None:
        """Find out what became of appends whose commit failed, and write what can be written."""
        if isinstance(error, StoreUnavailable):
            _log.warning("commit_failed appends=%d error=%s", len(group), error.message)
            await self._find_out(group, error)
        else:
            await self._cannot_write(group, error)

    async def _find_out(self, group: list[_Waiting], error: StoreError) -> None:
        """Learn what became of appends whose commit was not answered; send again what has not landed."""
        pause = _FIRST_PAUSE
        while group and not self._stopped:
            again: list[_Waiting] = []
            for one in group:
                if one.append.new is not None:
                    await self._tell(one, error)
                    continue
                try:
                    outcome = await self._outcome_of(one.append)
                except StoreError:
                    outcome = None
                if outcome is None:
                    again.append(one)
                else:
                    one.told(outcome)
            group = again
            if group:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                group = await self._again(group)
        for one in group:
            one.told(error)

    async def _cannot_write(self, group: list[_Waiting], error: BaseException) -> None:
        """Write one by one what cannot be written together: one that cannot be written does not spoil the others."""
        if len(group) > 1:
            for one in group:
                await self._commit([one])
            return
        _log.error("append_unwritable execution=%s error=%s", group[0].append.execution_id, error)
        ours = error if isinstance(error, StoreError) else StoreError(f"It cannot be written: {error}.")
        await self._tell(group[0], ours)

    async def _again(self, group: list[_Waiting]) -> list[_Waiting]:
        """Send once more; return those about which still nothing is known."""
        try:
            outcomes = await self._store.commit([one.append for one in group])
        except StoreUnavailable:
            return group
        except Exception as error:  # noqa: BLE001 - as above
            await self._cannot_write(group, error)
            return []
        answers = list(zip(group, outcomes, strict=True))
        # The one that was not answered may have landed after we looked, and then this one is refused because of it.
        unsure = [one for one, outcome in answers if outcome.verdict == "fenced"]
        known = [(one, outcome) for one, outcome in answers if outcome.verdict != "fenced"]
        _tell_all([one for one, _ in known], [outcome for _, outcome in known])
        return unsure

    async def _tell(self, one: _Waiting, error: StoreError) -> None:
        """Tell whether an append has landed, or else why not; who begins an execution can decide what to do then."""
        try:
            outcome = await self._outcome_of(one.append)
        except StoreError:
            outcome = None
        one.told(outcome if outcome is not None else error)

    async def _outcome_of(self, append: Append) -> Outcome | None:
        """Return what became of an append by a look at its head; None if it has not landed and may be sent again."""
        row = await self._store.get(append.execution_id)
        if row is None:
            return None if append.new is not None else Outcome(verdict="fenced")
        head = row.head
        landed = (head.last_epoch, head.last_seq) == (append.epoch, append.expected_seq + append.count)
        if not append.count:  # it only took note of commands
            landed = landed and head.commands_done >= append.commands_seen and head.owner in (None, append.owner)
        is_driven_here = (head.owner, head.epoch) == (append.owner, append.epoch)
        if landed and (append.new is None or append.rest is not None or is_driven_here):
            return Outcome(verdict="passed", commands_seq=append.commands_seen)
        if is_driven_here and head.last_seq == append.expected_seq:
            return None
        if append.new is not None and not await self._has_begun_it(append):
            return Outcome(verdict="exists")
        return Outcome(verdict="fenced", commands_seq=head.commands_seq)

    async def _has_begun_it(self, append: Append) -> bool:
        """Return whether an execution was begun by this append, and not by another one under the same id."""
        first = await self._store.history(append.execution_id, 0, 1)
        return bool(first) and (first[0].at, first[0].events) == (append.at, append.events)


def _tell_all(group: list[_Waiting], outcomes: list[Outcome]) -> None:
    for one, outcome in zip(group, outcomes, strict=True):
        try:
            one.told(outcome)
        except Exception:  # noqa: BLE001 - the others are told all the same
            # What is durable stays so: whoever takes the execution up next goes on from there.
            _log.exception("outcome_not_taken execution=%s", one.append.execution_id)
