"""Reading a whole database, and writing it into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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
from layover.ports.records import Token, Wait
from layover.ports.view_records import PointFilter
from layover.stores.checks import at_most
from layover.stores.memory import api_keys, sessions
from layover.stores.memory.appends import name_of
from layover.stores.memory.outbox import outgoing
from layover.stores.memory.queries import get, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.delivery_records import DeliveryRow
    from layover.ports.moving import CopiedBatch
    from layover.ports.records import Message
    from layover.ports.trigger_records import InputRow, TriggerToken
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession

K = TypeVar("K", bytes, tuple[str, str, str])


class MemoryDatabaseCopy:
    """Everything in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def read_sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        return sizes(await self._session.turn(), after, most)

    async def read_executions(self, execution_ids: Sequence[str]) -> list[StoredExecution]:
        """Read executions with everything that belongs to them."""
        return read_executions(await self._session.turn(), execution_ids)

    async def read_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read all signals."""
        return kept_signals(await self._session.turn(), after, most)

    async def read_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        return used_rates(await self._session.turn(), after, most)

    async def read_trigger_inputs(self, after: tuple[str, str] | None, most: int) -> list[InputRow]:
        """Read inputs of triggers."""
        return trigger_inputs(await self._session.turn(), after, most)

    async def read_trigger_tokens(self, after: str, most: int) -> list[TriggerToken]:
        """Read the hashes of tokens."""
        tokens = (await self._session.turn()).trigger_tokens
        return [tokens[hash_] for hash_ in sorted(tokens) if hash_ > after][: at_most(most)]

    async def read_trigger_events(self, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
        """Read the logs of triggers."""
        return trigger_events(await self._session.turn(), after, most)

    async def read_deliveries(self, after: str, most: int) -> list[DeliveryRow]:
        """Read deliveries."""
        rows = (await self._session.turn()).deliveries
        return [rows[id_] for id_ in sorted(rows) if id_ > after][: at_most(most)]

    async def read_batch_items(self, after: tuple[str, int] | None, most: int) -> list[CopiedItem]:
        """Read items of batches."""
        items = (await self._session.turn()).batch_items
        names = sorted((batch_id, n) for batch_id, of_batch in items.items() for n in of_batch)
        found = [name for name in names if after is None or name > after][: at_most(most)]
        return [CopiedItem(batch_id=batch_id, item=items[batch_id][n]) for batch_id, n in found]

    async def read_other_messages(self, after: tuple[str, str, int] | None, most: int) -> list[Message]:
        """Read messages whose sender is no execution."""
        return other_messages(await self._session.turn(), after, most)

    async def write_batch(self, batch: CopiedBatch) -> None:
        """Write a batch of another database."""
        write_batch(await self._session.turn(), batch)


def sizes(db: MemoryDatabase, after: str, most: int) -> list[Size]:
    """Return the sizes of executions: those of their logs, which are most of it."""
    ids = sorted(id_ for id_ in db.heads if id_ > after)[: at_most(most)]
    return [Size(execution_id=id_, size=sum(len(entry.events) for entry in db.logs[id_])) for id_ in ids]


def read_executions(db: MemoryDatabase, execution_ids: Sequence[str]) -> list[StoredExecution]:
    """Read executions with everything that belongs to them."""
    return [_whole(db, id_) for id_ in sorted(set(execution_ids)) if id_ in db.heads]


def _whole(db: MemoryDatabase, id_: str) -> StoredExecution:
    row = get(db, id_)
    if row is None:
        raise AssertionError("it has a head")
    snapshot = db.snapshots.get(id_)
    return StoredExecution(
        row=row,
        entries=tuple(db.logs[id_]),
        snapshot=CopiedSnapshot(seq=snapshot[0], body=snapshot[1]) if snapshot is not None else None,
        points=tuple(points(db, PointFilter(execution_id=id_, limit=len(db.points)))),
        commands=tuple(db.commands[id_]),
        messages=tuple(outgoing(db, id_)),
        tokens=tuple(Token(hash=hash_, point=db.tokens[hash_].point) for hash_ in _of(db.tokens, id_)),
        waits=tuple(SignalKey(name=name, key=key, point=point) for name, key, point in _of(db.waits, id_)),
        links=tuple(row for _, row in sorted(db.links.items()) if row.execution_id == id_),
        place=db.places.get(id_),
        logs=tuple(chunk for _, chunk in sorted(db.node_logs.get(id_, {}).items())),
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


def trigger_inputs(db: MemoryDatabase, after: tuple[str, str] | None, most: int) -> list[InputRow]:
    """Read inputs of triggers."""
    names = sorted(name for name in db.trigger_inputs if after is None or name > after)[: at_most(most)]
    return [db.trigger_inputs[name] for name in names]


def trigger_events(db: MemoryDatabase, after: tuple[str, int] | None, most: int) -> list[CopiedEvent]:
    """Read the logs of triggers."""
    names = sorted((id_, seq) for id_, log in db.trigger_events.items() for seq in log)
    wanted = [name for name in names if after is None or name > after][: at_most(most)]
    return [CopiedEvent(trigger_id=id_, event=db.trigger_events[id_][seq]) for id_, seq in wanted]


def other_messages(db: MemoryDatabase, after: tuple[str, str, int] | None, most: int) -> list[Message]:
    """Read messages whose sender is no execution."""
    names = sorted((sender, destination, n) for sender, n, destination in db.outbox if sender not in db.heads)
    wanted = [name for name in names if after is None or name > after][: at_most(most)]
    return [db.outbox[sender, n, destination] for sender, destination, n in wanted]


def write_batch(db: MemoryDatabase, batch: CopiedBatch) -> None:
    """Write a batch of another database. A row that exists is an error, and nothing is written then."""
    _check(db, batch)
    db.versions += batch.versions
    for whole in batch.executions:
        _write_whole(db, whole)
    for kept in batch.signals:
        db.signals[kept.signal.id] = kept.signal
        if not kept.dispatched:
            db.undispatched.add(kept.signal.id)
    db.rates.update({rate.name: rate.used_until for rate in batch.rates})
    db.keys.update({key.id: key for key in batch.keys})
    db.sessions.update({row.id: row for row in batch.sessions})
    db.workflow_statuses.update({status.workflow: status for status in batch.workflow_statuses})
    db.audit.update({(entry.at, entry.id): entry for entry in batch.audit})
    db.seals.update({seal.n: seal for seal in batch.seals})
    db.seal_keys.update({key.id: key for key in batch.seal_keys})
    db.audit_documents.update({document.hash: document.body for document in batch.audit_documents})
    db.triggers.update({row.id: row for row in batch.triggers})
    db.trigger_inputs.update({(one.trigger_id, one.input_id): one for one in batch.trigger_inputs})
    db.trigger_tokens.update({token.hash: token for token in batch.trigger_tokens})
    db.destinations.update({row.name: row for row in batch.destinations})
    db.deliveries.update({row.id: row for row in batch.deliveries})
    db.batches.update({row.id: row for row in batch.batches})
    for row in batch.batches:
        db.batch_items.setdefault(row.id, {})
    for copied in batch.batch_items:
        db.batch_items.setdefault(copied.batch_id, {})[copied.item.n] = copied.item
    db.saved_views.update({(row.user, row.name): row for row in batch.views})
    db.definition_texts.update({(text.workflow, text.number): text for text in batch.definition_texts})
    db.user_settings.update({row.user: row for row in batch.user_settings})
    db.people.update({row.user: row for row in batch.people})
    db.outbox.update({name_of(message): message for message in batch.other_messages})
    for one in batch.trigger_events:
        db.trigger_events.setdefault(one.trigger_id, {})[one.event.seq] = one.event


def _check(db: MemoryDatabase, batch: CopiedBatch) -> None:
    versions = {(version.workflow, version.number) for version in db.versions}
    if (
        any(whole.id in db.heads for whole in batch.executions)
        or any((version.workflow, version.number) in versions for version in batch.versions)
        or any(kept.signal.id in db.signals for kept in batch.signals)
        or any(rate.name in db.rates for rate in batch.rates)
        or any(api_keys.is_there(db, key) for key in batch.keys)
        or any(sessions.is_there(db, row) for row in batch.sessions)
        or any(status.workflow in db.workflow_statuses for status in batch.workflow_statuses)
        or any((entry.at, entry.id) in db.audit for entry in batch.audit)
        or any(seal.n in db.seals for seal in batch.seals)
        or any(key.id in db.seal_keys for key in batch.seal_keys)
        or any(document.hash in db.audit_documents for document in batch.audit_documents)
        or any(row.id in db.triggers for row in batch.triggers)
        or any((one.trigger_id, one.input_id) in db.trigger_inputs for one in batch.trigger_inputs)
        or any(token.hash in db.trigger_tokens for token in batch.trigger_tokens)
        or any(row.name in db.destinations for row in batch.destinations)
        or any(row.id in db.deliveries for row in batch.deliveries)
        or any(row.id in db.batches for row in batch.batches)
        or any(one.item.n in db.batch_items.get(one.batch_id, {}) for one in batch.batch_items)
        or any(row.user in db.people for row in batch.people)
        or any((row.user, row.name) in db.saved_views for row in batch.views)
        or any((text.workflow, text.number) in db.definition_texts for text in batch.definition_texts)
        or any(row.user in db.user_settings for row in batch.user_settings)
        or any(name_of(message) in db.outbox for message in batch.other_messages)
        or any(one.event.seq in db.trigger_events.get(one.trigger_id, {}) for one in batch.trigger_events)
    ):
        raise StoreError("Some of it is there already.")
    known = {(version.workflow, version.hash) for version in (*db.versions, *batch.versions)}
    for whole in batch.executions:
        info = whole.row.info
        if (info.workflow, info.hash) not in known:
            text = f"There is no version {info.hash} of the workflow {info.workflow}."
            raise StoreError(text, code="unknown_version")


def _write_whole(db: MemoryDatabase, whole: StoredExecution) -> None:
    id_, row = whole.id, whole.row
    db.heads[id_], db.infos[id_] = row.head, row.info
    db.unindexed.add(id_)
    if row.finished_at is not None and row.closed is not None:
        db.ends[id_] = (row.finished_at, row.closed)
    if row.resume_count:
        db.resumes[id_] = row.resume_count
    db.logs[id_], db.commands[id_] = list(whole.entries), list(whole.commands)
    if whole.snapshot is not None:
        db.snapshots[id_] = (whole.snapshot.seq, whole.snapshot.body)
    db.points.update({point.point.id: point for point in whole.points})
    db.outbox.update({name_of(message): message for message in whole.messages})
    db.tokens.update({token.hash: Wait(execution_id=id_, point=token.point) for token in whole.tokens})
    for wait in whole.waits:
        db.waits[wait.name, wait.key, wait.point] = Wait(execution_id=id_, point=wait.point)
    db.links.update({link.hash: link for link in whole.links})
    if whole.input is not None:
        db.inputs[id_] = whole.input
    if whole.place is not None:
        db.places[id_] = whole.place
    if whole.logs:
        db.node_logs[id_] = {chunk.id: chunk for chunk in whole.logs}


def _of(rows: dict[K, Wait], execution_id: str) -> list[K]:
    """Return the keys of the rows of an execution, in order."""
    return sorted(name for name, wait in rows.items() if wait.execution_id == execution_id)
