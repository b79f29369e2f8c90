"""Batches as callers get them, built from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec.structs import replace

from layover.core.moments import Moment, moment
from layover.errors import LayoverError
from layover.model.batches import BatchCanary, BatchInfo, BatchItem
from layover.runtime.batches.batch_acts import body_of_batch

if TYPE_CHECKING:
    from layover.model.batches import BatchAct, BatchBody, BatchStatus
    from layover.ports.batch_records import BatchItemRow, BatchRow, BatchState

_STATUSES: Final[dict[BatchState, BatchStatus]] = {"collecting": "pending"}


def batch_of(row: BatchRow, now: int) -> BatchInfo:
    """Return a batch, with what it waits for; of one that this release cannot read, as much as it can."""
    shown = BatchInfo(
        id=row.id,
        act=cast("BatchAct", row.act),
        status=status_of(row.state),
        code=row.code or None,
        reason=row.reason,
        user=row.user or None,
        created_at=Moment.of(row.created_at),
        ended_at=Moment.maybe(row.ended_at),
        total=row.total,
        done=row.done,
        failed=row.failed + row.skipped,
        skipped=row.skipped,
        pending=row.total - row.done - row.skipped - row.failed,
    )
    try:
        body = body_of_batch(row)
    except LayoverError as error:
        return replace(shown, reason=row.reason or error.message)
    return replace(
        shown,
        reason=row.reason or _waits_for(row, body, now),
        where=where_of(body),
        options=options_of(body),
        rate=body.rate,
        canary=canary_of(row, body),
    )


def status_of(state: BatchState) -> BatchStatus:
    """Return the status of a batch in a state of the store."""
    return _STATUSES.get(state) or cast("BatchStatus", state)


def where_of(body: BatchBody) -> dict[str, Any]:
    """Return which items a batch is for: what was given of it."""
    given = _as_json(body.where)
    return {name: value for name, value in given.items() if value not in (None, [], {})}


def options_of(body: BatchBody) -> dict[str, Any]:
    """Return the options of the act: those that were given."""
    given = _as_json(body.options)
    return {name: value for name, value in given.items() if value is not None and (name != "map" or value)}


def canary_of(row: BatchRow, body: BatchBody) -> BatchCanary | None:
    """Return the canary of a batch, if it has one."""
    if body.canary is None:
        return None
    count = -(-row.total * row.share // 1_000_000) if row.state != "collecting" else None
    return BatchCanary(
        share=row.share / 1_000_000,
        watch=body.canary.watch,
        count=count,
        watched_until=Moment.maybe(row.watch_until),
    )


def item_of(row: BatchItemRow, act: str) -> BatchItem:
    """Return an item of a batch."""
    is_input = act == "replay"
    return BatchItem(
        n=row.n,
        target=row.target,
        status="failed" if row.state == "skipped" else row.state,
        skipped=row.state == "skipped",
        code=row.code or None,
        reason=row.reason,
        execution_id=None if is_input else row.parent or None,
        trigger_id=row.parent if is_input else None,
        at=Moment.maybe(row.at),
    )


def _as_json(given: msgspec.Struct) -> dict[str, Any]:
    """Return a body as it is written in JSON: the same embedded and over HTTP."""
    return msgspec.json.decode(msgspec.json.encode(given), type=dict[str, Any])


def _waits_for(row: BatchRow, body: BatchBody, now: int) -> str:
    match row.state:
        case "collecting":
            return "Its items are being collected."
        case "watching":
            until = cast("int", row.watch_until)
            return f"The canary of {row.done + row.failed:,} is watched until {moment(until)}."
        case "running" if row.interval and row.due_at > now:
            return f"Its rate of {body.rate} allows the next item at {moment(row.due_at)}."
        case _:
            return ""
