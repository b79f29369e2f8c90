"""Workers: each piece of work is done once, none holds up another, and none leaves anything behind."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest  # noqa: TC002 - read by pytest

from layover.runtime.calls.workers import Workers

Work: TypeAlias = Callable[[], Awaitable[object]]
MARK: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="clean")


class Team:
    """Workers that do what they are given, and what each of them saw."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self._left = 0
        self._done = asyncio.Event()
        self.workers: Workers[Work] = Workers(self._do)

    async def _do(self, work: Work, task: asyncio.Task[None]) -> None:
        self.tasks.append(task)
        try:
            await work()
        except asyncio.CancelledError:
            pass
        finally:
            self._left -= 1
            if not self._left:
                self._done.set()

    async def do(self, *works: Work) -> None:
        """Have work done, and wait until all of it is."""
        self._left += len(works)
        self._done.clear()
        for work in works:
            self.workers.add(work)
        await self._done.wait()


async def _nothing() -> None:
    return


async def test_work_that_never_waits_is_done_by_one_worker() -> None:
    team = Team()
    await team.do(*[_nothing] * 50)
    assert len(team.tasks) == 50
    assert len(set(team.tasks)) == 1


async def test_work_that_waits_does_not_hold_up_the_rest() -> None:
    team, may_end, others = Team(), asyncio.Event(), asyncio.Event()
    done: list[int] = []

    async def wait() -> None:
        await may_end.wait()

    async def go_on() -> None:
        done.append(len(done))
        if len(done) == 20:
            others.set()

    doing = asyncio.create_task(team.do(*[wait] * 5, *[go_on] * 20, *[wait] * 5))
    await others.wait()
    may_end.set()
    await doing
    assert len(set(team.tasks)) > 5


async def test_a_worker_whose_work_was_cancelled_does_no_more() -> None:
    team, begun = Team(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    doing = asyncio.create_task(team.do(wait))
    await begun.wait()
    team.tasks[0].cancel()
    await doing
    await team.do(_nothing)
    assert team.tasks[1] is not team.tasks[0]
    assert team.tasks[1].cancelling() == 0


async def test_what_work_leaves_in_the_context_is_not_seen_by_the_next() -> None:
    team, seen = Team(), list[str]()

    async def look() -> None:
        seen.append(MARK.get())

    async def mark() -> None:
        MARK.set("left behind")

    await team.do(look, mark, look, mark, look)
    assert seen == ["clean"] * 3


async def test_timeouts_work_in_every_piece_of_work() -> None:
    team, timed_out = Team(), list[bool]()

    async def too_long() -> None:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            timed_out.append(True)

    await team.do(*[too_long] * 10)
    await team.do(*[too_long] * 10)
    assert timed_out == [True] * 20


async def test_a_fault_does_not_keep_others_from_being_done(caplog: pytest.LogCaptureFixture) -> None:
    team = Team()

    async def fail() -> None:
        raise ValueError("a fault of ours")

    await team.do(fail, _nothing, fail, _nothing)
    assert len(team.tasks) == 4
    assert [record.message.split()[0] for record in caplog.records] == ["call_failed"] * 2
