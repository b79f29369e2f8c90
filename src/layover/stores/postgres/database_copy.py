"""Reading a whole database, and writing it into another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import astuple

from layover.ports.moving import AwaitedSignal, KeptSignal, Size, Snapshot, UsedRate, Whole
from layover.ports.records import Token
from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.postgres import api_keys, weekly_partitions
from layover.stores.postgres.limits import save_places
from layover.stores.postgres.queries import commands_of_executions
from layover.stores.postgres.rows import entry_of, execution_of, message_of, place_of_row, point_of, signal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from layover.ports.moving import Batch
    from layover.ports.records import ExecutionRow, PointRow
    from layover.stores.postgres.database import Database, StatementRunner, Transaction

T = TypeVar("T")

_ID_BYTES = 16


async def sizes(db: StatementRunner, after: str, most: int) -> list[Size]:
    """Return the sizes of executions."""
    first = int.from_bytes(key(after)) + 1 if after else 0
    if first.bit_length() > 8 * _ID_BYTES:
        return []
    rows = await db.fetch("execution_sizes", text(first.to_bytes(_ID_BYTES)), at_most(most))
    return [Size(execution_id=id_, size=int(size)) for id_, size in rows]


async def read_executions(db: Database, execution_ids: Sequence[str]) -> list[Whole]:
    """Read executions with everything that belongs to them."""
    check_ids(execution_ids)
    return await db.transact(lambda tx: _read_executions(tx, sorted(set(execution_ids))))


async def _read_executions(tx: Transaction, ids: list[str]) -> list[Whole]:
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
    places = {place.execution_id: place for place in map(place_of_row, await tx.fetch("places_of_executions", ids))}
    inputs = {row[0]: row[1].encode() for row in await tx.fetch("inputs_of_executions", ids)}
    return [
        Whole(
            row=row,
            entries=tuple(entries[id_]),
            snapshot=snapshots[id_][0] if id_ in snapshots else None,
            points=tuple(points[id_]),
            commands=tuple(commands.get(id_, ())),
            messages=tuple(messages[id_]),
            tokens=tuple(tokens[id_]),
            waits=tuple(waits[id_]),
            place=places.get(id_),
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


async def kept_signals(db: StatementRunner, after: str, most: int) -> list[KeptSignal]:
    """Read signals."""
    rows = await db.fetch("signals_after", after, at_most(most))
    return [KeptSignal(signal=signal_of(row[:-1]), dispatched=row[-1]) for row in rows]


async def used_rates(db: StatementRunner, after: str, most: int) -> list[UsedRate]:
    """Read until when rates are used."""
    rows = await db.fetch("rates_after", after, at_most(most))
    return [UsedRate(name=name, used_until=used_until) for name, used_until in rows]


async def write_batch(db: Database, batch: Batch) -> None:
    """Write a batch of another database. A row that exists is an error, and nothing is written then."""
    await _prepare_weeks(db, batch)
    await db.transact(lambda tx: _write_batch(tx, batch))


async def _prepare_weeks(db: Database, batch: Batch) -> None:
    """Create the partitions that the logs of a batch belong in."""
    weeks = sorted({weekly_partitions.week_of(whole.row.info.created_at) for whole in batch.wholes})
    for (era,) in await db.fetch("weeks_without_partition", weeks) if weeks else ():
        await weekly_partitions.prepare(db, era * weekly_partitions.WEEK)


async def _write_batch(tx: Transaction, batch: Batch) -> None:
    wholes = batch.wholes
    await _insert(tx, "insert_versions", (astuple(version) for version in batch.versions))
    await _insert(tx, "insert_heads", (_head_columns(whole.row) for whole in wholes))
    await _insert(tx, "insert_executions", (_execution_columns(whole) for whole in wholes))
    entries = (
        (whole.id, weekly_partitions.week_of(whole.row.info.created_at), entry.seq, entry.at, entry.count, entry.events)
        for whole in wholes
        for entry in whole.entries
    )
    await _insert(tx, "insert_entries", entries)
    snapshots = ((whole.id, *astuple(whole.snapshot)) for whole in wholes if whole.snapshot is not None)
    await _insert(tx, "insert_snapshots", snapshots)
    await _insert(tx, "insert_points", (_point_columns(row) for whole in wholes for row in whole.points))
    await _insert(tx, "insert_commands", ((whole.id, *astuple(one)) for whole in wholes for one in whole.commands))
    await _insert(tx, "insert_messages", (astuple(message) for whole in wholes for message in whole.messages))
    await _insert(tx, "insert_tokens", ((whole.id, *astuple(token)) for whole in wholes for token in whole.tokens))
    await _insert(tx, "insert_waits", ((whole.id, *astuple(wait)) for whole in wholes for wait in whole.waits))
    await save_places(tx, [whole.place for whole in wholes if whole.place is not None])
    await _insert(tx, "insert_signals", ((*astuple(kept.signal), kept.dispatched) for kept in batch.signals))
    await _insert(tx, "insert_rates", (astuple(rate) for rate in batch.rates))
    await _insert(tx, "insert_api_keys", map(api_keys.columns, batch.keys))
    await _insert(tx, "insert_workflow_statuses", map(astuple, batch.standings))
    await _insert(tx, "insert_audit_entries", map(astuple, batch.audit))


async def _insert(tx: Transaction, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    if columns:
        await tx.fetch(statement, *columns)


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


def _execution_columns(whole: Whole) -> tuple[object, ...]:
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


def _snapshot_of(columns: Sequence[Any]) -> Snapshot:
    seq, body = columns
    return Snapshot(seq=seq, body=body)


def _token_of(columns: Sequence[Any]) -> Token:
    hash_, point = columns
    return Token(hash=hash_, point=point)


def _awaited_of(columns: Sequence[Any]) -> AwaitedSignal:
    name, awaited, point = columns
    return AwaitedSignal(name=name, key=awaited, point=point)


def _json(texts: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(texts).decode() if texts else None
