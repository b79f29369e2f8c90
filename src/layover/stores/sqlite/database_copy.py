"""Reading a whole database, and writing it into another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from layover.ports.errors import StoreError
from layover.ports.moving import (
    CopiedEvent,
    CopiedItem,
    CopiedSnapshot,
    KeptSignal,
    SignalKey,
    Size,
    StoredExecution,
    UsedRate,
)
from layover.ports.records import Token
from layover.ports.trigger_records import TriggerEventRow, TriggerToken
from layover.stores.batches import item_of
from layover.stores.ids import key, text
from layover.stores.rows import entry_of, signal_of, workflow_status_values
from layover.stores.sqlite import api_keys, sessions
from layover.stores.sqlite.appends import encode_types, write_tags
from layover.stores.sqlite.batches import insert_batch, insert_items
from layover.stores.sqlite.definitions import insert_texts
from layover.stores.sqlite.deliveries import delivery_of, find_destination, insert_deliveries, send, write_destination
from layover.stores.sqlite.limits import save_place
from layover.stores.sqlite.links import link_of
from layover.stores.sqlite.node_reports import chunk_of
from layover.stores.sqlite.people import find_people, write_person
from layover.stores.sqlite.queries import commands_after
from layover.stores.sqlite.rows import execution_of, message_of, place_of_row, point_of
from layover.stores.sqlite.seals import write_key, write_seal
from layover.stores.sqlite.statements import SQL
from layover.stores.sqlite.triggers import input_of, input_values, trigger_values
from layover.stores.sqlite.user_settings import insert_user_settings
from layover.stores.sqlite.views import insert_views

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.moving import CopiedBatch
    from layover.ports.records import Message, PointRow
    from layover.ports.trigger_records import InputRow
    from layover.ports.view_records import ExecutionRow
    from layover.stores.sqlite.session import SqliteSession

_ALL_POINTS = {"after_at": -(2**63), "after_id": "", "workflow": None, "kind": None, "status": None, "limit": -1}


class SqliteDatabaseCopy:
    """Everything of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def read_sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        return await self._session.read(lambda db: sizes(db, after, most))

    async def read_executions(self, execution_ids: Sequence[str]) -> list[StoredExecution]:
        """Read executions with everything that belongs to them."""
        return await self._session.read(lambda db: read_executions(db, execution_ids))

    async def read_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read all signals."""
        return await self._session.read(lambda db: kept_signals(db, after, most))

    async def read_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        return await self._session.read(lambda db: used_rates(db, after, most))

    async def read_trigger_inputs(self, after: tuple[str, str] | None, most: int) -> list[InputRow]:
        """Read inputs of triggers."""
        return await self._session.read(lambda db: trigger_inputs(db, after, most))

    async def read_trigger_tokens(self, after: str, most: int) -> list[TriggerToken]:
        """Read the hashes of tokens."""
        return await self._session.read(lambda db: trigger_tokens(db, after, most))

    async def read_trigger_events(self, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
        """Read the logs of triggers."""
        return await self._session.read(lambda db: trigger_events(db, after, most))

    async def read_deliveries(self, after: str, most: int) -> list[DeliveryRow]:
        """Read deliveries."""
        values = {"after": key(after) if after else b"", "most": most}
        return await self._session.read(
            lambda db: [delivery_of(row) for row in db.execute(SQL["deliveries_after"], values)]
        )

    async def read_batch_items(self, after: tuple[str, int] | None, most: int) -> list[CopiedItem]:
        """Read items of batches."""
        return await self._session.read(lambda db: batch_items(db, after, most))

    async def read_other_messages(self, after: tuple[str, str, int] | None, most: int) -> list[Message]:
        """Read messages whose sender is no execution."""
        return await self._session.read(lambda db: other_messages(db, after, most))

    async def write_batch(self, batch: CopiedBatch) -> None:
        """Write a batch of another database."""
        await self._session.write(lambda db: write_batch(db, batch))


def sizes(db: apsw.Connection, after: str, most: int) -> list[Size]:
    """Return the sizes of executions."""
    rows = db.execute(SQL["execution_sizes"], {"after": key(after) if after else b"", "most": most})
    return [Size(execution_id=text(id_), size=size) for id_, size in rows]


def read_executions(db: apsw.Connection, execution_ids: Sequence[str]) -> list[StoredExecution]:
    """Read executions with everything that belongs to them."""
    found = (_whole(db, key(execution_id)) for execution_id in sorted(set(execution_ids)))
    return [whole for whole in found if whole is not None]


def _whole(db: apsw.Connection, id_: bytes) -> StoredExecution | None:
    row = db.execute(SQL["execution_by_id"], {"id": id_}).fetchone()
    if row is None:
        return None
    snapshot = db.execute(SQL["snapshot_of_execution"], {"id": id_}).fetchone()
    place = db.execute(SQL["place_of_execution"], {"id": id_}).fetchone()
    messages = [message_of(message) for message in db.execute(SQL["messages_of_sender"], {"sender": id_})]
    points = db.execute(SQL["list_points_of_execution"], {"execution_id": id_, **_ALL_POINTS})
    return StoredExecution(
        row=execution_of(row),
        entries=tuple(entry_of(entry) for entry in db.execute(SQL["entries_after"], {"id": id_, "after": -1})),
        snapshot=CopiedSnapshot(seq=snapshot[0], body=snapshot[1]) if snapshot is not None else None,
        points=tuple(map(point_of, points)),
        commands=tuple(commands_after(db, id_, 0)),
        messages=tuple(sorted(messages, key=lambda message: (message.n, message.destination))),
        tokens=tuple(
            Token(hash=hash_, point=point) for hash_, point in db.execute(SQL["tokens_of_execution"], {"id": id_})
        ),
        waits=tuple(
            SignalKey(name=name, key=awaited, point=point)
            for name, awaited, point in sorted(db.execute(SQL["waits_of_execution"], {"id": id_, "text": text(id_)}))
        ),
        links=tuple(link_of(link) for link in db.execute(SQL["links_of_execution"], {"id": id_})),
        place=place_of_row(place) if place is not None else None,
        logs=tuple(chunk_of(chunk) for chunk in db.execute(SQL["node_logs_of_execution"], {"id": id_})),
        input=db.execute(SQL["input_of_execution"], {"id": id_}).get,
    )


def kept_signals(db: apsw.Connection, after: str, most: int) -> list[KeptSignal]:
    """Read signals."""
    rows = db.execute(SQL["signals_after"], {"after": after, "most": most})
    return [KeptSignal(signal=signal_of(row[:-1]), dispatched=bool(row[-1])) for row in rows]


def used_rates(db: apsw.Connection, after: str, most: int) -> list[UsedRate]:
    """Read until when rates are used."""
    rows = db.execute(SQL["rates_after"], {"after": after, "most": most})
    return [UsedRate(name=name, used_until=used_until) for name, used_until in rows]


def trigger_inputs(db: apsw.Connection, after: tuple[str, str] | None, most: int) -> list[InputRow]:
    """Read inputs of triggers."""
    trigger_id, input_id = (key(after[0]), after[1]) if after is not None else (b"", "")
    values = {"trigger_id": trigger_id, "input_id": input_id, "most": most}
    return [input_of(row) for row in db.execute(SQL["trigger_inputs_after"], values)]


def trigger_tokens(db: apsw.Connection, after: str, most: int) -> list[TriggerToken]:
    """Read the hashes of tokens."""
    rows = db.execute(SQL["trigger_tokens_after"], {"after": after, "most": most})
    return [
        TriggerToken(hash=hash_, trigger_id=text(id_), made_at=made_at, until=until)
        for hash_, id_, made_at, until in rows
    ]


def trigger_events(db: apsw.Connection, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
    """Read the logs of triggers."""
    trigger_id, seq = (key(after[0]), after[1]) if after is not None else (b"", 0)
    rows = db.execute(SQL["all_trigger_events_after"], {"trigger_id": trigger_id, "seq": seq, "most": most})
    return [
        CopiedEvent(trigger_id=text(id_), event=TriggerEventRow(seq=n, at=at, kind=kind, body=body))
        for id_, n, at, kind, body in rows
    ]


def batch_items(db: apsw.Connection, after: tuple[str, int] | None, most: int) -> list[CopiedItem]:
    """Read items of batches."""
    batch_id, n = (key(after[0]), after[1]) if after is not None else (b"", 0)
    rows = db.execute(SQL["all_batch_items_after"], {"batch_id": batch_id, "n": n, "most": most})
    return [CopiedItem(batch_id=text(row[0]), item=item_of(row[1:])) for row in rows]


def other_messages(db: apsw.Connection, after: tuple[str, str, int] | None, most: int) -> list[Message]:
    """Read messages whose sender is no execution."""
    sender, destination, n = (key(after[0]), *after[1:]) if after is not None else (b"", "", 0)
    values = {"sender": sender, "destination": destination, "n": n, "most": most}
    return [message_of(row) for row in db.execute(SQL["other_messages_after"], values)]


def write_batch(db: apsw.Connection, batch: CopiedBatch) -> None:
    """Write a batch of another database. A row that exists is an error, and nothing is values then."""
    db.executemany(SQL["insert_versions"], [asdict(version) for version in batch.versions])
    for whole in batch.executions:
        _write_whole(db, key(whole.id), whole)
    signals = [{**asdict(kept.signal), "dispatched": kept.dispatched} for kept in batch.signals]
    db.executemany(SQL["insert_signals"], signals)
    db.executemany(SQL["insert_rates"], [asdict(rate) for rate in batch.rates])
    for one in batch.keys:
        api_keys.insert(db, one)
    for row in batch.sessions:
        sessions.insert(db, row)
    db.executemany(SQL["insert_workflow_statuses"], [workflow_status_values(one) for one in batch.workflow_statuses])
    db.executemany(SQL["insert_audit_entries"], [asdict(entry) for entry in batch.audit])
    for seal in batch.seals:
        write_seal(db, seal)
    for seal_key in batch.seal_keys:
        write_key(db, seal_key)
    db.executemany(SQL["insert_audit_documents"], [asdict(document) for document in batch.audit_documents])
    db.executemany(SQL["copy_triggers"], [trigger_values(row) for row in batch.triggers])
    db.executemany(SQL["copy_trigger_inputs"], [input_values(one) for one in batch.trigger_inputs])
    tokens = [{**asdict(token), "trigger_id": key(token.trigger_id)} for token in batch.trigger_tokens]
    db.executemany(SQL["insert_trigger_tokens"], tokens)
    events = [{**asdict(one.event), "trigger_id": key(one.trigger_id)} for one in batch.trigger_events]
    db.executemany(SQL["insert_trigger_events"], events)
    _write_deliveries(db, batch)
    if not all(insert_batch(db, row) for row in batch.batches):
        raise StoreError("Some of it is there already.")
    for copied in batch.batch_items:
        insert_items(db, copied.batch_id, [copied.item])


def _write_deliveries(db: apsw.Connection, batch: CopiedBatch) -> None:
    is_there = any(find_destination(db, row.name) is not None for row in batch.destinations)
    is_there = is_there or bool(batch.people and find_people(db, [row.user for row in batch.people], []))
    for destination in batch.destinations:
        write_destination(db, destination)
    for person in batch.people:
        write_person(db, person)
    is_there = is_there or insert_views(db, batch.views) < len(batch.views)
    is_there = is_there or insert_user_settings(db, batch.user_settings) < len(batch.user_settings)
    is_there = is_there or insert_texts(db, batch.definition_texts) < len(batch.definition_texts)
    is_there = is_there or insert_deliveries(db, batch.deliveries) < len(batch.deliveries)
    if is_there or send(db, batch.other_messages) < len(batch.other_messages):
        raise StoreError("Some of it is there already.")


def _write_whole(db: apsw.Connection, id_: bytes, whole: StoredExecution) -> None:
    _write_row(db, id_, whole.row, whole.input)
    db.executemany(SQL["insert_entries"], [(id_, one.seq, one.count, one.at, one.events) for one in whole.entries])
    if whole.snapshot is not None:
        db.execute(SQL["insert_snapshots"], {"id": id_, **asdict(whole.snapshot)})
    db.executemany(SQL["insert_points"], [_columns(id_, row) for row in whole.points])
    db.executemany(SQL["insert_commands"], [{"id": id_, **asdict(command)} for command in whole.commands])
    db.executemany(SQL["insert_messages"], [{**asdict(message), "sender": id_} for message in whole.messages])
    db.executemany(SQL["insert_tokens"], [{"id": id_, **asdict(token)} for token in whole.tokens])
    db.executemany(SQL["insert_waits"], [{"id": id_, **asdict(wait)} for wait in whole.waits])
    db.executemany(SQL["insert_links"], [{**asdict(link), "execution_id": id_} for link in whole.links])
    if whole.place is not None:
        save_place(db, whole.place)
    db.executemany(SQL["insert_node_logs"], [{**asdict(chunk), "execution_id": id_} for chunk in whole.logs])


def _write_row(db: apsw.Connection, id_: bytes, row: ExecutionRow, document: bytes | None) -> None:
    head, info, closed = row.head, row.info, row.closed
    values = {**asdict(head), "id": id_, "missing": encode_types(head.missing), "created_at": info.created_at}
    db.execute(SQL["insert_heads"], values)
    db.execute(
        SQL["insert_executions"],
        {
            **asdict(info),
            "id": id_,
            "parent_id": key(info.parent_id) if info.parent_id is not None else None,
            "tags": msgspec.json.encode(info.tags).decode() if info.tags else None,
            "finished_at": row.finished_at,
            "outcome": closed.outcome if closed is not None else None,
            "error_code": closed.error_code if closed is not None else None,
            "input": document,
            "resume_count": row.resume_count,
        },
    )
    if db.changes() != 1:
        raise StoreError(f"There is no version {info.hash} of the workflow {info.workflow}.", code="unknown_version")
    write_tags(db, id_, info)


def _columns(id_: bytes, row: PointRow) -> dict[str, apsw.SQLiteValue]:
    point = row.point
    return {
        "id": id_,
        "point": point.id,
        "workflow": row.workflow,
        "kind": point.kind,
        "status": row.status,
        "opened_at": point.opened_at,
        "closed_at": row.closed_at,
        "body": msgspec.json.encode(point),
        "schema": msgspec.json.encode(row.schema) if row.schema is not None else None,
    }
