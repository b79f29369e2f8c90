"""Reading a whole database, and writing it into another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import astuple

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
from layover.ports.records import DefinitionText, Token
from layover.ports.trigger_records import TriggerEventRow, TriggerToken
from layover.stores.batches import item_of
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.postgres import api_keys, weekly_partitions
from layover.stores.postgres.batches import insert_batch
from layover.stores.postgres.deliveries import insert_deliveries
from layover.stores.postgres.limits import save_places
from layover.stores.postgres.links import link_of
from layover.stores.postgres.node_reports import chunk_of
from layover.stores.postgres.queries import commands_of_executions
from layover.stores.postgres.rows import execution_of, message_of, place_of_row, point_of
from layover.stores.postgres.seals import write_keys, write_seals
from layover.stores.postgres.settlements import delivery_of
from layover.stores.postgres.triggers import input_columns, input_of
from layover.stores.rows import entry_of, session_values, signal_of, workflow_status_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.moving import CopiedBatch
    from layover.ports.records import AuditRow, Message, PointRow
    from layover.ports.trigger_records import InputRow
    from layover.ports.view_records import ExecutionRow
    from layover.stores.postgres.database import PostgresSchema, Transaction
    from layover.stores.postgres.session import PostgresSession

T = TypeVar("T")

_ID_BYTES = 16
_FIRST_ID = "00000000-0000-0000-0000-000000000000"


class PostgresDatabaseCopy:
    """Everything of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def read_sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        first = int.from_bytes(key(after)) + 1 if after else 0
        if first.bit_length() > 8 * _ID_BYTES:
            return []
        rows = await self._session.db.fetch("execution_sizes", text(first.to_bytes(_ID_BYTES)), at_most(most))
        return [Size(execution_id=id_, size=int(size)) for id_, size in rows]

    async def read_executions(self, execution_ids: Sequence[str]) -> list[StoredExecution]:
        """Read executions with everything that belongs to them."""
        check_ids(execution_ids)
        return await self._session.db.transact(lambda tx: _read_executions(tx, sorted(set(execution_ids))))

    async def read_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read signals."""
        rows = await self._session.db.fetch("signals_after", after, at_most(most))
        return [KeptSignal(signal=signal_of(row[:-1]), dispatched=row[-1]) for row in rows]

    async def read_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        rows = await self._session.db.fetch("rates_after", after, at_most(most))
        return [UsedRate(name=name, used_until=used_until) for name, used_until in rows]

    async def read_trigger_inputs(self, after: tuple[str, str] | None, most: int) -> list[InputRow]:
        """Read inputs of triggers."""
        rows = await self._session.db.fetch("trigger_inputs_after", *(after or (_FIRST_ID, "")), at_most(most))
        return [input_of(row) for row in rows]

    async def read_trigger_tokens(self, after: str, most: int) -> list[TriggerToken]:
        """Read the hashes of tokens."""
        rows = await self._session.db.fetch("trigger_tokens_after", after, at_most(most))
        return [
            TriggerToken(hash=hash_, trigger_id=id_, made_at=made_at, until=until)
            for hash_, id_, made_at, until in rows
        ]

    async def read_trigger_events(self, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
        """Read the logs of triggers."""
        rows = await self._session.db.fetch("all_trigger_events_after", *(after or (_FIRST_ID, 0)), at_most(most))
        return [
            CopiedEvent(trigger_id=id_, event=TriggerEventRow(seq=seq, at=at, kind=kind, body=body))
            for id_, seq, at, kind, body in rows
        ]

    async def read_deliveries(self, after: str, most: int) -> list[DeliveryRow]:
        """Read deliveries."""
        rows = await self._session.db.fetch("deliveries_after", after or _FIRST_ID, at_most(most))
        return [delivery_of(row) for row in rows]

    async def read_batch_items(self, after: tuple[str, int] | None, most: int) -> list[CopiedItem]:
        """Read items of batches."""
        rows = await self._session.db.fetch("all_batch_items_after", *(after or (_FIRST_ID, 0)), at_most(most))
        return [CopiedItem(batch_id=row[0], item=item_of(row[1:])) for row in rows]

    async def read_other_messages(self, after: tuple[str, str, int] | None, most: int) -> list[Message]:
        """Read messages whose sender is no execution."""
        rows = await self._session.db.fetch("other_messages_after", *(after or (_FIRST_ID, "", 0)), at_most(most))
        return [message_of(row) for row in rows]

    async def write_batch(self, batch: CopiedBatch) -> None:
        """Write a batch of another database. A row that exists is an error, and nothing is written then."""
        db = self._session.db
        await _prepare_weeks(db, batch)
        await db.transact(lambda tx: _write_batch(tx, batch))


async def _read_executions(tx: Transaction, ids: list[str]) -> list[StoredExecution]:
    rows = [execution_of(row) for row in await tx.fetch("executions_by_id", ids)]
    weeks = {row.head.execution_id: weekly_partitions.week_of(row.info.created_at) for row in rows}
    entries = await _by_execution(tx, "entries_of_executions", entry_of, list(weeks), list(weeks.values()))
    snapshots = await _by_execution(tx, "snapshots_of_executions", _snapshot_of, ids)
    commands = await commands_of_executions(tx, ids, [0] * len(ids))
    tokens = await _by_execution(tx, "tokens_of_executions", _token_of, ids)
    waits = await _by_execution(tx, "waits_of_executions", _awaited_of, ids)
    points, messages = defaultdict(list), defaultdict(list)
    for point in map(point_of, await tx.fetch("points_of_executions", ids)):
        points[point.execution_id].append(point)
    for message in map(message_of, await tx.fetch("messages_of_senders", ids)):
        messages[message.sender].append(message)
    logs = defaultdict(list)
    for chunk in map(chunk_of, await tx.fetch("node_logs_of_executions", ids)):
        logs[chunk.execution_id].append(chunk)
    links = defaultdict(list)
    for link in map(link_of, await tx.fetch("links_of_executions", ids)):
        links[link.execution_id].append(link)
    places = {place.execution_id: place for place in map(place_of_row, await tx.fetch("places_of_executions", ids))}
    inputs = {row[0]: row[1].encode() for row in await tx.fetch("inputs_of_executions", ids)}
    return [
        StoredExecution(
            row=row,
            entries=tuple(entries[id_]),
            snapshot=snapshots[id_][0] if id_ in snapshots else None,
            points=tuple(points[id_]),
            commands=tuple(commands.get(id_, ())),
            messages=tuple(messages[id_]),
            tokens=tuple(tokens[id_]),
            waits=tuple(waits[id_]),
            links=tuple(links[id_]),
            place=places.get(id_),
            logs=tuple(logs[id_]),
            input=inputs.get(id_),
        )
        for row in rows
        for id_ in (row.head.execution_id,)
    ]


async def _by_execution(
    tx: Transaction, statement: str, read: Callable[[Sequence[Any]], T], *values: object
) -> defaultdict[str, list[T]]:
    """Return the rows of a statement by the execution in their first column."""
    found: defaultdict[str, list[T]] = defaultdict(list)
    for id_, *columns in await tx.fetch(statement, *values):
        found[id_].append(read(columns))
    return found


async def _prepare_weeks(db: PostgresSchema, batch: CopiedBatch) -> None:
    """Create the partitions that the logs of a batch belong in."""
    weeks = sorted({weekly_partitions.week_of(whole.row.info.created_at) for whole in batch.executions})
    for (era,) in await db.fetch("weeks_without_partition", weeks) if weeks else ():
        await weekly_partitions.prepare(db, era * weekly_partitions.WEEK)


def _text_columns(text: DefinitionText) -> tuple[object, ...]:
    return text.workflow, text.number, text.media_type, text.body, text.changed_at


async def _write_batch(tx: Transaction, batch: CopiedBatch) -> None:
    executions = batch.executions
    await _insert(tx, "insert_versions", (astuple(version) for version in batch.versions))
    await _insert(tx, "copy_texts", map(_text_columns, batch.definition_texts))
    await _insert(tx, "insert_heads", (_head_columns(whole.row) for whole in executions))
    await _insert(tx, "insert_executions", (_execution_columns(whole) for whole in executions))
    entries = (
        (whole.id, weekly_partitions.week_of(whole.row.info.created_at), entry.seq, entry.at, entry.count, entry.events)
        for whole in executions
        for entry in whole.entries
    )
    await _insert(tx, "insert_entries", entries)
    snapshots = ((whole.id, *astuple(whole.snapshot)) for whole in executions if whole.snapshot is not None)
    await _insert(tx, "insert_snapshots", snapshots)
    await _insert(tx, "insert_points", (_point_columns(row) for whole in executions for row in whole.points))
    await _insert(tx, "insert_commands", ((whole.id, *astuple(one)) for whole in executions for one in whole.commands))
    for view in batch.views:
        await tx.fetch("copy_view", *astuple(view))
    for settings in batch.user_settings:
        await tx.fetch("copy_user_settings", *astuple(settings))
    await _insert(tx, "insert_messages", (astuple(message) for whole in executions for message in whole.messages))
    await _insert(tx, "insert_tokens", ((whole.id, *astuple(token)) for whole in executions for token in whole.tokens))
    await _insert(tx, "insert_waits", ((whole.id, *astuple(wait)) for whole in executions for wait in whole.waits))
    await _insert(tx, "insert_links", (astuple(link) for whole in executions for link in whole.links))
    await _insert(tx, "insert_node_logs", (astuple(chunk) for whole in executions for chunk in whole.logs))
    await save_places(tx, [whole.place for whole in executions if whole.place is not None])
    await _insert(tx, "insert_signals", ((*astuple(kept.signal), kept.dispatched) for kept in batch.signals))
    await _insert(tx, "insert_rates", (astuple(rate) for rate in batch.rates))
    await _insert(tx, "insert_api_keys", map(api_keys.columns, batch.keys))
    await _insert(tx, "insert_sessions", (tuple(session_values(row).values()) for row in batch.sessions))
    await _insert(
        tx, "insert_workflow_statuses", (tuple(workflow_status_values(one).values()) for one in batch.workflow_statuses)
    )
    await _insert(tx, "insert_audit_entries", map(_audit_columns, batch.audit))
    await write_seals(tx, batch.seals)
    await write_keys(tx, batch.seal_keys)
    await _insert(tx, "insert_audit_documents", map(astuple, batch.audit_documents))
    await _insert(tx, "copy_triggers", map(astuple, batch.triggers))
    await _insert(tx, "copy_trigger_inputs", map(input_columns, batch.trigger_inputs))
    await _insert(tx, "insert_trigger_tokens", map(astuple, batch.trigger_tokens))
    await _insert(tx, "insert_trigger_events", ((one.trigger_id, *astuple(one.event)) for one in batch.trigger_events))
    await _insert(tx, "copy_destinations", map(astuple, batch.destinations))
    if await insert_deliveries(tx, batch.deliveries) < len(batch.deliveries):
        raise StoreError("Some of it is there already.")
    for person in batch.people:
        await tx.fetch("copy_person", *astuple(person))
    await _insert(tx, "insert_messages", map(astuple, batch.other_messages))
    for row in batch.batches:
        if not await insert_batch(tx, row):
            raise StoreError("Some of it is there already.")
    await _insert(tx, "copy_batch_items", ((one.batch_id, *astuple(one.item)) for one in batch.batch_items))


async def _insert(tx: Transaction, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        await tx.fetch(statement, *columns)


def _audit_columns(row: AuditRow) -> tuple[object, ...]:
    *columns, _document, seal = astuple(row)  # documents are copied by themselves
    return (*columns, seal)


def _head_columns(row: ExecutionRow) -> tuple[object, ...]:
    head = row.head
    return (
        head.execution_id,
        head.workflow,
        head.status,
        head.priority,
        head.last_seq,
        head.last_epoch,
        head.epoch,
        head.owner,
        head.wake_at,
        head.commands_seq,
        head.commands_done,
        head.takeovers,
        _json(head.missing),
        head.missing_since,
        head.paused_at,
        row.info.created_at,
    )


def _execution_columns(whole: StoredExecution) -> tuple[object, ...]:
    row = whole.row
    info, closed = row.info, row.closed
    return (
        row.head.execution_id,
        info.workflow,
        info.hash,
        info.created_at,
        info.user,
        info.parent_id,
        info.correlation_id,
        _json(info.tags),
        row.finished_at,
        closed.outcome if closed is not None else None,
        closed.error_code if closed is not None else None,
        whole.input.decode() if whole.input is not None else None,
        row.resume_count,
    )


def _point_columns(row: PointRow) -> tuple[object, ...]:
    point = row.point
    return (
        row.execution_id,
        point.id,
        row.workflow,
        point.kind,
        row.status,
        point.opened_at,
        row.closed_at,
        msgspec.json.encode(point),
        msgspec.json.encode(row.schema) if row.schema is not None else None,
    )


def _snapshot_of(columns: Sequence[Any]) -> CopiedSnapshot:
    seq, body = columns
    return CopiedSnapshot(seq=seq, body=body)


def _token_of(columns: Sequence[Any]) -> Token:
    hash_, point = columns
    return Token(hash=hash_, point=point)


def _awaited_of(columns: Sequence[Any]) -> SignalKey:
    name, awaited, point = columns
    return SignalKey(name=name, key=awaited, point=point)


def _json(texts: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(texts).decode() if texts else None
