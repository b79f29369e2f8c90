"""Chooses the items of a batch, page by page: each page goes on behind the last item of the one before.

Lists are ordered by a moment that does not change, and by id. So an item is on one page only, and one that appears
later than its batch is on none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from layover.core.definitions.durations import parse_duration
from layover.core.moments import Moment
from layover.errors import InvalidInput
from layover.interface.durations import milliseconds_of
from layover.ports.batch_records import BatchItemRow
from layover.ports.delivery_records import DeliveryFilter
from layover.ports.trigger_records import InputFilter
from layover.ports.view_records import ExecutionFilter, PointFilter
from layover.runtime.ids import checked_id
from layover.runtime.results.points import context_of, point_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.batches import BatchBody, WhichItems
    from layover.ports.records import PointRow
    from layover.ports.store import Store
    from layover.runtime.queries.lists import ExecutionLists

AT_ONCE: Final = 500  # items of one page
_LAST_ID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_OPEN: Final = ("pending", "running", "pausing", "waiting", "paused")
_CLOSED: Final = ("completed", "failed", "cancelled")

# What `ids` are, of acts that are not for executions.
_NAMED: Final = {"answer": "the id of a pause point", "redeliver": "a delivery id"}

# What an act can change, if the caller does not say which status.
_STATUSES: Final[dict[str, tuple[str, ...]]] = {
    "pause": _OPEN,
    "resume": ("paused",),
    "cancel": _OPEN,
    "retry": ("failed",),
    "move": _OPEN,
    "rewind": (*_OPEN, *_CLOSED),
    "purge": _CLOSED,
}


class ItemPage(NamedTuple):
    """Some items, without numbers, and where to go on; nowhere, if there are no more."""

    items: Sequence[BatchItemRow]
    cursor: str | None = None


class ItemCollector:
    """Finds the items of batches."""

    def __init__(self, store: Store, lists: ExecutionLists) -> None:
        self._store = store
        self._lists = lists

    async def page(self, body: BatchBody, created_at: int, cursor: str, limit: int = AT_ONCE) -> ItemPage:
        """Return the items behind a cursor, of those that were there when a batch was created."""
        if body.where.ids and body.act != "replay":
            return await self._named(body)
        match body.act:
            case "answer":
                return await self._points(body, created_at, cursor, limit)
            case "redeliver":
                return await self._deliveries(body.where, created_at, cursor, limit)
            case "replay":
                return await self._inputs(body.where, created_at, cursor, limit)
            case _:
                return await self._executions(body, created_at, cursor, limit)

    async def _named(self, body: BatchBody) -> ItemPage:
        """Return items that are named by their ids, each once; whether they exist, the act finds out."""
        what = _NAMED.get(body.act, "an execution id")
        ids = dict.fromkeys(checked_id(one, what) for one in body.where.ids)
        if body.act != "answer":
            of = "" if body.act == "redeliver" else None
            return ItemPage([_item(one, parent=of) for one in ids])
        found = [(one, await self._store.queries.find_point(one)) for one in ids]
        return ItemPage([_item(one, parent="") if row is None else _point_item(row) for one, row in found])

    async def _executions(self, body: BatchBody, created_at: int, cursor: str, limit: int) -> ItemPage:
        where = body.where
        wanted = ExecutionFilter(
            workflow=where.workflow,
            status=where.status or _STATUSES[body.act],
            tag=where.tag,
            parent_id=where.parent_id,
            correlation_id=where.correlation_id,
            error_code=where.error_code,
            since=_moment("since", where.since, created_at),
            until=_moment("until", where.until, created_at),
            min_duration=_length("min_duration", where.min_duration),
            max_duration=_length("max_duration", where.max_duration),
            min_resumes=where.min_resumes,
            resumed=where.resumed,
            user=where.user,
            on=where.on,
            q=where.q,
            after=_parsed(cursor) if cursor else (created_at, _LAST_ID),
            limit=limit,
        )
        found = await self._lists.find(wanted, where.contains, where.where, where.node_type)
        following = _written(*found.after) if found.after is not None else None
        return ItemPage([_item(row.head.execution_id) for row in found.rows], following)

    async def _points(self, body: BatchBody, created_at: int, cursor: str, limit: int) -> ItemPage:
        where = body.where
        wanted = PointFilter(
            execution_id=checked_id(where.execution_id) if where.execution_id is not None else None,
            workflow=where.workflow,
            kind="form" if body.options.approved is None else "approval",
            status=("open",),
            after=_parsed(cursor) if cursor else None,
            limit=limit,
        )
        rows = await self._store.queries.list_points(wanted)
        early = [row for row in rows if row.point.opened_at <= created_at]  # the oldest are first
        last = early[-1].point if len(early) == limit else None
        items = [_point_item(row) for row in early if where.node is None or _is_at(row, where.node)]
        return ItemPage(items, _written(last.opened_at, last.id) if last is not None else None)

    async def _deliveries(self, where: WhichItems, created_at: int, cursor: str, limit: int) -> ItemPage:
        wanted = DeliveryFilter(
            state=where.state or "dead",
            destination=where.destination,
            execution_id=checked_id(where.execution_id) if where.execution_id is not None else None,
            after=_parsed(cursor) if cursor else (created_at, _LAST_ID),
            limit=limit,
        )
        rows = await self._store.deliveries.list_deliveries(wanted)
        last = rows[-1] if len(rows) == limit else None
        items = [_item(row.id, parent=row.execution_id or "") for row in rows]
        return ItemPage(items, _written(last.created_at, last.id) if last is not None else None)

    async def _inputs(self, where: WhichItems, created_at: int, cursor: str, limit: int) -> ItemPage:
        trigger_id = checked_id(where.trigger_id, "a trigger id")
        if where.ids:
            return ItemPage([_item(one, parent=trigger_id) for one in dict.fromkeys(where.ids)])
        after = _parsed(cursor) if cursor else (created_at + 1, "")
        wanted = InputFilter(trigger_id=trigger_id, state="rejected", after=after, limit=limit)
        rows = await self._store.triggers.list_inputs(wanted)
        last = rows[-1] if len(rows) == limit else None
        items = [_item(row.input_id, parent=trigger_id) for row in rows]
        return ItemPage(items, _written(last.received_at, last.input_id) if last is not None else None)


def _moment(name: str, text: str | None, created_at: int) -> int | None:
    """Return a moment: itself, or so long before the batch was created, whenever its items are collected."""
    if text is None:
        return None
    try:
        return created_at - parse_duration(text)
    except ValueError:
        pass
    try:
        return Moment.read(text).milliseconds
    except ValueError as error:
        fault = "it is neither a moment such as 2026-11-20T08:00:00Z nor a length of time such as 2d"
        raise InvalidInput(f"`where.{name}`: {fault}.", ((f"where.{name}", fault),), code="invalid_body") from error


def _length(name: str, text: str | None) -> int | None:
    return None if text is None else milliseconds_of(f"where.{name}", text)


def pin_of(row: PointRow) -> str:
    """Return the view of a pause point: the hash of what it shows to those who answer it."""
    return point_of(row).view or ""


def _item(target: str, *, parent: str | None = None) -> BatchItemRow:
    return BatchItemRow(n=0, target=target, parent=target if parent is None else parent)


def _point_item(row: PointRow) -> BatchItemRow:
    return BatchItemRow(n=0, target=row.point.id, parent=row.execution_id, pin=pin_of(row))


def _is_at(row: PointRow, node: str) -> bool:
    """Return whether a point belongs to a node, named by its id or by its full context id."""
    return node in (context_of(row.point), row.point.node, row.point.node.partition(":")[0])


def _written(at: int, id_: str) -> str:
    return msgspec.json.encode([at, id_]).decode()


def _parsed(cursor: str) -> tuple[int, str]:
    return msgspec.json.decode(cursor, type=tuple[int, str])
