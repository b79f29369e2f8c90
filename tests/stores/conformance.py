"""What every store has to be: the records that the tests write, and a look at everything a store knows.

A store joins the suite by one line in `DATABASES`. All tests of this package that take `store` or `database` then run
on it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from layover.core.engine.commands import Answer
from layover.core.engine.state import Point
from layover.ports.access import AuditFilter, Key, SessionRow
from layover.ports.batch_records import BatchFilter
from layover.ports.delivery_records import DeliveryFilter
from layover.ports.records import Append, AuditRow, Claim, Enqueue, Message, NewExecution, OpenedPoint, Signal
from layover.ports.view_records import ExecutionFilter, LogChunk, NodeProgress, PointFilter
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.servers.postgres import databases
from tests.servers.sqlite import empty_database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover.core.approval_rules import ApprovalRules
    from layover.core.engine.events import PointKind
    from layover.ports.records import Claims, Enqueued, Head, Outcome, Refusal, Rest
    from layover.ports.store import Store

ME, OTHER = "me", "other"


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Database(Protocol):
    """One truth, and ways to it: each is the store of another instance."""

    def __call__(self) -> Store: ...


def _memory(_folder: Path, clock: Clock) -> Database:
    database = MemoryDatabase(clock)
    return lambda: MemoryStore(database)


def _sqlite(folder: Path, clock: Clock) -> Database:
    return lambda: SqliteStore(empty_database(folder / "layover.db"), busy_ms=20, clock=clock)


def _postgres(_folder: Path, clock: Clock) -> Database:
    address = databases.address()
    return lambda: PostgresStore(address, clock=clock)


DATABASES: dict[str, Callable[[Path, Clock], Database]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgres": _postgres,
}


def uid(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-{n:012x}"


# Appends

NEW = NewExecution(workflow="order", hash="h1", created_at=100)


def creation(n: int = 1, *, new: NewExecution = NEW, rest: Rest | None = None, lease_until: int = 5_000) -> Append:
    return Append(
        execution_id=uid(n),
        owner=ME,
        epoch=1,
        expected_seq=-1,
        commands_seen=0,
        at=100,
        events=b'["created","started"]',
        count=2,
        status="running",
        new=new,
        lease_until=lease_until,
        rest=rest,
    )


def step(n: int = 1, *, count: int = 1) -> Append:
    """Return the append that may follow on a creation."""
    return Append(
        execution_id=uid(n),
        owner=ME,
        epoch=1,
        expected_seq=1,
        commands_seen=0,
        at=200,
        events=b'["moved"]',
        count=count,
        status="running",
    )


def following(head: Head, **changes: object) -> Append:
    """Return an append that fits a head as it is."""
    append = Append(
        execution_id=head.execution_id,
        owner=head.owner or ME,
        epoch=head.epoch,
        expected_seq=head.last_seq,
        commands_seen=head.commands_seq,
        at=300,
        events=b'["moved"]',
        count=1,
        status=head.status,
    )
    return replace(append, **changes)


async def create(store: Store, n: int = 1, *, new: NewExecution = NEW, rest: Rest | None = None) -> Head:
    await store.definitions.save(new.workflow, new.hash, b"{}", 50)
    assert (await commit(store, creation(n, new=new, rest=rest))).verdict == "passed"
    return await head(store, n)


async def commit(store: Store, append: Append) -> Outcome:
    (outcome,) = await store.appends.commit([append])
    return outcome


async def go_on(store: Store, n: int = 1, **changes: object) -> Head:
    """Append what fits, whatever the head is."""
    outcome = await commit(store, following(await head(store, n), **changes))
    assert outcome.verdict == "passed"
    return await head(store, n)


async def head(store: Store, n: int = 1) -> Head:
    row = await store.queries.find_execution(uid(n))
    assert row is not None
    return row.head


# Claims and commands


async def claim(
    store: Store, now: int, *, most: int = 10, instance: str = ME, n: int | None = None, lease_until: int = 9_000
) -> Claims:
    execution_id = uid(n) if n is not None else None
    return await store.claims.claim(
        Claim(instance=instance, now=now, lease_until=lease_until, most=most, execution_id=execution_id)
    )


def ids(claims: Claims) -> list[str]:
    return [claimed.head.execution_id for claimed in claims.claimed]


async def enqueue(
    store: Store, n: int = 1, *, source: str = "s", source_n: int = 0, now: int = 700
) -> Enqueued | Refusal:
    command = Enqueue(execution_id=uid(n), kind="Pause", body=b"{}", source=source, source_n=source_n)
    (answer,) = await store.commands.enqueue([command], now)
    return answer


# Points


def point(
    name: str, *, kind: PointKind = "approval", opened_at: int = 150, rules: ApprovalRules | None = None
) -> Point:
    return Point(id=name, node="ask", kind=kind, opened_at=opened_at, rules=rules, details={"title": name})


def opened(
    name: str = "p", *, schema: object = None, kind: PointKind = "approval", rules: ApprovalRules | None = None
) -> OpenedPoint:
    return OpenedPoint(point=point(name, kind=kind, rules=rules), schema=schema)


def approval(name: str = "p", *, by: str = "ann", approved: bool | None = True, data: object = None) -> Answer:
    return Answer(point=name, by=by, approved=approved, data=data)


# Messages and signals


def message(n: int = 1, *, sender: int = 1, destination: str = "there", due_at: int = 500) -> Message:
    return Message(sender=uid(sender), n=n, destination=destination, kind="Start", body=b"{}", due_at=due_at)


def signal(id_: str = "s1", *, name: str = "paid", key: str = "k1", at: int = 400) -> Signal:
    return Signal(id=id_, name=name, key=key, at=at, data=b'{"n":1}')


# Access


def entry(n: int = 1, *, at: int = 600, user: str = "ann", act: str = "execution.pause", of: str = "") -> AuditRow:
    """Return what somebody did, to an execution perhaps."""
    return AuditRow(
        id=f"{n:08x}-0000-7000-8000-000000000000",
        at=at,
        user=user,
        act=act,
        target=of or f"t{n}",
        execution_id=of,
        credential="key k1",
        request_id=f"r{n}",
        details=b'{"reason":"late"}',
    )


def key(n: int = 1) -> Key:
    return Key(
        id=f"k{n}",
        prefix=f"lay_{n}",
        hash=bytes([n]) * 32,
        name=f"key {n}",
        user="ann",
        roles=("operator", "approver"),
        created_at=n,
    )


def session(n: int = 1, *, user: str = "ann", key_id: str = "") -> SessionRow:
    return SessionRow(
        id=f"s{n}",
        hash=bytes([100 + n]) * 32,
        kind="session",
        user=user,
        roles=("operator", "approver"),
        created_at=n,
        expires_at=1_000 + n,
        opened_by="key k1",
        key_id=key_id,
    )


# Everything

WORKFLOWS = ("order", "refund")


def log_chunk(n: int = 1, *, of: int = 1, node: str = "a", body: bytes = b"\x00\xff compressed") -> LogChunk:
    return LogChunk(
        execution_id=uid(of), id=uid(n), node=node, attempt=1, at=700 + n, lines=3, dropped=n % 2, body=body
    )


def progress(node: str = "a", *, of: int = 1, attempt: int = 1, at: int = 700) -> NodeProgress:
    return NodeProgress(execution_id=uid(of), node=node, attempt=attempt, at=at, body=b'{"done":%d}' % at)


async def truth(store: Store) -> dict[str, object]:
    """Return everything that a store knows of executions, and of what belongs to them."""
    rows = await store.queries.list_executions(ExecutionFilter(limit=1_000))
    ids = [row.head.execution_id for row in rows]
    return {
        "executions": rows,
        "counts": await store.queries.count_by_status(),
        "standings": await store.queries.read_standings(ids),
        "loaded": await store.queries.load(ids),
        "logs": await asyncio.gather(*(store.queries.read_history(id_, 0, 1_000) for id_ in ids)),
        "commands": await asyncio.gather(*(store.commands.list_after(id_, 0) for id_ in ids)),
        "points": await store.queries.list_points(PointFilter(limit=1_000)),
        "messages": await asyncio.gather(*(store.outbox.list_undelivered(id_) for id_ in ids)),
        "undispatched": await store.signals.list_undispatched(10**15, 1_000),
        "admissions": await asyncio.gather(*(store.limits.find_admission(id_) for id_ in ids)),
        "latest": await store.definitions.list_versions(),
        "versions": await asyncio.gather(*(store.definitions.list_versions(workflow) for workflow in WORKFLOWS)),
        "audit": await store.audit.list_entries(AuditFilter(limit=1_000)),
        "seals": await store.seals.list_seals(0, 1_000),
        "seal_keys": await store.seals.list_keys(),
        "audit_documents": await store.seals.list_documents(b"", 1_000),
        "keys": await store.api_keys.list_keys("", 1_000),
        "browsers": await store.sessions.list_sessions("session", "", 1_000),
        "sign_in_links": await store.sessions.list_sessions("link", "", 1_000),
        "node_logs": await asyncio.gather(*(store.node_reports.read_logs(id_, "", None, 1_000) for id_ in ids)),
        "progress": await store.node_reports.read_progress(ids),
        "workflow_statuses": await store.workflow_status.list_statuses(),
        "deliveries": await store.deliveries.list_deliveries(DeliveryFilter(limit=1_000)),
        "destinations": await store.deliveries.list_destinations("", 1_000),
        "batches": await store.batches.list_batches(BatchFilter(limit=1_000)),
        "batch_items": await store.database_copy.read_batch_items(None, 10_000),
        "people": await store.people.list_people("", 1_000),
        "views": await store.views.read_views(("", ""), 1_000),
        "definition_texts": await store.definitions.read_texts(("", 0), 1_000),
        "user_settings": await store.user_settings.read_settings("", 1_000),
    }
