"""What health checks and scrapes cost does not grow with how many come at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.api.shared_work import SharedWork
from tests.api.harness import served

if TYPE_CHECKING:
    from pathlib import Path


class Rounds:
    """Work that counts its rounds, and ends when it is let."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = asyncio.Event()

    async def __call__(self) -> int:
        self.begun += 1
        own = self.begun
        await self.may_end.wait()
        return own


async def turns() -> None:
    """Let all that can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_callers_during_a_round_share_the_next_one() -> None:
    shared, work = SharedWork[int](), Rounds()
    early = [asyncio.ensure_future(shared.result(work)) for _ in range(3)]
    await turns()
    late = [asyncio.ensure_future(shared.result(work)) for _ in range(500)]
    await turns()
    assert work.begun == 1
    work.may_end.set()
    assert set(await asyncio.gather(*early)) == {1}
    assert set(await asyncio.gather(*late)) == {2}
    assert await shared.result(work) == 3


async def test_a_cancelled_caller_does_not_end_the_round_for_others() -> None:
    shared, work = SharedWork[int](), Rounds()
    first, second = (asyncio.ensure_future(shared.result(work)) for _ in range(2))
    await turns()
    first.cancel()
    await turns()
    work.may_end.set()
    assert await second == 1
    assert first.cancelled()


async def test_an_error_is_raised_to_all_callers_of_its_round_and_not_to_the_next() -> None:
    shared, may_end = SharedWork[int](), asyncio.Event()

    async def fail() -> int:
        await may_end.wait()
        raise LookupError

    async def succeed() -> int:
        return 7

    failing = [asyncio.ensure_future(shared.result(fail)) for _ in range(2)]
    await turns()
    later = asyncio.ensure_future(shared.result(succeed))
    may_end.set()
    for one in failing:
        with pytest.raises(LookupError):
            await one
    assert await later == 7


async def test_many_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        for path in ("/readyz", "/metrics"):
            answers = await asyncio.gather(*(api.ask("GET", path) for _ in range(50)))
            assert {answer.status for answer in answers} == {200}
