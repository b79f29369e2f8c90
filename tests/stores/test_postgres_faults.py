"""A PostgreSQL that refuses, waits, fills up or goes away: the error says so, nothing is half written, it passes later.

Errors of the server are made where they come from, by a trigger that raises them, by rows that somebody holds, or by a
disk that is full.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import asyncpg
import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import LeaseRow
from layover.stores.postgres import PostgresStore
from layover.stores.postgres import connections as store_connections
from layover.stores.postgres.address import read_address
from layover.stores.postgres.connections import Connections
from layover.stores.postgres.database import PostgresSchema
from tests.servers.postgres import ask, run, schema_of
from tests.stores.conformance import ME, NEW, Clock, commit, creation, following, head, step, uid
from tests.stores.interrupted_operations import CLAIM, DEEDS, group, group_is_done, prepare_group
from tests.stores.proxied_store import line_to, lock_heads, locked, until_waiting
from tests.stores.small_disk import SmallDisk, cannot_mount

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.records import Append, Head
    from layover.stores.postgres.database import Transaction
    from tests.servers.postgres import Databases
    from tests.stores.proxied_store import ProxiedStore

ALL = {"claim": CLAIM, **DEEDS}  # it would take whatever the others have left
APART = range(1_000, 10_000, 1_000)  # so that none of them uses the executions of another
TRIES = 5  # that the store makes of what others are in the way of


@pytest.fixture
async def line(postgres: Databases) -> AsyncIterator[ProxiedStore]:
    async with line_to(postgres.address()) as found:
        yield found


# Errors of the server

# A sequence goes on although its transaction is rolled back, so it can count failures.
FAILING = """
    CREATE SEQUENCE {0}.failures MINVALUE -1000;
    SELECT setval('{0}.failures', 1);
    CREATE FUNCTION {0}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('{0}.failures') <= 0 THEN
            RAISE EXCEPTION 'on purpose' USING ERRCODE = '{1}';
        END IF;
        RETURN NULL;
    END
    $$;
    CREATE TRIGGER fail AFTER INSERT OR UPDATE ON {0}.heads FOR EACH STATEMENT EXECUTE FUNCTION {0}.fail();
"""


class Failing:
    """A store whose writes to heads fail as often as a test wants."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.store = PostgresStore(address, clock=Clock())

    async def open(self, code: str) -> None:
        await self.store.open(ME)
        await self.store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        await run(self._address, FAILING.format(schema_of(self._address), code))

    async def fail(self, times: int) -> None:
        await ask(self._address, f"SELECT setval('{schema_of(self._address)}.failures', {-times})")


@pytest.fixture
async def failing(postgres: Databases) -> AsyncIterator[Failing]:
    found = Failing(postgres.fresh())
    yield found
    await found.store.close()


@pytest.mark.parametrize("code", ["40001", "40P01"], ids=["serialization", "deadlock"])
async def test_what_others_were_in_the_way_of_is_tried_again(failing: Failing, code: str) -> None:
    await failing.open(code)
    for n, deed in zip(APART, ALL.values(), strict=False):
        await deed.prepare(failing.store, n)
        await failing.fail(TRIES - 1)
        await deed.do(failing.store, n)
        assert await deed.is_done(failing.store, n)


@pytest.mark.parametrize(
    ("sqlstate", "code", "times"),
    [
        ("40001", "locked", TRIES),
        ("40P01", "locked", TRIES),
        ("53100", "full", 1),
        ("57014", "too_slow", 1),
        ("55P03", "too_slow", 1),
        ("25006", "read_only", 1),
        ("57P01", "unreachable", 1),
        ("25P03", "unreachable", 1),
        ("08006", "unreachable", 1),
        ("08P01", "unreachable", 1),
        ("53200", "store_unavailable", 1),
        ("58030", "store_unavailable", 1),
    ],
)
async def test_what_fails_writes_nothing_says_why_and_passes_the_next_time(
    failing: Failing, sqlstate: str, code: str, times: int
) -> None:
    await failing.open(sqlstate)
    for n, deed in zip(APART, ALL.values(), strict=False):
        await deed.prepare(failing.store, n)
        await failing.fail(times)
        with pytest.raises(StoreUnavailable) as refused:
            await deed.do(failing.store, n)
        assert refused.value.code == code
        assert not await deed.is_done(failing.store, n)
        await deed.repeat(failing.store, n, False)


async def test_a_transaction_ended_to_break_a_deadlock_is_tried_again(line: ProxiedStore) -> None:
    for n in count(10, 10):
        store = line.straight
        await store.appends.commit([creation(n), creation(n + 1)])
        before = store.statements
        async with locked(line.address, n + 1) as other:
            await other.execute("SET LOCAL deadlock_timeout = '3s'")  # who has waited longer than this is ended
            written = asyncio.ensure_future(store.appends.commit([step(n), step(n + 1)]))
            await until_waiting(line.address, 1, unless=written)
            with suppress(asyncpg.DeadlockDetectedError):  # then it was not the one that we wanted
                await other.execute(lock_heads(line.address, n))
        assert [outcome.verdict for outcome in await written] == ["passed", "passed"]
        tries = store.statements - before
        for one in (n, n + 1):
            assert [entry.count for entry in await store.queries.read_history(uid(one), 0, 10)] == [2, 1]
        if tries > 1:
            break


async def test_a_statement_that_waits_for_too_long_fails_and_has_written_nothing(postgres: Databases) -> None:
    async with line_to(postgres.address(), "&statement_timeout=500") as line:
        for n, deed in zip(APART, DEEDS.values(), strict=False):
            await deed.prepare(line.straight, n)
            others = [10 * n + 1, 10 * n + 2] if deed is DEEDS["commit"] else [n]
            async with locked(line.address, *others):
                with pytest.raises(StoreUnavailable) as refused:
                    await deed.do(line.shaky, n)
                assert refused.value.code == "too_slow"
                assert not await deed.is_done(line.straight, n)
            await deed.repeat(line.straight, n, False)


async def test_a_transaction_that_holds_a_lock_and_does_not_go_on_is_ended(line: ProxiedStore) -> None:
    await line.straight.appends.commit([creation(1)])
    db = PostgresSchema(read_address(f"{line.address}&statement_timeout=500"))
    holds, goes_on = asyncio.Event(), asyncio.Event()

    async def stand_still(tx: Transaction) -> None:
        await tx.fetch("lock_head", uid(1))
        holds.set()
        await goes_on.wait()
        await tx.fetch("lock_head", uid(1))

    holding = asyncio.create_task(db.transact(stand_still))
    await holds.wait()
    assert (await commit(line.straight, step(1))).verdict == "passed"
    goes_on.set()
    with pytest.raises(StoreUnavailable):
        await holding
    assert await db.fetchval("server_time")  # with another connection
    await db.close()


# The disk


@pytest.mark.skipif(cannot_mount(), reason="only who may mount can have a disk as small as this needs")
async def test_a_full_disk_takes_nothing_until_there_is_room() -> None:
    with SmallDisk() as disk:
        store = PostgresStore(await disk.database())
        await store.open(ME)
        try:
            await store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
            await store.appends.commit([creation(1)])
            await disk.fill()
            written = await _append_until_refused(store)
            assert [entry.count for entry in await store.queries.read_history(uid(1), 0, 10_000)] == [2] + [1] * written
            await disk.make_room()
            assert (await commit(store, _large(await head(store)))).verdict == "passed"
            assert await store.inspection.list_faults() == []
        finally:
            await store.close()


def _large(before: Head) -> Append:
    return replace(following(before), events=random.Random(1).randbytes(50_000))  # noqa: S311 - nothing to compress


async def _append_until_refused(store: PostgresStore) -> int:
    """Append until there is no room; return how many were written."""
    written = 0
    while True:
        now = await head(store)
        assert now.last_seq == 1 + written
        try:
            assert (await commit(store, _large(now))).verdict == "passed"
        except StoreError as error:
            assert (type(error), error.code) == (StoreUnavailable, "full")  # noqa: PT017 - it ends what was not refused
            assert await head(store) == now
            return written
        written += 1


# Connections


async def test_a_server_that_cannot_be_reached_is_not_run_over(line: ProxiedStore) -> None:
    line.proxy.is_refusing = True
    line.proxy.cut()
    line.proxy.attempts = 0
    calls = [line.shaky.queries.find_execution(uid(1)) for _ in range(100)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(one) for one in found} == {StoreUnavailable}
    for _ in range(100):
        with pytest.raises(StoreUnavailable) as refused:
            await line.shaky.queries.find_execution(uid(1))
        assert refused.value.code == "unreachable"
    assert 1 <= line.proxy.attempts <= 30  # each pause is twice as long as the last
    line.proxy.is_refusing = False
    await _passes(line)


async def _passes(line: ProxiedStore) -> None:
    """Ask until there is an answer."""
    while True:
        try:
            assert await line.shaky.queries.find_execution(uid(1)) is None
        except StoreUnavailable:
            await asyncio.sleep(0)
        else:
            return


async def test_connections_that_fail_together_count_as_one_failure(line: ProxiedStore) -> None:
    line.proxy.is_refusing = True
    connections = Connections(line.shaky.address)
    found = await asyncio.gather(*(connections.take() for _ in range(8)), return_exceptions=True)
    assert not any(isinstance(one, asyncpg.Connection) for one in found)
    assert connections.pause == store_connections.FIRST_PAUSE
    await connections.close()


async def test_a_connection_that_is_ended_after_the_others_leaves_nothing_to_wait_for(line: ProxiedStore) -> None:
    connections = Connections(line.shaky.address)
    connection = await connections.take()
    before = asyncio.all_tasks()
    await connections.close()
    connections.end(connection)
    assert connection.is_closed()
    assert asyncio.all_tasks() == before


async def test_a_silent_line_is_given_up_and_replaced(postgres: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_connections, "_BEYOND_STATEMENT", 0.5)
    async with line_to(postgres.address(), "&statement_timeout=1000&connections=3") as line:
        await prepare_group(line.straight, 1)
        await asyncio.gather(*(line.shaky.queries.find_execution(uid(1)) for _ in range(3)))
        line.proxy.stall()
        lost = await asyncio.gather(*(line.shaky.appends.commit(group(1)) for _ in range(3)), return_exceptions=True)
        assert [error.code for error in lost if isinstance(error, StoreUnavailable)] == ["too_slow"] * 3
        line.proxy.cut()  # what is on its way is lost
        line.proxy.go_on()
        assert [outcome.verdict for outcome in await line.shaky.appends.commit(group(1))] == ["passed"] * 3
        assert await group_is_done(line.straight, 1)


FAREWELL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"


async def test_a_connection_that_was_taken_leave_of_but_is_still_open_is_given_up(line: ProxiedStore) -> None:
    await line.straight.appends.commit([creation(1)])
    assert await line.shaky.queries.find_execution(uid(1)) is not None
    line.proxy.say(b"E" + (4 + len(FAREWELL)).to_bytes(4) + FAREWELL)
    await line.straight.queries.find_execution(uid(1))  # meanwhile it is heard
    with pytest.raises(StoreUnavailable) as refused:
        await line.shaky.appends.commit([step(1)])
    assert refused.value.code == "unreachable"
    assert (await commit(line.shaky, step(1))).verdict == "passed"  # by another


async def test_a_cancelled_statement_leaves_a_connection_that_works(line: ProxiedStore) -> None:
    await line.straight.appends.commit([creation(1)])
    async with locked(line.address, 1):
        for _ in range(20):
            written = asyncio.ensure_future(line.shaky.appends.commit([step(1)]))
            await until_waiting(line.address, 1, unless=written)
            written.cancel()
            with pytest.raises(asyncio.CancelledError):
                await written
            assert await line.shaky.queries.find_execution(uid(2)) is None
            await until_waiting(line.address, 0)
    assert (await commit(line.shaky, step(1))).verdict == "passed"


async def test_a_store_opened_while_its_server_is_away_says_so() -> None:
    store = PostgresStore("postgresql://me:s3cret@127.0.0.1:1/app")
    with pytest.raises(StoreUnavailable) as refused:
        await store.open(ME)
    assert refused.value.code == "unreachable"


async def test_a_server_that_is_not_the_one_we_need_is_waited_for(postgres: Databases) -> None:
    """While another server takes over there may be none that can be written to."""
    address = postgres.fresh()
    store = PostgresStore(f"{address}&target_session_attrs=standby")
    with pytest.raises(StoreUnavailable) as refused:
        await store.open(ME)
    assert refused.value.code == "unreachable"


async def test_a_renewal_from_beside_whose_connection_has_gone_silent_is_made_on_another_at_once(
    line: ProxiedStore,
) -> None:
    assert (await commit(line.straight, creation(1))).verdict == "passed"
    renewals, lease = line.shaky.claims.renewals(), LeaseRow(execution_id=uid(1), epoch=1)
    assert await asyncio.to_thread(renewals.renew, ME, [lease], 5_000, 60) == []
    line.proxy.silence()
    try:
        assert await asyncio.to_thread(renewals.renew, ME, [lease], 6_000, 1) == []
    finally:
        await asyncio.to_thread(renewals.close)
