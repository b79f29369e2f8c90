"""The server's time is known as well as the quickest reply has told it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim, LeaseRow
from layover.stores.postgres import PostgresStore, claims, server_clock
from layover.stores.postgres.renewals import Times
from layover.stores.postgres.server_clock import _STEP, ServerClock
from tests.servers.postgres import run, schema_of
from tests.stores.conformance import ME, OTHER, create, uid

if TYPE_CHECKING:
    from tests.servers.postgres import Databases


HOUR = 3_600_000
LEASE = 500  # so little that the server's clock, which is not wound by hand, is not behind for that


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


def test_the_time_of_the_server_counts_for_the_middle_of_the_request(machine: Machine) -> None:
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
    assert not clock.has_stepped(30_000)
    hear(clock, machine, takes=takes, server_time=9_000_000)
    assert clock.now() in (9_000_000, 9_000_001)
    assert clock.has_stepped(30_000)
    machine.now += 30_000
    assert not clock.has_stepped(30_000)


async def test_no_lease_is_taken_over_because_the_server_s_clock_was_set_forward(
    postgres: Databases, machine: Machine
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        wish = Claim(instance=OTHER, now=now + 3_600_000, lease_until=now + 3_600_000 + LEASE)
        clock = store._session.server_clock  # noqa: SLF001 - the server's own clock cannot be set here
        hear(clock, machine, takes=2, server_time=now + 3_600_000)
        clock._server_ahead -= 3_600_000  # noqa: SLF001 - which has not been set back since
        assert (await store.claims.claim(wish)).claimed == ()
        machine.now += LEASE
        assert [one.head.execution_id for one in (await store.claims.claim(wish)).claimed] == [uid(1)]
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


def test_a_later_instance_goes_on_from_the_time_of_the_others(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=10_000_000)
    clock.keep_up(10_000_500)  # which is no more than two clocks may differ by
    assert clock.now() == 10_000_001
    clock.keep_up(13_600_000)
    assert clock.now() == 13_600_000
    hear(clock, machine, takes=2, server_time=10_000_004)
    assert clock.now() == 13_600_002


async def test_a_claim_uses_the_latest_time_that_an_instance_has_seen(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, hour = postgres.address(), 3_600_000
    one, other = PostgresStore(address), PostgresStore(address)
    await one.open(ME)
    await other.open(OTHER)
    try:
        now = await one.now()
        wish = Claim(instance=ME, now=now, lease_until=now + 30_000)

        def later(server_time: int, latest: int | None) -> Times:
            return Times(server_time + hour, latest)

        monkeypatch.setattr(claims, "Times", later)
        await one.claims.claim(wish)  # it hears of the hour before the server's clock is set back again
        monkeypatch.setattr(claims, "Times", Times)
        await other.claims.claim(wish)
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


async def ahead_of_the_server(store: PostgresStore) -> Claim:
    """Have a store hear of another instance whose time is an hour ahead of the server's clock; return a claim."""
    now = await store.now()
    await store._session.db.fetchval("heartbeat", "ahead", now + HOUR)  # noqa: SLF001 - the server's own clock cannot be set here
    wish = Claim(instance=ME, now=now, lease_until=now + 30_000)
    await store.claims.claim(wish)
    assert await store.now() >= now + HOUR
    return wish


async def test_time_does_not_stand_still_while_the_server_s_clock_is_behind(
    postgres: Databases, machine: Machine
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        wish = await ahead_of_the_server(store)
        machine.now += 30_000
        before = await store.now()
        await store._session.db.fetchval("heartbeat", "ahead", before)  # noqa: SLF001 - as it does every second
        for _ in range(5):
            machine.now += 900
            await store.claims.claim(wish)  # the others have said what time it was, not what time it is
        assert await store.now() == before + 5 * 900
    finally:
        await store.close()


@pytest.mark.usefixtures("machine")
async def test_a_lease_is_renewed_by_the_latest_time_that_an_instance_has(postgres: Databases) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        await store._session.db.fetchval("heartbeat", "ahead", now + HOUR)  # noqa: SLF001 - as above
        lease = LeaseRow(execution_id=uid(1), epoch=1)
        assert await store.claims.renew(ME, [lease], now + 30_000) == []
        assert await wake_at(store) == now + HOUR + 30_000
        assert await store.now() >= now + HOUR  # and it was told
    finally:
        await store.close()


@pytest.mark.usefixtures("machine")
async def test_the_standby_renews_a_lease_by_the_latest_time_as_well(postgres: Databases) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        await store._session.db.fetchval("heartbeat", "ahead", now + HOUR)  # noqa: SLF001 - as above
        renewals = store.claims.renewals()
        lease = LeaseRow(execution_id=uid(1), epoch=1)
        assert await asyncio.to_thread(renewals.renew, ME, [lease], now + 30_000, 60) == []
        await asyncio.to_thread(renewals.close)
        assert await wake_at(store) == now + HOUR + 30_000
    finally:
        await store.close()


async def wake_at(store: PostgresStore) -> int | None:
    (head,) = await store.queries.read_heads([uid(1)])
    assert head is not None
    return head.wake_at


def test_a_clock_that_was_set_back_has_stepped(machine: Machine) -> None:
    clock = ServerClock()
    hear(clock, machine, takes=2, server_time=10_000_000)
    machine.now += 1_000
    hear(clock, machine, takes=2, server_time=9_000_000)
    assert clock.has_stepped(30_000)
    machine.now += 30_000
    hear(clock, machine, takes=2, server_time=9_030_000)
    assert not clock.has_stepped(30_000)


@pytest.mark.parametrize("execution_id", [None, uid(1)])
async def test_no_lease_is_taken_over_by_an_instance_unaware_that_the_clock_was_set_back(
    postgres: Databases, machine: Machine, execution_id: str | None
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)  # by somebody who came after that, and has the time of the server
        now = await store.now()
        clock = store._session.server_clock  # noqa: SLF001 - the server's own clock cannot be set here
        hear(clock, machine, takes=0, server_time=now + HOUR)
        machine.now += LEASE
        wish = Claim(instance=OTHER, now=now + HOUR, lease_until=now + HOUR + LEASE, execution_id=execution_id)
        assert (await store.claims.claim(wish)).claimed == ()
        assert clock.has_stepped(LEASE)
        assert (await store.claims.claim(wish)).claimed == ()
        machine.now += LEASE
        assert [one.head.execution_id for one in (await store.claims.claim(wish)).claimed] == [uid(1)]
    finally:
        await store.close()


async def test_an_execution_without_an_owner_is_claimed_although_the_clock_was_set(
    postgres: Databases, machine: Machine
) -> None:
    store = PostgresStore(postgres.address())
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        await store.claims.release(ME, [LeaseRow(execution_id=uid(1), epoch=1)], now)
        hear(store._session.server_clock, machine, takes=2, server_time=now + HOUR)  # noqa: SLF001 - as above
        wish = Claim(instance=OTHER, now=now + HOUR, lease_until=now + HOUR + 30_000)
        assert [one.head.execution_id for one in (await store.claims.claim(wish)).claimed] == [uid(1)]
    finally:
        await store.close()


async def test_an_instance_opened_while_the_clock_of_the_server_is_behind_has_the_time_of_the_others(
    postgres: Databases,
) -> None:
    address = postgres.address()
    one, other = PostgresStore(address), PostgresStore(address)
    await one.open(ME)
    try:
        await ahead_of_the_server(one)
        said = await one.now()
        await other.open(OTHER)
        try:
            # What was said before is some time ago: nobody knows how long.
            assert await other.now() > said
            assert abs(await other.now() - await one.now()) < _STEP
        finally:
            await other.close()
    finally:
        await one.close()


FULL = """
    CREATE FUNCTION {0}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'on purpose' USING ERRCODE = '53100';
    END
    $$;
    CREATE TRIGGER fail AFTER INSERT OR UPDATE ON {0}.instances FOR EACH STATEMENT EXECUTE FUNCTION {0}.fail();
"""


async def test_claims_and_renewals_return_although_a_step_of_the_clock_cannot_be_stored(
    postgres: Databases, machine: Machine
) -> None:
    address = postgres.fresh()
    store = PostgresStore(address)
    await store.open(ME)
    try:
        await create(store)
        now = await store.now()
        lease = LeaseRow(execution_id=uid(1), epoch=1)
        await run(address, FULL.format(schema_of(address)))
        machine.now += 2 * _STEP  # which the server's clock has not: it was set back
        assert await store.claims.renew(ME, [lease], now + 30_000) == []
        await store.claims.release(ME, [lease], now)
        machine.now += 2 * _STEP
        wish = Claim(instance=OTHER, now=now, lease_until=now + 30_000)
        assert [one.head.execution_id for one in (await store.claims.claim(wish)).claimed] == [uid(1)]
    finally:
        await store.close()
