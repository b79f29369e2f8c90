"""A database with something in every column of every table, and a look at every row of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
from msgspec.structs import replace

from layover.core.resume_waits import ResumeWait
from layover.ports.access import IdempotentReply, NewLink, UserSettingsRow, ViewRow, WorkflowStatus
from layover.ports.audit_entries import audit_row
from layover.ports.batch_records import BatchItemRow, BatchRow
from layover.ports.delivery_records import DeliveryRow, DestinationRow, PersonRow
from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.moving import CopiedBatch, CopiedItem
from layover.ports.records import (
    ChangedPoint,
    ClosedExecution,
    ClosedPoint,
    DefinitionText,
    Entry,
    Message,
    NewExecution,
    OpenedPoint,
    Rest,
    ResumeWaitChange,
    Token,
)
from layover.ports.seal_records import AuditDocument, Seal, SealKey
from layover.ports.trigger_records import (
    InputRow,
    NewEvent,
    NewToken,
    NewTrigger,
    TriggerMove,
    TriggerSave,
    TriggerToken,
)
from tests.servers.postgres import connect, schema_of
from tests.stores.conformance import (
    approval,
    claim,
    commit,
    create,
    creation,
    enqueue,
    entry,
    go_on,
    key,
    log_chunk,
    message,
    opened,
    point,
    session,
    signal,
    uid,
)

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.store import Store

FAMILY = NewExecution(
    workflow="order",
    hash="h1",
    created_at=100,
    priority=3,
    user="ann",
    parent_id=uid(1),
    correlation_id="c-1",
    tags=("a", "ü"),
)
ODD_JSON = '["\\u0000","ünïcödé 🦆",1e-300,{"b":1,"a":2}]'.encode()
LARGE = b'["' + b"x" * 1_000_000 + b'"]'
INPUT = '{"size":1.50,"to":{"name":"ü","id":7},"all":[true,null]}'.encode()
RESTING = Rest(wake_at=7_000)
INDEXED_ANEW = {"search_terms", "indexed_executions"}  # tables that a copy writes from its own logs


async def fill(store: Store) -> None:
    """Write executions of every kind, and all that belongs to them."""
    await store.definitions.save("order", "h1", b'{"n":1}', 50)
    await store.definitions.save("order", "h2", b'{"n":2}', 60)
    await store.definitions.save("order", "h1", b'{"n":1}', 70)  # what was before is the newest again
    await store.definitions.save("refund", "r1", b"{}", 80)
    await create(store, 1)  # it is driven
    await go_on(store, 1, events=ODD_JSON, snapshot=b'{"seq":\\u0000}')
    await go_on(store, 1, events=LARGE, earlier=(Entry(seq=3, at=250, count=1, events=b'["before"]'),), count=2)
    await commit(store, replace(creation(2, new=FAMILY), input=INPUT))
    await _fill_points(store)
    await create(store, 3, new=replace(FAMILY, workflow="refund", hash="r1"))
    await go_on(
        store, 3, status="failed", closed=ClosedExecution(outcome="refused", error_code="no"), rest=Rest(), at=900
    )
    await create(store, 4, rest=Rest(wake_at=None, missing=("ship", "pack")))
    for n in (5, 6, 7):
        await create(store, n, rest=RESTING)
        await store.limits.admit(_wish(n), 300)
    await create(store, 8, rest=RESTING)  # commands that nobody has heard
    for n in (1, 2):
        await enqueue(store, 8, source="there", source_n=n)
    await create(store, 9)  # driven, with commands that its driver has not heard
    await enqueue(store, 9, now=150)
    await claim(store, 20_000, n=8, instance="gone")
    await claim(store, 90_000, n=8, instance="gone too")
    for one in (signal("s1"), signal("s2", key="ü"), signal("s3", at=500)):
        await store.signals.add(one)
    await store.signals.mark_dispatched(["s2"])
    await store.node_reports.add_logs([log_chunk(1, of=2), log_chunk(2, of=2), log_chunk(3, of=1)], 10**6)
    await _fill_access(store)
    await _fill_triggers(store)
    await _fill_seals(store)
    await _fill_deliveries(store)


async def _fill_deliveries(store: Store) -> None:
    full = DeliveryRow(
        id=uid(802),
        execution_id=uid(2),
        workflow="order",
        n=3,
        lane="lane ü",
        destination="chat",
        kind="pause.opened",
        point="review",
        user="ann",
        address="ü@example.org",
        body=b'{"text":"x"}',
        reason="502",
        created_at=600,
        due_at=700,
        epoch=2,
        attempts=1,
        history=b'[{"at":1}]',
        awaited=True,
    )
    first = replace(full, id=uid(803), n=2)  # of its lane
    over = replace(full, id=uid(801), execution_id=None, state="sent", settled_at=650, body=b"", awaited=False)
    broken = DestinationRow(
        name="chat",
        config=b'{"kind":"chat"}',
        state="disabled",
        reason="ü",
        failures=11,
        failing_since=5,
        open_until=900,
        opened=1,
        free_at=77,
        changed_at=66,
    )
    batch = CopiedBatch(
        destinations=(broken, DestinationRow(name="mail")),
        deliveries=(full, first, over),
        batches=(
            BatchRow(id=uid(901), act="pause", wanted=b"{}", arguments=b"{}", caller=b"{}", created_at=5, due_at=6),
            BatchRow(
                id=uid(902),
                act="answer",
                wanted=b'{"node":"ask"}',
                arguments=b'{"act":"answer"}',
                caller=b'{"user":"ann"}',
                user="ann",
                state="stopped",
                code="canary_failed",
                reason="The ü failed.",
                created_at=7,
                ended_at=9,
                due_at=8,
                epoch=4,
                interval=10,
                free_at=11,
                share=50_000,
                watch=600_000,
                canary=1,
                watch_until=12,
                cursor="[1,2]",
                position=2,
                total=3,
                done=1,
                skipped=0,
                failed=1,
            ),
        ),
        batch_items=(
            CopiedItem(
                batch_id=uid(902), item=BatchItemRow(n=1, target="t1", parent=uid(1), pin="ab", state="done", at=5)
            ),
            CopiedItem(
                batch_id=uid(902),
                item=BatchItemRow(n=2, target="t2", state="failed", code="not_allowed", reason="No ü.", at=6),
            ),
            CopiedItem(batch_id=uid(902), item=BatchItemRow(n=3, target="t3")),
        ),
        sessions=(session(1, key_id="k1"), replace(session(2), scopes=("execution:read", "ü"))),
        views=(ViewRow(user="ann", name="mine", body=b'{"status":["failed"]}', changed_at=5),),
        definition_texts=(
            DefinitionText(
                workflow="order", number=1, media_type="application/yaml", body="# ü".encode(), changed_at=7
            ),
        ),
        user_settings=(UserSettingsRow(user="ann", body=b'{"theme":"dark"}', changed_at=6),),
        people=(PersonRow(user="ann", roles=("boss", "ü"), body=b'{"language":"de"}', changed_at=4),),
        other_messages=(Message(sender=uid(900), n=7, destination="notify", kind="notify", body=b"{}", due_at=8),),
    )
    await store.database_copy.write_batch(batch)


async def _fill_seals(store: Store) -> None:
    sealed = audit_row(
        id=entry(9).id, at=100, user="ann", act="approval.approve", salt=b"s" * 16, document='{"title":"ü"}'.encode()
    )
    assert sealed.document is not None
    batch = CopiedBatch(
        audit=(replace(sealed, document=None, seal=1),),
        seals=(
            Seal(
                n=1,
                at=200,
                first=1,
                count=1,
                leaves=sealed.leaf,
                root=sealed.leaf,
                prev=bytes(32),
                head=b"h" * 32,
                key_id="k",
                signature=b"x" * 64,
            ),
        ),
        seal_keys=(SealKey(id="k", public=b"p" * 32, first_seal=1, since=200),),
        audit_documents=(AuditDocument(hash=sealed.document_hash, body=sealed.document),),
    )
    await store.database_copy.write_batch(batch)


async def _fill_triggers(store: Store) -> None:
    nightly = NewTrigger(
        id=uid(900), name="nightly", type="schedule", config=b'{"n":1}', timing="t", next_at=100, cursor=b'{"at":1}'
    )
    fired = NewTrigger(id=uid(901), name="fired", type="signal", config=b"{}", topic="paid")
    await store.definitions.save("refund", "r1", b"{}", 80, None, (nightly, fired))
    one = InputRow(
        trigger_id=uid(900),
        input_id="i ü",
        state="rejected",
        at=100,
        received_at=101,
        due_at=102,
        forget_at=103,
        attempts=2,
        reason="ü",
        execution_id=uid(1),
    )
    event = NewEvent(kind="TriggerInputReceived", body='{"data":"ü"}'.encode(), input=one)
    move = TriggerMove(
        trigger_id=uid(900),
        expected_seq=1,
        at=100,
        state="error",
        reason="ü",
        next_at=200,
        cursor=b'{"at":2}',
        failures=3,
        events=(event, replace(event, input=replace(one, input_id="i2", state="pending", execution_id=""))),
    )
    assert await store.triggers.move(move)
    alone = replace(fired, id=uid(902), name="alone")
    save = TriggerSave(workflow="refund", trigger_id=uid(902), create=True, new=alone, at=90)
    assert (await store.triggers.save(save)).verdict == "saved"
    for hash_, until in (("t1", None), ("t2", 500)):
        token = TriggerToken(hash=hash_, trigger_id=uid(902), made_at=95)
        assert await store.triggers.add_token(NewToken(token=token, others_until=until))


async def _fill_access(store: Store) -> None:
    full = replace(key(1), scopes=("execution:read", "ü"), created_by="ann", expires_at=10**13)
    await store.api_keys.add(full, entry(1, at=500))
    await store.api_keys.replace("k1", key(2), 10**12, entry(2, at=600))
    paused = WorkflowStatus(
        workflow="order",
        state="paused",
        changed_at=700,
        reason="ü",
        by="ann",
        due_at=10**13,
        resume_on=ResumeWait(signal="ö", key="ä", filter="signal.data == 'ü'"),
        resume_by="ben",
    )
    await store.workflow_status.set_status(paused, entry(3, at=600, of=uid(1)))
    await store.workflow_status.set_breakpoint("order", "charge", "ü", 705)
    await store.workflow_status.set_status(
        WorkflowStatus(workflow="refund", state="deleted", changed_at=710), entry(4, at=400)
    )
    await store.idempotency.begin(IdempotentReply(scope="ann", key="r1", fingerprint=b"f", until=10**13), 700)


async def _fill_points(store: Store) -> None:
    form = OpenedPoint(point=point("form", kind="form"), schema={"type": "object", "title": "ü"})
    waiting = OpenedPoint(point=point("wait", kind="signal"), waits=(("paid", "k1"), ("paid", "")))
    await go_on(
        store,
        2,
        points=(opened("review"), form, waiting, opened("over")),
        messages=(message(2, sender=2), message(3, sender=2, destination=uid(1)), message(4, sender=2)),
        tokens=(Token(hash=b"\x00\xffhash", point="wait"), Token(hash=b"other", point="wait")),
    )
    changed = replace(point("review"), details={"title": "Again"})
    changes = (ChangedPoint(point=changed), ClosedPoint(id="over", how="expired"))
    operator = ResumeWaitChange(awaited=("paid", "k1"), was=None)
    await go_on(store, 2, at=350, status="paused", points=(*changes, operator), rest=RESTING)
    for hash_, expires_at in ((b"\x00\xfflink", None), (b"other", 900)):
        link = NewLink(hash=hash_, point="form", user="ü", made_at=360, expires_at=expires_at)
        assert await store.links.add(link)
    await store.links.revoke("form", "ü", 370)
    assert await store.links.add(NewLink(hash=b"third", point="review", user="ann", made_at=380))
    await store.answers.reserve(approval("review"), "answer", 400)


def _wish(n: int) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n),
        slots=ConcurrencyLimit(name="slots", limit=1),
        rate=RateLimit(name="rate", limit=3, per_ms=1_000),
        priority=n,
    )


def rows_of_file(path: Path) -> dict[str, list[dict[str, object]]]:
    """Return every row of every table of a file, by its columns; of versions not the numbers that SQLite gives."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    found: dict[str, list[dict[str, object]]] = {}
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        rows = db.execute(f"SELECT * FROM {table}")  # noqa: S608 - the names are from the schema
        found[table] = sorted((dict(zip(columns, row, strict=True)) for row in rows), key=repr)
    db.close()
    return found


async def rows_of_schema(address: str) -> dict[str, list[dict[str, object]]]:
    """Return every row of every table of a schema, by its columns."""
    schema = schema_of(address)
    connection = await connect(address)
    try:
        tables = await connection.fetch(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition",
            schema,
        )
        found: dict[str, list[dict[str, object]]] = {}
        for (table,) in tables:
            rows = await connection.fetch(f"SELECT * FROM {schema}.{table}")  # noqa: S608 - as above
            found[table] = sorted((dict(row) for row in rows), key=repr)
        return found
    finally:
        await connection.close()
