"""Leases of polls: as short as those of executions, and renewed for as long as a source is asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from layover import Batch, Item, source
from layover.ports.errors import StoreUnavailable
from layover.runtime.runtime import Runtime
from tests.runtime.harness import Between
from tests.runtime.triggers.test_poll_instances import LONGEST, MAIL, engine, flow, row_of, until

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.store import Store
    from layover.ports.trigger_records import RenewedPoll

pytestmark = pytest.mark.usefixtures("each_database")

LEASE = 900  # milliseconds; a poll may take an hour


@source(name="mailbox")
def prompt(cursor: str | None) -> Batch:
    return Batch([Item("a", 1)], cursor="1") if cursor is None else Batch()


class Held:
    """A source that returns when it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @property
    def source(self) -> Any:
        @source(name="mailbox")
        async def held(cursor: str | None) -> Batch:  # noqa: ARG001 - as sources are called
            self.asked.set()
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            return Batch([Item("late", 1)], cursor="late")

        return held


async def test_a_lease_is_renewed_for_as_long_as_the_source_is_asked(tmp_path: Path) -> None:
    held = Held()
    async with engine(tmp_path, held.source, lease_ttl=LEASE) as first, asyncio.timeout(LONGEST):
        await first.workflows.register(flow())
        await held.asked.wait()
        begun = (await row_of(first)).next_at or 0
        async with engine(tmp_path, prompt, lease_ttl=LEASE):

            async def is_renewed() -> bool:
                return ((await row_of(first)).next_at or 0) > begun + 2 * LEASE

            await until(is_renewed)
            assert (await row_of(first)).epoch == 1
        held.let_go.set()

        async def is_kept() -> bool:
            return (await row_of(first)).cursor == b'"late"'

        await until(is_kept)


class Unrenewed(Between):
    """A store that cannot be reached when a lease is to be renewed."""

    async def triggers_renew_poll(self, _lease: RenewedPoll) -> bool:
        raise StoreUnavailable("The server is away.")


async def test_a_lease_that_is_not_renewed_is_soon_anothers_and_nothing_of_the_poll_is_kept(tmp_path: Path) -> None:
    held, settings = Held(), engine(tmp_path, lease_ttl=LEASE)._settings  # noqa: SLF001 - the same for both
    first = Runtime(cast("Store", Unrenewed(tmp_path)), nodes=[held.source], settings=settings)
    async with first, asyncio.timeout(LONGEST):
        await first.workflows.register(flow(every="1h"))
        await held.asked.wait()
        async with engine(tmp_path, prompt, lease_ttl=LEASE) as second:

            async def is_polled() -> bool:
                second.instance.trigger_runner.hint()
                return (await row_of(second)).cursor == b'"1"'

            await until(is_polled)
            assert (await row_of(second)).epoch == 2
            held.let_go.set()

            async def has_returned() -> bool:
                await asyncio.sleep(0)
                return first.instance.poller.calls.out == 0

            await until(has_returned)
            row = await row_of(second)
            assert (row.cursor, row.epoch) == (b'"1"', 2)
            assert await second.instance.store.triggers.find_input(MAIL, "late") is None


async def test_a_poll_whose_trigger_is_paused_is_given_up(tmp_path: Path) -> None:
    held = Held()
    async with engine(tmp_path, held.source, lease_ttl=LEASE) as runtime, asyncio.timeout(LONGEST):
        await runtime.workflows.register(flow())
        await held.asked.wait()
        await runtime.triggers.pause(MAIL, "holidays", None)
        await held.cancelled.wait()
        row = await row_of(runtime)
        assert (row.state, row.owner, row.cursor) == ("paused", None, b"")
