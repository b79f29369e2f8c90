"""A million executions on PostgreSQL: the same plans, and each statement touches about as much as among ten thousand.

Statements are planned once and plans are kept. So they are also run by the plans that were made when the tables were
empty, on tables that the server has never counted: a fresh installation under load.

It is one test, so that the tables are filled once wherever it runs.
"""

from __future__ import annotations

import hashlib
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import asyncpg
import msgspec
import pytest

from layover.ports.records import (
    Append,
    AuditRow,
    ChangedPoint,
    Claim,
    Claims,
    ClosedExecution,
    ClosedPoint,
    Enqueue,
    Enqueued,
    Entry,
    LeaseRow,
    Message,
    NewExecution,
    OpenedPoint,
    Outcome,
    Refusal,
    Rest,
    Token,
)
from layover.ports.view_records import ExecutionFilter, PausedFilter, PointFilter
from layover.stores.postgres import (
    answers,
    commands,
    paging,
    queries,
)
from layover.stores.postgres.address import read_address
from layover.stores.postgres.appends import PostgresAppends
from layover.stores.postgres.claims import PostgresClaims
from layover.stores.postgres.commands import PostgresCommands
from layover.stores.postgres.connections import connect
from layover.stores.postgres.outbox import PostgresOutbox
from layover.stores.postgres.queries import PostgresQueries
from layover.stores.postgres.retention import PostgresRetention
from layover.stores.postgres.server_clock import ServerClock
from layover.stores.postgres.signals import PostgresSignals
from layover.stores.postgres.statements import in_schema
from tests.conftest import FACTOR
from tests.servers.postgres import PostgresServer
from tests.stores.block_counter import BlockCounter
from tests.stores.conformance import approval, point
from tests.stores.postgres_pins import IN_ORDER, PINNED, READS_ALL
from tests.stores.postgres_plans import is_sorted, make_tables, plan_of, scans, seeks, texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from layover.stores.postgres.address import Address
    from layover.stores.postgres.database import PostgresSchema
    from layover.stores.postgres.session import PostgresSession
    from tests.stores.postgres_plans import Plan

FEW, MANY = 10_000, 1_000_000
NOW = 5 * 604_800_000
SOME = 20  # executions in one statement
_ROWS = Path(__file__).with_name("postgres_many.sql")
_TABLES = "versions heads executions events snapshots pause_points commands outbox tokens waits signals places rates"
_WITH_PENDING = ("heads_missing", "executions_by_tag", "executions_by_input")
# Nothing is counted but when the test says so, and most is in memory.
_SERVER = {"autovacuum": "off", "shared_buffers": "1GB", "max_wal_size": "8GB"}
# An index over a million rows has a level more than one over ten thousand, and blocks that are read for single rows are
# shared by fewer of them.
_TIMES, _MORE = 2, 20

pytestmark = pytest.mark.skipif(FACTOR == 1, reason="it begins 1,000,000 executions: two minutes, for `make torture`")

Deed: TypeAlias = "Callable[[PostgresSchema], Awaitable[object]]"


def uid(x: int) -> str:
    return str(uuid.UUID(hashlib.md5(str(x).encode()).hexdigest()))  # noqa: S324 - it is no secret


def some(kind: int) -> list[int]:
    """Return the numbers of executions of a kind: 0 is due, 1 driven, 2 waits, 5 to 9 are paused, others closed."""
    return list(range(100 + kind, 100 * SOME + 100, 100))


def move(x: int, **changes: object) -> Append:
    """Return an append that passes, to an execution that is driven."""
    append = Append(
        execution_id=uid(x),
        owner="me",
        epoch=1,
        expected_seq=3,
        commands_seen=1,
        at=NOW,
        events=b'["moved"]',
        count=1,
        status="running",
    )
    return msgspec.structs.replace(append, **changes)


def beginning(x: int, **changes: object) -> Append:
    """Return an append that begins an execution."""
    new = NewExecution(workflow="w1", hash="h1-1", created_at=NOW, tags=("new",))
    return move(-x, expected_seq=-1, commands_seen=0, new=new, lease_until=NOW + 30_000, **changes)


def everything() -> list[Append]:
    """Return a group of appends that needs all parts of the statement."""
    id_ = uid(-1)
    first = beginning(
        1,
        points=(OpenedPoint(point=point("new"), waits=(("paid", "k1"),)),),
        messages=(Message(sender=id_, n=1, destination="there", kind="Start", body=b"{}", due_at=NOW),),
        tokens=(Token(hash=b"secret", point="new"),),
        audit=AuditRow(id=uid(-2), at=NOW, user="ann", act="execution.start", execution_id=id_),
    )
    changed = [ChangedPoint(point=point("p105")), ClosedPoint(id="p107", how="done")]
    earlier = (Entry(seq=4, at=NOW, count=1, events=b'["moved"]'),)
    second = move(101, points=tuple(changed), snapshot=b"{}", earlier=earlier, count=2, rest=Rest(wake_at=NOW))
    third = move(201, status="completed", closed=ClosedExecution(outcome="completed"), rest=Rest())
    return [first, second, third]


CLAIM = Claim(instance="me", now=NOW, lease_until=NOW + 30_000, most=SOME, types=frozenset({"steady", "slow"}))
LEASES = [LeaseRow(execution_id=uid(x), epoch=1) for x in (*some(1), -1)]  # and one that is gone
PAGE = ExecutionFilter(limit=50)
POINTS = PointFilter(limit=50)
WAITING = msgspec.structs.replace(POINTS, status=("open",))


def on(db: PostgresSchema) -> PostgresSession:
    """Return what families take in place of an open session."""
    usual = {"local_instances": None, "uses_server_clock": False, "server_clock": ServerClock()}
    return cast("PostgresSession", SimpleNamespace(db=db, **usual))


DEEDS: dict[str, Deed] = {
    "claim_due": lambda db: PostgresClaims(on(db)).claim(CLAIM),
    "claim_one": lambda db: PostgresClaims(on(db)).claim(msgspec.structs.replace(CLAIM, execution_id=uid(105))),
    "commit of moves": lambda db: PostgresAppends(on(db)).commit([move(x) for x in some(1)]),
    "commit of resting moves": lambda db: PostgresAppends(on(db)).commit(
        [move(x, rest=Rest(wake_at=NOW)) for x in some(1)]
    ),
    "commit of new ones": lambda db: PostgresAppends(on(db)).commit([beginning(x) for x in some(1)]),
    "commit of everything": lambda db: PostgresAppends(on(db)).commit(everything()),
    "renew_leases": lambda db: PostgresClaims(on(db)).renew("me", LEASES, NOW + 60_000),
    "release_leases": lambda db: PostgresClaims(on(db)).release("me", LEASES, NOW, (), None),
    "load_executions": lambda db: PostgresQueries(on(db)).load([uid(x) for x in some(1)]),
    "heads_by_id": lambda db: PostgresQueries(on(db)).read_heads([uid(x) for x in some(1)]),
    "command_by_source": lambda db: PostgresCommands(on(db)).is_enqueued(uid(105), "api:1"),
    "executions_with_unread_commands": lambda db: PostgresCommands(on(db)).find_unread([(uid(x), 0) for x in some(1)]),
    "commands_of_executions": lambda db: queries.commands_of_executions(db, [uid(x) for x in some(1)], [0] * SOME),
    "enqueue_commands": lambda db: commands.enqueue(
        db, [Enqueue(execution_id=uid(x), kind="Pause", body=b"{}") for x in some(2)], NOW
    ),
    "write_answers": lambda db: answers.attempt(db, [answers.AnswerRequest(approval("p105"), "api:1", NOW, CLAIM)]),
    "due_messages": lambda db: PostgresOutbox(on(db)).read_due(NOW, SOME),
    "messages_of_sender": lambda db: PostgresOutbox(on(db)).list_undelivered(uid(100)),
    "point_of_token": lambda db: PostgresQueries(on(db)).find_token(hashlib.sha256(b"p106").digest()),
    "waits_for_signal": lambda db: PostgresSignals(on(db)).list_waits("paid", "k0"),
    "signals_since": lambda db: PostgresSignals(on(db)).list_since("paid", "k5", 0),
    "undispatched_signals": lambda db: PostgresSignals(on(db)).list_undispatched(NOW, SOME),
    "purgeable_executions": lambda db: PostgresRetention(on(db)).list_purgeable(NOW, SOME, None),
    "execution_by_id": lambda db: PostgresQueries(on(db)).find_execution(uid(100)),
    "history": lambda db: PostgresQueries(on(db)).read_history(uid(100), 0, 100),
    "list_executions": lambda db: paging.page(db, PAGE),
    "list_executions_of_parent": lambda db: paging.page(db, msgspec.structs.replace(PAGE, parent_id=uid(100))),
    "list_executions_of_tag": lambda db: paging.page(db, msgspec.structs.replace(PAGE, tag="tag-3")),
    "list_executions_of_input": lambda db: paging.page(db, msgspec.structs.replace(PAGE, where=b'{"customer":3}')),
    "list_executions_of_status": lambda db: paging.page(
        db, msgspec.structs.replace(PAGE, status=("paused", "running"))
    ),
    "list_executions_of_workflow": lambda db: paging.page(db, msgspec.structs.replace(PAGE, workflow="w7")),
    "list_paused_executions": lambda db: PostgresQueries(on(db)).list_paused(PausedFilter(limit=50)),
    "list_paused_executions_of_workflow": lambda db: PostgresQueries(on(db)).list_paused(
        PausedFilter(limit=50, workflow="w7")
    ),
    "points_by_id": lambda db: PostgresQueries(on(db)).find_point("p105"),
    "list_points": lambda db: PostgresQueries(on(db)).list_points(POINTS),
    "list_points_of_executions": lambda db: PostgresQueries(on(db)).list_points(
        msgspec.structs.replace(POINTS, execution_id=uid(105))
    ),
    "standings_of_executions": lambda db: PostgresQueries(on(db)).read_standings([uid(105), uid(106)]),
    "list_waiting_points": lambda db: PostgresQueries(on(db)).list_points(WAITING),
    "list_waiting_points_of_workflow_and_kind": lambda db: PostgresQueries(on(db)).list_points(
        msgspec.structs.replace(WAITING, workflow="w7", kind="approval")
    ),
    "list_waiting_points_of_kind": lambda db: PostgresQueries(on(db)).list_points(
        msgspec.structs.replace(WAITING, kind="approval")
    ),
    "list_waiting_points_of_workflow": lambda db: PostgresQueries(on(db)).list_points(
        msgspec.structs.replace(WAITING, workflow="w7")
    ),
}


@asynccontextmanager
async def beside(address: Address) -> AsyncIterator[asyncpg.Connection]:
    """Give a connection that may take its time."""
    connection = await asyncpg.connect(address.dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def fill(address: Address, count: int) -> None:
    """Write the rows; the server does not count them."""
    body = msgspec.json.encode(point("its id")).decode()
    script = _ROWS.read_text().replace("{count}", str(count)).replace("{now}", str(NOW)).replace("{point}", body)
    async with beside(address) as connection:
        await connection.execute(in_schema(script, address.schema))
        for index in _WITH_PENDING:  # as is done from time to time wherever the server is left alone
            await connection.execute(f"SELECT gin_clean_pending_list('{address.schema}.{index}'::regclass)")


async def count_rows(address: Address) -> None:
    """Have the server count all rows, so that statements are planned anew."""
    async with beside(address) as connection:
        for table in _TABLES.split():
            await connection.execute(f"VACUUM ANALYZE {address.schema}.{table}")


async def touched(watched: BlockCounter) -> dict[str, int]:
    """Do everything once; return how many blocks each statement touched."""
    watched.blocks.clear()
    for name, deed in DEEDS.items():
        given = await watched.watch(cast("Callable[[BlockCounter], Awaitable[object]]", deed))
        assert watched.blocks[name], name
        assert name == "release_leases" or has_worked(given), (name, given)
    return dict(watched.blocks)


def has_worked(given: object) -> bool:
    """Return whether something was found, or passed, or was taken."""
    match given:
        case [Outcome(), *_]:
            return all(isinstance(one, Outcome) and one.verdict == "passed" for one in given)
        case [Enqueued() | Refusal(), *_] | Refusal():
            return not isinstance(given, Refusal) and all(isinstance(one, Enqueued) for one in given)
        case Claims():
            return len(given.claimed) in (1, SOME)
        case _:
            return bool(given)


class Costs(NamedTuple):
    """How many blocks each statement touches, by plans from before there were rows and from after; and those plans."""

    young: dict[str, int]
    grown: dict[str, int]
    plans: dict[str, Plan]


async def costs_among(server: PostgresServer, count: int) -> Costs:
    """Make tables, fill them, and see what statements cost."""
    address = read_address(f"{server.address()}?schema=among_{count}")
    connection = await make_tables(address)
    watched = BlockCounter(address, connection)
    await watched.plan_all()
    await fill(address, count)
    young = await touched(watched)
    await connection.close()
    await count_rows(address)
    connection = await connect(address)
    grown = await touched(BlockCounter(address, connection))
    plans = {name: await plan_of(connection, text) for name, text in texts(address.schema).items()}
    await connection.close()
    return Costs(young, grown, plans)


async def test_a_million_executions_cost_what_ten_thousand_do() -> None:
    with PostgresServer(settings=_SERVER) as server:
        few = await costs_among(server, FEW)
        many = await costs_among(server, MANY)
    plans = many.plans
    assert {name: seeks(plans[name]) for name in PINNED} == PINNED
    assert {name: found for name, plan in plans.items() if (found := scans(plan))}.keys() <= READS_ALL.keys()
    assert [name for name in IN_ORDER if is_sorted(plans[name])] == []
    for when, costs in {"planned when empty": many.young, "planned when full": many.grown}.items():
        too_much = {
            name: f"{blocks} blocks, and {few.grown[name]} among few"
            for name, blocks in costs.items()
            if blocks > _TIMES * few.grown[name] + _MORE
        }
        assert too_much == {}, when
