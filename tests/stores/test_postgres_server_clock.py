"""The server's time is known as well as the quickest reply has told it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim
from layover.stores.postgres import PostgresStore, claims, server_clock
from layover.stores.postgres.server_clock import ServerClock
from tests.stores.conformance import ME, OTHER, create, uid

if TYPE_CHECKING:
    from layover.stores.postgres.database import Database
    from tests.servers.postgres import Databases


class Machine:
    """The clock of the machine, wound by hand."""

    def __init__(self) -> None:
        self.now = 5_000

    def __call__(self) -> int:
        return self.now * 1_000_000


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine()
    monkeypatch.setattr(server_clock, "running_ns", found)
    return found


def hear(clock: ServerClock, machine: Machine, *, takes: int, server_time: int) -> None:
    asked_at = machine.now
    machine.now += takes
    clock.hear(asked_at, server_time)


def test_the_server_told_its_time_in_the_middle_between_asking_and_hearing(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=10, server_time=1_000_000)
    assert clock.now() == 1_000_005
    machine.now += 7
    assert clock.now() == 1_000_012


def test_a_slow_reply_does_not_replace_a_quick_one(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=1_000_000)
    known = clock.now()
    hear(clock, machine, takes=4_000, server_time=known + 3_900)  # it was held up on its way to us, not to the server
    assert clock.now() == known + 4_000


def test_the_time_may_be_wrong_by_as_much_as_the_best_reply_has_left_open_and_more_as_time_goes_by(
    machine: Machine,
) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=10, server_time=1_000_000)
    assert clock.error == 5
    hear(clock, machine, takes=4, server_time=1_000_002)
    assert clock.error == 2
    hear(clock, machine, takes=400, server_time=1_000_200)
    assert clock.error == 2
    machine.now += 60_000
    assert clock.error == 62


def test_after_long_a_slow_reply_is_better_than_none(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=1_000_000)
    machine.now += 60_000
    hear(clock, machine, takes=40, server_time=2_000_000)
    assert clock.now() == 2_000_020


@pytest.mark.parametrize("takes", [2, 500])
def test_a_server_whose_clock_was_set_forward_is_followed_at_once_however_slow_its_reply(
    machine: Machine, takes: int
) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=1_000_000)
    assert not clock.has_leapt(30_000)
    hear(clock, machine, takes=takes, server_time=9_000_000)
    assert clock.now() in (9_000_000, 9_000_001)
    assert clock.has_leapt(30_000)
    machine.now += 30_000
    assert not clock.has_leapt(30_000)


async def test_nobody_is_taken_over_because_the_server_s_clock_was_set_forward(
    postgres: Databases, machine: Machine
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        wish = Claim(instance=OTHER, now=now + 3_600_000, lease_until=now + 3_600_000 + 30_000)
        clock = store._server_clock  # noqa: SLF001 - the server's own clock cannot be set here
        hear(clock, machine, takes=2, server_time=now + 3_600_000)
        assert (await store.claim(wish)).claimed == ()
        machine.now += 30_000
        assert [one.head.execution_id for one in (await store.claim(wish)).claimed] == [uid(1)]
    finally:
        await store.close()


def test_time_goes_on_when_the_server_s_clock_is_set_back(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=10_000_000)
    before = clock.now()
    machine.now += 1_000
    hear(clock, machine, takes=2, server_time=10_000_000 - 3_600_000)
    assert clock.now() == before + 1_002
    machine.now += 1_000
    assert clock.now() == before + 2_002


def test_a_server_s_clock_that_was_set_back_is_followed_again_when_it_has_caught_up(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=10_000_000)
    hear(clock, machine, takes=2, server_time=9_000_000)
    hear(clock, machine, takes=2, server_time=20_000_000)
    assert clock.now() == 20_000_001


def test_who_comes_later_goes_on_from_the_time_of_the_others(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=10_000_000)
    clock.keep_up(10_000_500)  # which is no more than two clocks may differ by
    assert clock.now() == 10_000_001
    clock.keep_up(13_600_000)
    assert clock.now() == 13_600_000
    hear(clock, machine, takes=2, server_time=10_000_004)
    assert clock.now() == 13_600_002


async def test_who_claims_has_the_time_of_whoever_heard_of_a_later_one(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, claim, hour = postgres.address(), claims.claim, 3_600_000
    one, other = PostgresStore(address), PostgresStore(address)
    await one.open(ME)
    await other.open(OTHER)
    try:
        now = await one.now()
        wish = Claim(instance=ME, now=now, lease_until=now + 30_000)

        async def later(db: Database, wish: Claim) -> claims.Found:
            found = await claim(db, wish)
            return found._replace(server_time=found.server_time + hour)

        monkeypatch.setattr(claims, "claim", later)
        await one.claim(wish)  # it hears of the hour before the server's clock is set back again
        monkeypatch.setattr(claims, "claim", claim)
        await other.claim(wish)
        assert await other.now() >= now + hour - 1_000
    finally:
        await one.close()
        await other.close()


def test_it_is_known_whether_the_server_still_tells_this_time(machine: Machine) -> None:
    clock, found = ServerClock(), list[bool]()
    for later, server_time in ((0, 10_000_000), (0, 9_000_000), (1_000_000, 11_000_100)):
        machine.now += later
        hear(clock, machine, takes=2, server_time=server_time)
        found.append(clock.goes_ahead)
    assert found == [False, True, False]
