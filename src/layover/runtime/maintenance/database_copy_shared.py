"""The records that belong to no execution, as they are copied: each kind page by page, in its own order.

An interrupted copy holds a prefix of each kind, so the name of its last record says where to resume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from layover.ports.access import AuditFilter
from layover.ports.batch_records import BatchFilter
from layover.ports.moving import CopiedBatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from layover.ports.access import ViewRow, WorkflowStatus
    from layover.ports.batch_records import BatchRow
    from layover.ports.moving import CopiedEvent, CopiedItem
    from layover.ports.records import AuditRow, DefinitionText, Message
    from layover.ports.seal_records import SealKey
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputRow, TriggerRow


class Shared(NamedTuple):
    """One kind: how to read a page after a name, their names, the page size, and the message of a difference."""

    read: Callable[[Store, str, int], Awaitable[list[Any]]]
    name: Callable[[Any], str]
    batch: Callable[[tuple[Any, ...]], CopiedBatch]
    most: int
    what: str

    async def pages(self, store: Store, after: str = "") -> AsyncIterator[list[Any]]:
        """Yield the pages of records after a name."""
        while page := await self.read(store, after, self.most):
            yield page
            after = self.name(page[-1])

    async def each(self, store: Store) -> AsyncIterator[Any]:
        """Yield all records."""
        async for page in self.pages(store):
            for one in page:
                yield one


async def _workflow_statuses(store: Store, after: str, most: int) -> list[WorkflowStatus]:
    return [status for status in await store.workflow_status.list_statuses() if status.workflow > after][:most]


async def _audit(store: Store, after: str, most: int) -> list[AuditRow]:
    at, _, id_ = after.partition(" ")
    return await store.audit.list_entries(AuditFilter(after=(int(at), id_) if after else None, limit=most))


async def _seal_keys(store: Store, after: str, most: int) -> list[SealKey]:
    return [key for key in await store.seals.list_keys() if key.first_seal > int(after or 0)][:most]


async def _triggers(store: Store, after: str, most: int) -> list[TriggerRow]:
    workflow, _, name = after.partition("/")
    return await store.triggers.list_triggers(None, (workflow, name), most)


async def _trigger_inputs(store: Store, after: str, most: int) -> list[InputRow]:
    trigger_id, _, input_id = after.partition(" ")
    return await store.database_copy.read_trigger_inputs((trigger_id, input_id) if after else None, most)


async def _trigger_events(store: Store, after: str, most: int) -> list[CopiedEvent]:
    trigger_id, _, seq = after.partition(" ")
    return await store.database_copy.read_trigger_events((trigger_id, int(seq)) if after else None, most)


_VIEW_KEY: Final = msgspec.json.Decoder(tuple[str, str])


async def _views(store: Store, after: str, most: int) -> list[ViewRow]:
    return await store.views.read_views(_VIEW_KEY.decode(after) if after else ("", ""), most)


async def _definition_texts(store: Store, after: str, most: int) -> list[DefinitionText]:
    workflow, _, number = after.rpartition(" ")
    return await store.definitions.read_texts((workflow, int(number or 0)), most)


async def _batches(store: Store, after: str, most: int) -> list[BatchRow]:
    at, _, id_ = after.partition(" ")
    return await store.batches.list_batches(BatchFilter(after=(int(at), id_) if after else None, limit=most))


async def _batch_items(store: Store, after: str, most: int) -> list[CopiedItem]:
    batch_id, _, n = after.partition(" ")
    return await store.database_copy.read_batch_items((batch_id, int(n)) if after else None, most)


async def _other_messages(store: Store, after: str, most: int) -> list[Message]:
    sender, _, rest = after.partition(" ")
    n, _, destination = rest.partition(" ")
    return await store.database_copy.read_other_messages((sender, destination, int(n)) if after else None, most)


# By their names in a tally; large records, such as signals with data, have small pages.
SHARED = {
    "signals": Shared(
        lambda store, after, most: store.database_copy.read_signals(after, most),
        lambda kept: str(kept.signal.id),
        lambda page: CopiedBatch(signals=page),
        50,
        "The signals differ.",
    ),
    "rates": Shared(
        lambda store, after, most: store.database_copy.read_rates(after, most),
        lambda rate: str(rate.name),
        lambda page: CopiedBatch(rates=page),
        1_000,
        "The used rates differ.",
    ),
    "keys": Shared(
        lambda store, after, most: store.api_keys.list_keys(after, most),
        lambda key: str(key.id),
        lambda page: CopiedBatch(keys=page),
        500,
        "The API keys differ.",
    ),
    "sessions": Shared(
        lambda store, after, most: store.sessions.list_sessions("session", after, most),
        lambda row: str(row.id),
        lambda page: CopiedBatch(sessions=page),
        500,
        "The sessions differ.",
    ),
    "workflow_statuses": Shared(
        _workflow_statuses,
        lambda status: str(status.workflow),
        lambda page: CopiedBatch(workflow_statuses=page),
        500,
        "The statuses of workflows differ.",
    ),
    "triggers": Shared(
        _triggers,
        lambda row: f"{row.workflow}/{row.name}",
        lambda page: CopiedBatch(triggers=page),
        100,
        "The triggers differ.",
    ),
    "trigger_inputs": Shared(
        _trigger_inputs,
        lambda one: f"{one.trigger_id} {one.input_id}",
        lambda page: CopiedBatch(trigger_inputs=page),
        500,
        "The inputs of triggers differ.",
    ),
    "trigger_tokens": Shared(
        lambda store, after, most: store.database_copy.read_trigger_tokens(after, most),
        lambda token: str(token.hash),
        lambda page: CopiedBatch(trigger_tokens=page),
        500,
        "The tokens of webhooks differ.",
    ),
    "trigger_events": Shared(
        _trigger_events,
        lambda one: f"{one.trigger_id} {one.event.seq}",
        lambda page: CopiedBatch(trigger_events=page),
        50,
        "The logs of triggers differ.",
    ),
    "destinations": Shared(
        lambda store, after, most: store.deliveries.list_destinations(after, most),
        lambda row: str(row.name),
        lambda page: CopiedBatch(destinations=page),
        100,
        "The destinations differ.",
    ),
    "deliveries": Shared(
        lambda store, after, most: store.database_copy.read_deliveries(after, most),
        lambda row: str(row.id),
        lambda page: CopiedBatch(deliveries=page),
        50,
        "The deliveries differ.",
    ),
    "people": Shared(
        lambda store, after, most: store.people.list_people(after, most),
        lambda row: str(row.user),
        lambda page: CopiedBatch(people=page),
        500,
        "The people differ.",
    ),
    "views": Shared(
        _views,
        lambda row: msgspec.json.encode((row.user, row.name)).decode(),
        lambda page: CopiedBatch(views=page),
        500,
        "The saved views differ.",
    ),
    "definition_texts": Shared(
        _definition_texts,
        lambda text: f"{text.workflow} {text.number}",
        lambda page: CopiedBatch(definition_texts=page),
        20,
        "The texts of definitions differ.",
    ),
    "user_settings": Shared(
        lambda store, after, most: store.user_settings.read_settings(after, most),
        lambda row: str(row.user),
        lambda page: CopiedBatch(user_settings=page),
        500,
        "The settings of users differ.",
    ),
    "batches": Shared(
        _batches,
        lambda row: f"{row.created_at} {row.id}",
        lambda page: CopiedBatch(batches=page),
        50,
        "The batches differ.",
    ),
    "batch_items": Shared(
        _batch_items,
        lambda one: f"{one.batch_id} {one.item.n}",
        lambda page: CopiedBatch(batch_items=page),
        500,
        "The items of batches differ.",
    ),
    "other_messages": Shared(
        _other_messages,
        lambda message: f"{message.sender} {message.n} {message.destination}",
        lambda page: CopiedBatch(other_messages=page),
        50,
        "The messages of triggers, destinations and deliveries differ.",
    ),
    "audit": Shared(
        _audit,
        lambda entry: f"{entry.at} {entry.id}",
        lambda page: CopiedBatch(audit=page),
        500,
        "The audit entries differ.",
    ),
    "seals": Shared(
        lambda store, after, most: store.seals.list_seals(int(after or 0), most),
        lambda seal: str(seal.n),
        lambda page: CopiedBatch(seals=page),
        20,
        "The audit seals differ.",
    ),
    "seal_keys": Shared(
        _seal_keys,
        lambda key: str(key.first_seal),
        lambda page: CopiedBatch(seal_keys=page),
        100,
        "The keys of audit seals differ.",
    ),
    "audit_documents": Shared(
        lambda store, after, most: store.seals.list_documents(bytes.fromhex(after), most),
        lambda document: str(document.hash.hex()),
        lambda page: CopiedBatch(audit_documents=page),
        50,
        "The documents of audit entries differ.",
    ),
}
