"""Reading a whole database, and writing it into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.ports.errors import StoreError
from layover.ports.moving import AwaitedSignal, KeptSignal, Size, Snapshot, UsedRate, Whole
from layover.ports.records import PointFilter, Token, Wait
from layover.stores.checks import at_most
from layover.stores.memory import api_keys
from layover.stores.memory.appends import name_of
from layover.stores.memory.outbox import outgoing
from layover.stores.memory.queries import get, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.moving import Batch
    from layover.stores.memory.database import MemoryDatabase

K = TypeVar("K", bytes, tuple[str, str, str])


def sizes(db: MemoryDatabase, after: str, most: int) -> list[Size]:
    """Return the sizes of executions: those of their logs, which are most of it."""
    ids = sorted(id_ for id_ in db.heads if id_ > after)[: at_most(most)]
    return [Size(execution_id=id_, size=sum(len(entry.events) for entry in db.logs[id_])) for id_ in ids]


def read_executions(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[Whole]:
    """Read executions with everything that belongs to them."""
    return [_whole(db, id_) for id_ in sorted(set(execution_ids)) if id_ in db.heads]


def _whole(db: MemoryDatabase, id_: str) -> Whole:
    row = get(db, id_)
    if row is None:
        raise AssertionError("it has a head")
    snapshot = db.snapshots.get(id_)
    return Whole(
        row=row,
        entries=tuple(db.logs[id_]),
        snapshot=Snapshot(seq=snapshot[0], body=snapshot[1]) if snapshot is not None else None,
        points=tuple(points(db, PointFilter(execution_id=id_, limit=len(db.points)))),
        commands=tuple(db.commands[id_]),
        messages=tuple(outgoing(db, id_)),
        tokens=tuple(Token(hash=hash_, point=db.tokens[hash_].point) for hash_ in _of(db.tokens, id_)),
        waits=tuple(AwaitedSignal(name=name, key=key, point=point) for name, key, point in _of(db.waits, id_)),
        place=db.places.get(id_),
        input=db.inputs.get(id_),
    )


def kept_signals(db: MemoryDatabase, after: str, most: int) -> list[KeptSignal]:
    """Read signals."""
    ids = sorted(id_ for id_ in db.signals if id_ > after)[: at_most(most)]
    return [KeptSignal(signal=db.signals[id_], dispatched=id_ not in db.undispatched) for id_ in ids]


def used_rates(db: MemoryDatabase, after: str, most: int) -> list[UsedRate]:
    """Read until when rates are used."""
    names = sorted(name for name in db.rates if name > after)[: at_most(most)]
    return [UsedRate(name=name, used_until=db.rates[name]) for name in names]


def write_batch(db: MemoryDatabase, batch: Batch) -> None:
    """Write a batch of another database. A row that exists is an error, and nothing is written then."""
    _check(db, batch)
    db.versions += batch.versions
    for whole in batch.wholes:
        _write_whole(db, whole)
    for kept in batch.signals:
        db.signals[kept.signal.id] = kept.signal
        if not kept.dispatched:
            db.undispatched.add(kept.signal.id)
    db.rates.update({rate.name: rate.used_until for rate in batch.rates})
    db.keys.update({key.id: key for key in batch.keys})
    db.standings.update({standing.workflow: standing for standing in batch.standings})
    db.audit.update({(entry.at, entry.id): entry for entry in batch.audit})


def _check(db: MemoryDatabase, batch: Batch) -> None:
    versions = {(version.workflow, version.number) for version in db.versions}
    if (
        any(whole.id in db.heads for whole in batch.wholes)
        or any((version.workflow, version.number) in versions for version in batch.versions)
        or any(kept.signal.id in db.signals for kept in batch.signals)
        or any(rate.name in db.rates for rate in batch.rates)
        or any(api_keys.is_there(db, key) for key in batch.keys)
        or any(standing.workflow in db.standings for standing in batch.standings)
        or any((entry.at, entry.id) in db.audit for entry in batch.audit)
    ):
        raise StoreError("Some of it is there already.")
    known = {(version.workflow, version.hash) for version in (*db.versions, *batch.versions)}
    for whole in batch.wholes:
        info = whole.row.info
        if (info.workflow, info.hash) not in known:
            text = f"There is no version {info.hash} of the workflow {info.workflow}."
            raise StoreError(text, code="unknown_version")


def _write_whole(db: MemoryDatabase, whole: Whole) -> None:
    id_, row = whole.id, whole.row
    db.heads[id_], db.infos[id_] = row.head, row.info
    if row.finished_at is not None and row.closed is not None:
        db.ends[id_] = (row.finished_at, row.closed)
    db.logs[id_], db.commands[id_] = list(whole.entries), list(whole.commands)
    if whole.snapshot is not None:
        db.snapshots[id_] = (whole.snapshot.seq, whole.snapshot.body)
    db.points.update({point.point.id: point for point in whole.points})
    db.outbox.update({name_of(message): message for message in whole.messages})
    db.tokens.update({token.hash: Wait(execution_id=id_, point=token.point) for token in whole.tokens})
    for wait in whole.waits:
        db.waits[wait.name, wait.key, wait.point] = Wait(execution_id=id_, point=wait.point)
    if whole.input is not None:
        db.inputs[id_] = whole.input
    if whole.place is not None:
        db.places[id_] = whole.place


def _of(rows: dict[K, Wait], execution_id: str) -> list[K]:
    """Return the keys of the rows of an execution, in order."""
    return sorted(name for name, wait in rows.items() if wait.execution_id == execution_id)
