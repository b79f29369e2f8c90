"""Following one execution: showing what happens, and asking the person at the terminal what it waits for."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING

from layover import Event
from layover.admin import OperatorEngine
from layover.cli.opened_points import opening_of
from layover.cli.prompts import EndOfInput, ask
from layover.cli.screen import note, say
from layover.errors import AnswerRefused, NotAllowed, WaitTimeout, WrongState

if TYPE_CHECKING:
    from layover import ExecutionHandle, LogLine, PausePointHandle, Progress, WaitingOn
    from layover.cli.live_view import View
    from layover.cli.prompts import PromptAnswer, Typed
    from layover.interface.door import Door

# Seconds until children are looked at again: their events are not in the log of the parent.
_LOOK_AGAIN, _LOOK_AGAIN_ON_SERVER = 0.25, 1.0
_BETWEEN_PICTURES = 0.1  # seconds
_MOMENT = "100ms"  # what is not at rest within that is at work
_SOON_RETRY = timedelta(minutes=5)  # another attempt later than that is a rest
_DEEPEST = 10  # of the children of children that are looked at
_OPEN = ("pending", "running", "pausing", "waiting", "paused")
_SOON = frozenset({"call", "commands", "place"})  # reasons to stand still that an engine with the functions ends
_FOR_OTHERS = frozenset({"not_allowed", "requester_excluded", "not_your_turn", "already_decided"})


class Following:
    """Follows an execution until it is closed, rests, or the person at the terminal stops answering.

    With `stay`, an execution at rest is followed as well. With `typed`, the person at the terminal is asked. `next_seq`
    is the number of the first event that was not shown: from there another one goes on that is given it as `since`.
    """

    def __init__(
        self,
        door: Door,
        execution: ExecutionHandle,
        view: View,
        *,
        stay: bool,
        typed: Typed | None = None,
        since: int = 0,
    ) -> None:
        self._door = door
        self._execution = execution
        self._view = view
        self._stay = stay
        self._typed = typed
        self._may_end_at_rest = not stay or typed is not None
        self._look_again = _LOOK_AGAIN if isinstance(door, OperatorEngine) else _LOOK_AGAIN_ON_SERVER
        self._news = _News(execution, since)
        self.next_seq = since
        self._outdated = False
        self._drawn_at = 0.0
        self._passed_over: set[str] = set()  # pause points that the person cannot answer, or has answered

    async def follow(self) -> None:
        """Show what happens until there is nothing left to wait for."""
        loop = asyncio.get_running_loop()
        reading, following = loop.create_task(self._news.read()), loop.create_task(self._follow())
        try:
            await asyncio.wait([reading, following], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()  # it may have failed
            await following
        finally:
            for task in (reading, following):
                task.cancel()
            await asyncio.gather(reading, following, return_exceptions=True)

    async def _follow(self) -> None:
        try:
            await self._until_nothing_is_left()
        finally:
            self._news.stop()

    async def _until_nothing_is_left(self) -> None:
        while True:
            is_over = self._news.is_over  # before what is shown: all events are there by then
            is_at_rest = not is_over and self._may_end_at_rest and await self._news.is_at_rest()
            await self._show(is_still=is_over or is_at_rest)
            if is_over:
                return
            question = await self._question() if self._typed is not None else None
            if question is not None and self._typed is not None:
                if not await self._ask_person(question, self._typed):
                    return
            elif is_at_rest and not await self._goes_on():
                return
            else:
                await self._news.wait(self._look_again)

    async def _show(self, *, is_still: bool) -> None:
        events = self._news.take()
        if events:
            self._view.tell(events)
            self.next_seq = max(self.next_seq, *(one.seq + 1 for one in events if isinstance(one, Event)), 0)
        if not self._view.live or not (events or self._outdated):
            return
        # A picture needs all nodes, so not every event of a fast execution gets one.
        self._outdated = not is_still and monotonic() - self._drawn_at < _BETWEEN_PICTURES
        if not self._outdated:
            status = (await self._execution.refresh()).status
            self._view.picture(status, await self._execution.nodes().all())
            self._drawn_at = monotonic()

    # The person at the terminal

    async def _question(self) -> PausePointHandle | None:
        """Return a pause point that the person can answer."""
        async for point in self._execution.points(children=True):
            if point.kind not in ("approval", "form") or point.id in self._passed_over:
                continue
            if await self._is_mine(point):
                return point
            self._passed_over.add(point.id)
        return None

    async def _is_mine(self, point: PausePointHandle) -> bool:
        async for mine in self._door.inbox(workflow=point.workflow):
            if mine.id == point.id:
                return True
        return False

    async def _ask_person(self, point: PausePointHandle, typed: Typed) -> bool:
        """Ask the person; return whether they answered, or another user did."""
        await self._news.until((await self._execution.refresh()).last_seq)
        await self._show(is_still=True)  # what led to the question
        self._view.suspend()
        asking = asyncio.ensure_future(ask(point.info, await opening_of(self._door, point.info), typed))
        gone = asyncio.ensure_future(self._gone(point))
        try:
            await asyncio.wait([asking, gone], return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                say("")
                note(f"`{point.context_id}` no longer waits for an answer.")
                return True
            await self._answer(point, asking.result())
        except EndOfInput:
            return False
        except asyncio.CancelledError:
            say("")  # the line of the question was left unfinished
            raise
        finally:
            for task in (asking, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, EndOfInput):
                    await task
        return True

    async def _answer(self, point: PausePointHandle, given: PromptAnswer) -> None:
        give = {None: point.answer, True: point.approve, False: point.reject}[given.approved]
        try:
            await give(given.data, comment=given.comment)
        except (AnswerRefused, NotAllowed, WrongState) as refused:
            note(f"{refused.message} ({refused.code})", "red")
            for path, what in getattr(refused, "errors", ()):
                note(f"  {path}: {what}")
            if refused.code in _FOR_OTHERS:
                self._passed_over.add(point.id)
        else:
            self._passed_over.add(point.id)

    async def _gone(self, point: PausePointHandle) -> None:
        """Return when a point is answered elsewhere, has expired or was cancelled."""
        seen = await self._door.point(point.id)
        execution = await self._door.execution(point.execution_id)
        if seen.status != "open":
            return
        async for _ in execution.events(since=execution.last_seq + 1):
            if (await seen.refresh()).status != "open":
                return

    # What rests

    async def _goes_on(self) -> bool:
        """Return whether an execution at rest is worth waiting for."""
        if self._stay:
            return not await self._waits_for_others()
        return await self._is_busy(self._execution, _DEEPEST)

    async def _is_busy(self, execution: ExecutionHandle, depth: int) -> bool:
        """Return whether an execution at rest goes on by itself: it is tried again, or one of its children runs."""
        waiting = (await execution.refresh()).waiting_on
        if not waiting and await _goes_on_here(execution):
            return True
        if waiting and all(map(_is_soon_retry, waiting)):
            return True
        awaited = sum([point.kind == "child" async for point in execution.points()]) if depth else 0
        if not awaited:
            return False
        children = [one.id async for one in self._door.executions(parent_id=execution.id, status=_OPEN)]
        if len(children) < awaited:
            return True  # a child is about to begin, or to tell its parent that it has ended
        return any([await self._is_child_busy(child, depth - 1) for child in children])

    async def _is_child_busy(self, execution_id: str, depth: int) -> bool:
        child = await self._door.execution(execution_id)
        try:
            await child.wait("rest", timeout=_MOMENT)
        except WaitTimeout:
            return True
        return child.closed or await self._is_busy(child, depth)

    async def _waits_for_others(self) -> bool:
        """Return whether only other people can bring it on: the person here has been asked."""
        points = self._execution.points(children=True)
        return any([point.id in self._passed_over async for point in points])


def _is_soon_retry(waiting: WaitingOn) -> bool:
    """Return whether a node is tried again soon: what is far away is a rest, as a long delay is."""
    soon = datetime.now(UTC) + _SOON_RETRY
    return waiting.kind == "retry" and (waiting.until is None or waiting.until <= soon)


async def _goes_on_here(execution: ExecutionHandle) -> bool:
    """Return whether an execution only waits to be claimed, or for a call slot: this process has its functions."""
    reasons = (await execution.why()).reasons
    return bool(reasons) and all(reason.kind in _SOON for reason in reasons)


class _News:
    """The events of an execution as they come, and whether it has come to rest behind them."""

    def __init__(self, execution: ExecutionHandle, since: int) -> None:
        self._execution = execution
        self._since = since
        self._events: list[Event | Progress | LogLine] = []
        self._seen = since - 1
        self._changed = asyncio.Event()
        self._rest: asyncio.Task[int] | None = None
        self.is_over = False

    async def read(self) -> None:
        """Collect events until the execution is closed."""
        async for one in self._execution.watch(since=self._since):
            self._events.append(one)
            if isinstance(one, Event):
                self._seen = one.seq
            self._changed.set()
        self.is_over = True
        self._changed.set()

    def take(self) -> list[Event | Progress | LogLine]:
        """Return the events and the progress since the last call."""
        taken, self._events = self._events, []
        self._changed.clear()
        return taken

    async def is_at_rest(self) -> bool:
        """Return whether nothing of the execution is about to happen, and all of its events are here."""
        if self._rest is None:
            self._rest = asyncio.get_running_loop().create_task(self._until_rest())
        if not self._rest.done():
            return False
        rest, self._rest = self._rest, None
        return rest.result() <= self._seen

    async def until(self, seq: int) -> None:
        """Return when all events up to a number are here."""
        while self._seen < seq and not self.is_over:
            self._changed.clear()
            await self._changed.wait()

    async def wait(self, longest: float) -> None:
        """Return when there is news: events, or the rest; or after a while."""
        changed = asyncio.ensure_future(self._changed.wait())
        waited = [changed] if self._rest is None else [changed, self._rest]
        try:
            await asyncio.wait(waited, timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def stop(self) -> None:
        """Stop waiting for the rest."""
        if self._rest is not None:
            self._rest.cancel()

    async def _until_rest(self) -> int:
        """Return the number of the last event before the execution came to rest."""
        while True:
            found = (await self._execution.wait("rest")).info
            if found.closed or found.lease is None:  # it may have been claimed since
                return found.last_seq
            await asyncio.sleep(_LOOK_AGAIN)
