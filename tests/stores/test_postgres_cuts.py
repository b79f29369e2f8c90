"""A line to PostgreSQL that is cut anywhere: what was asked is done as a whole or not at all, and can be asked again.

The normal run cuts at some bytes, the same ones every time and always those where it matters; under LAYOVER_TORTURE it
is every byte of every exchange.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Outcome, Rest
from layover.runtime.dispatch.committer import Committer
from layover.runtime.metrics import Metrics
from tests.conftest import FACTOR
from tests.stores.conformance import creation, step, uid
from tests.stores.interrupted_operations import (
    CLAIM,
    DEEDS,
    group,
    group_is_done,
    informed,
    informed_is_done,
    prepare_group,
    prepare_informed,
    repeat_group,
)
from tests.stores.proxied_store import line_to, locked, until_waiting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.records import Append
    from tests.servers.postgres import Databases
    from tests.servers.proxy import Way
    from tests.stores.interrupted_operations import InterruptedOperation
    from tests.stores.proxied_store import ProxiedStore

SOME = 8  # places in each direction, beside those at its ends


@pytest.fixture
async def line(postgres: Databases) -> AsyncIterator[ProxiedStore]:
    async with line_to(postgres.address()) as found:
        yield found


class Trial(NamedTuple):
    """One cut: which way, and how many of all bytes that go that way do not pass."""

    n: int
    way: Way
    held_back: int


async def _sizes(line: ProxiedStore, deed: InterruptedOperation, n: int) -> dict[Way, int]:
    """Return how many bytes a deed takes each way on this connection, which then has all statements that it takes.

    It is not the same for all connections: the driver numbers statements.
    """
    for one in (10 * n + 1, 10 * n + 2):
        await deed.prepare(line.straight, one)
        line.proxy.count()
        await deed.do(line.shaky, one)
    return dict(line.proxy.passed)


async def _trials(line: ProxiedStore, deed: InterruptedOperation, seed: str) -> AsyncIterator[Trial]:
    """Cut at every byte, or at some of them; the whole reply is no cut."""
    dice = random.Random(seed)  # noqa: S311 - it can be repeated
    sizes = await _sizes(line, deed, 0)
    ways: tuple[tuple[Way, range], ...] = (("request", range(sizes["request"])), ("reply", range(1, sizes["reply"])))
    n = 0
    for way, places in ways:
        ends = {places[0], places[1], places[-1]}
        for held_back in places if FACTOR > 1 else sorted({*ends, *dice.sample(places, min(SOME, len(places)))}):
            n += 1
            size = (await _sizes(line, deed, n))[way]
            await deed.prepare(line.straight, 10 * n)
            line.proxy.cut_after(way, max(size - held_back, 0))
            yield Trial(10 * n, way, held_back)
            assert not line.proxy.is_armed


@pytest.mark.parametrize("name", DEEDS)
async def test_what_is_cut_at_any_byte_is_done_entirely_or_not_at_all(line: ProxiedStore, name: str) -> None:
    await _cut_everywhere(line, DEEDS[name], name)


async def test_what_was_claimed_by_a_lost_reply_comes_due_with_its_lease(line: ProxiedStore) -> None:
    await _cut_everywhere(line, CLAIM, "claim")


async def _cut_everywhere(line: ProxiedStore, deed: InterruptedOperation, seed: str) -> None:
    ends: set[bool] = set()
    async for n, way, held_back in _trials(line, deed, seed):
        with pytest.raises(StoreUnavailable) as refused:
            await deed.do(line.shaky, n)
        assert refused.value.code == "unreachable"
        await line.proxy.quiet()
        done = await deed.is_done(line.straight, n)
        if way == "request" and deed.writes_last:
            assert done == (not held_back), held_back
        await deed.repeat(line.shaky, n, done)
        ends.add(done)
    assert ends == {True, False}


@pytest.mark.parametrize("after", [0, 1, 20])
async def test_a_connection_cut_while_it_learns_a_statement_writes_nothing(line: ProxiedStore, after: int) -> None:
    """The statement is sent before its values: it is not run yet when the reply to its text comes."""
    await prepare_group(line.straight, after)
    line.proxy.cut_reply_to(b"pause_points", after)
    with pytest.raises(StoreUnavailable):
        await line.shaky.appends.commit(group(after))
    await line.proxy.quiet()
    assert not await group_is_done(line.straight, after)
    await repeat_group(line.shaky, after, done=False)


@pytest.mark.parametrize("after", [0, 1, 10])
async def test_a_transaction_is_over_when_the_reply_to_its_commit_is_lost(line: ProxiedStore, after: int) -> None:
    await prepare_informed(line.straight, 1)
    line.proxy.cut_reply_to(b"COMMIT;", after)
    with pytest.raises(StoreUnavailable):
        await line.shaky.appends.commit_informed(step(1), informed(1))
    await line.proxy.quiet()
    assert await informed_is_done(line.straight, 1)


# With the committer on top of it


class Told:
    """What a committer says of appends."""

    def __init__(self, committer: Committer, appends: list[Append]) -> None:
        loop = asyncio.get_running_loop()
        self._heard: list[asyncio.Future[Outcome | StoreError]] = []
        for append in appends:
            heard: asyncio.Future[Outcome | StoreError] = loop.create_future()
            self._heard.append(heard)
            committer.submit(append, heard.set_result)  # a second word would be an error

    async def verdicts(self) -> list[str]:
        found = [await heard for heard in self._heard]
        return [one.verdict if isinstance(one, Outcome) else "unknown" for one in found]


async def test_the_committer_finds_out_what_became_of_appends_wherever_the_line_was_cut(line: ProxiedStore) -> None:
    committer = Committer(line.shaky, Metrics())
    ends: set[str] = set()
    async for n, _, _ in _trials(line, DEEDS["commit"], "committer"):
        begun, *others = await Told(committer, group(n)).verdicts()
        assert others == ["passed", "passed"]
        if begun == "unknown":  # who begins one is told that it failed, and it has
            assert await line.straight.queries.find_execution(uid(10 * n)) is None
            assert await Told(committer, group(n)[:1]).verdicts() == ["passed"]
        else:
            assert begun == "passed"
        assert await group_is_done(line.straight, n)
        ends.add(begun)
    await committer.stop()
    assert ends == {"passed", "unknown"}


async def test_an_append_that_lands_after_it_was_missed_has_landed(line: ProxiedStore) -> None:
    """A server goes on with a statement whose client is gone: who looks at once does not see it yet."""
    committer = Committer(line.shaky, Metrics())
    await line.straight.appends.commit([creation(1), creation(2)])
    async with locked(line.address, 1):
        told = Told(committer, [step(1), replace(step(2), rest=Rest(wake_at=800))])
        await until_waiting(line.address, 1)
        line.proxy.cut(is_noticed=False)
        await until_waiting(line.address, 2)  # it was sent again
    assert await told.verdicts() == ["passed", "passed"]
    for n in (1, 2):
        assert [entry.count for entry in await line.straight.queries.read_history(uid(n), 0, 10)] == [2, 1]
    await committer.stop()
