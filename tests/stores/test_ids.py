"""The id of an execution is a UUID in its usual form; anything else is refused by name, wherever it comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError
from layover.ports.records import Claim, Enqueue, LeaseRow
from layover.ports.view_records import ExecutionFilter, PointFilter
from tests.stores.conformance import ME, NEW, create, creation, step, truth, uid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.store import Store

MALFORMED = [
    "",
    "order-1",
    uid(1)[:-1],
    uid(1) + "0",
    uid(0xABC).upper(),
    uid(1).replace("-", ""),
    uid(1).replace("-", " "),
    f" {uid(1)}",
    f"{{{uid(1)}}}",
    "g" + uid(1)[1:],
    "\u0660" + uid(1)[1:],
    "ab----",
    uid(1) + "00" * 8,
    "../" + uid(1)[3:],
]

CALLS: dict[str, Callable[[Store, str], Awaitable[object]]] = {
    "append": lambda store, id_: store.appends.commit([step(1), replace(step(2), execution_id=id_)]),
    "creation": lambda store, id_: store.appends.commit([step(1), replace(creation(2), execution_id=id_)]),
    "parent": lambda store, id_: store.appends.commit([step(1), creation(2, new=replace(NEW, parent_id=id_))]),
    "claim": lambda store, id_: store.claims.claim(Claim(instance=ME, now=1, lease_until=2, execution_id=id_)),
    "renew": lambda store, id_: store.claims.renew(
        ME, [LeaseRow(execution_id=uid(1), epoch=1), LeaseRow(execution_id=id_, epoch=1)], 1
    ),
    "release": lambda store, id_: store.claims.release(
        ME, [LeaseRow(execution_id=uid(1), epoch=1), LeaseRow(execution_id=id_, epoch=1)], 1
    ),
    "load": lambda store, id_: store.queries.load([uid(1), id_]),
    "commands": lambda store, id_: store.commands.list_after(id_, 0),
    "is_taken": lambda store, id_: store.commands.is_enqueued(id_, "s"),
    "heads": lambda store, id_: store.queries.read_heads([uid(1), id_]),
    "unread": lambda store, id_: store.commands.find_unread([(uid(1), 0), (id_, 0)]),
    "enqueue": lambda store, id_: store.commands.enqueue(
        [Enqueue(execution_id=one, kind="Pause", body=b"{}", source="s") for one in (uid(1), id_)], 1
    ),
    "get": lambda store, id_: store.queries.find_execution(id_),
    "page of a parent": lambda store, id_: store.queries.list_executions(ExecutionFilter(parent_id=id_)),
    "page after a cursor": lambda store, id_: store.queries.list_executions(ExecutionFilter(after=(1, id_))),
    "history": lambda store, id_: store.queries.read_history(id_, 0, 1),
    "points": lambda store, id_: store.queries.list_points(PointFilter(execution_id=id_)),
}


@pytest.mark.parametrize("call", CALLS)
async def test_a_malformed_id_is_refused_and_nothing_is_written(store: Store, call: str) -> None:
    await create(store)
    before = await truth(store)
    for id_ in MALFORMED:
        with pytest.raises(StoreError, match="has to be a UUID") as refused:
            await CALLS[call](store, id_)
        assert refused.value.code == "malformed_id"
    assert await truth(store) == before
