"""A machine whose calendar is set forward and back: time goes on, and nobody loses a lease by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import Claim, LeaseRow
from layover.stores.sqlite import SqliteStore
from layover.stores.steady_clock import SteadyClock
from tests.stores.conformance import ME, NEW, OTHER, creation, head, ids, uid

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600_000
LEASE = 30_000


class Machine:
    """A calendar that can be set, and a clock that cannot."""

    def __init__(self) -> None:
        self.calendar = 1_800_000_000_000
        self.running = 5_000

    def passes(self, milliseconds: int) -> None:
        self.calendar += milliseconds
        self.running += milliseconds

    def clock(self) -> SteadyClock:
        return SteadyClock(lambda: self.calendar, lambda: self.running)

    def store(self, folder: Path) -> SqliteStore:
        return SqliteStore(folder / "layover.db", clock=self.clock(), between_looks=0)


async def claim(store: SqliteStore, name: str) -> list[str]:
    now = await store.now()
    return ids(await store.claims.claim(Claim(instance=name, now=now, lease_until=now + LEASE, most=10)))


async def drive(store: SqliteStore) -> None:
    """Have an execution that is driven by an instance, which also looks for work."""
    await store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
    now = await store.now()
    await store.appends.commit([replace(creation(lease_until=now + LEASE), at=now)])
    await claim(store, ME)


def test_time_goes_on_when_the_calendar_is_set_back() -> None:
    machine = Machine()
    clock = machine.clock()
    before = clock()
    machine.calendar -= HOUR
    assert clock() == before
    machine.passes(1_000)
    assert clock() == before + 1_000
    machine.calendar += 2 * HOUR
    assert clock() == machine.calendar
    machine.passes(10)
    assert clock() == machine.calendar


async def test_an_instance_opened_after_the_calendar_was_set_back_has_the_time_of_the_others(tmp_path: Path) -> None:
    machine = Machine()
    one, two = machine.store(tmp_path), machine.store(tmp_path)
    await one.open(ME)
    await drive(one)
    before = await one.now()
    machine.calendar -= HOUR
    await two.open(OTHER)
    try:
        assert await two.now() == await one.now() == before
        machine.passes(LEASE - 1)
        assert await claim(two, OTHER) == []
        machine.passes(1)  # and the lease was not renewed
        assert await claim(two, OTHER) == [uid(1)]
    finally:
        await two.close()
        await one.close()


async def test_a_calendar_that_is_set_forward_ends_no_lease_of_a_living_instance(tmp_path: Path) -> None:
    machine = Machine()
    one, two = machine.store(tmp_path), machine.store(tmp_path)
    await one.open(ME)
    await drive(one)
    await two.open(OTHER)
    try:
        machine.calendar += 40_000
        assert await claim(two, OTHER) == []
        assert (await head(one)).owner == ME
        machine.passes(LEASE // 2)
        lease = LeaseRow(execution_id=uid(1), epoch=1)
        assert await one.claims.renew(ME, [lease], await one.now() + LEASE) == []
        machine.calendar += HOUR
        machine.passes(LEASE - 1)
        assert await claim(two, OTHER) == []
        machine.passes(1)  # it holds its lock and renews no more, as one that was stopped
        assert await claim(two, OTHER) == [uid(1)]
    finally:
        await two.close()
        await one.close()


async def test_an_execution_claimed_by_id_is_not_taken_from_a_living_instance_either(tmp_path: Path) -> None:
    machine = Machine()
    one, two = machine.store(tmp_path), machine.store(tmp_path)
    await one.open(ME)
    await drive(one)
    await two.open(OTHER)
    try:
        machine.calendar += HOUR
        now = await two.now()
        wish = Claim(instance=OTHER, now=now, lease_until=now + LEASE, execution_id=uid(1))
        assert ids(await two.claims.claim(wish)) == []
    finally:
        await two.close()
        await one.close()


async def test_what_a_dead_instance_drove_is_still_taken_at_once(tmp_path: Path) -> None:
    machine = Machine()
    one, two = machine.store(tmp_path), machine.store(tmp_path)
    await one.open(ME)
    await drive(one)
    await one.close()
    await two.open(OTHER)
    try:
        machine.calendar += 40_000
        assert await claim(two, OTHER) == [uid(1)]
    finally:
        await two.close()
