"""Pause points that a user has a part in: those of what they asked for, and those that they have decided.

What waits for answers and was asked for by a user is sought among what waits, the oldest first, as an inbox is. What a
user has decided is found by their audit entries, the newest first: it costs the same however many others have decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.model.shared import Page
from layover.ports.access import AuditFilter
from layover.service.actor import READ
from layover.service.cursors import cursor_of, parsed
from layover.service.pages import MOST, fitting
from layover.service.points import sifted
from layover.service.proofs import DECIDING

if TYPE_CHECKING:
    from layover.model.points import PausePoint
    from layover.ports.records import AuditRow, PointRow
    from layover.ports.view_records import PointFilter
    from layover.service.actor import Actor
    from layover.service.points import PointService

_ENTRIES: Final = 100
_MOST_PAGES: Final = 10


async def asked_for(points: PointService, wanted: PointFilter, limit: int, cursor: str | None) -> Page[PausePoint]:
    """Return a page of the points for people in what the user who acts started, the oldest first."""
    actor = points.actor
    actor.require(*READ)
    user = actor.caller.user
    wanted = replace(wanted, after=parsed(cursor) if cursor is not None else None)
    rows, following = await sifted(
        points.of_people, wanted, min(limit, MOST), lambda row: bool(user) and row.point.requester == user
    )
    return await points.page(rows, following)


async def decided(points: PointService, wanted: PointFilter, limit: int, cursor: str | None) -> Page[PausePoint]:
    """Return a page of the points that the user who acts has answered or decided at, the last one first."""
    actor = points.actor
    actor.require(*READ)
    after = parsed(cursor) if cursor is not None else None
    most = min(limit, MOST)
    told: list[PausePoint] = []
    places: list[tuple[int, str]] = []
    known: set[str] = set()
    for _ in range(_MOST_PAGES):
        entries = await _entries(actor, after)
        for entry in entries:
            after = (entry.at, entry.id)
            if entry.act not in DECIDING or entry.target in known:
                continue
            known.add(entry.target)
            row = await actor.runtime.instance.store.queries.find_point(entry.target)
            if row is None or not _fits(row, wanted):
                continue
            point = await points.describe(row)
            if not _has_decided(point, actor.caller.user):
                continue
            told.append(point)
            places.append(after)
            if len(told) == most:
                return _page(actor, told, places, after)
        if len(entries) < _ENTRIES:
            return _page(actor, told, places, None)
    return _page(actor, told, places, after)


async def _entries(actor: Actor, after: tuple[int, str] | None) -> list[AuditRow]:
    wanted = AuditFilter(user=actor.known_as, after=after, limit=_ENTRIES)
    return await actor.runtime.instance.store.audit.list_entries(wanted)


def _fits(row: PointRow, wanted: PointFilter) -> bool:
    return (
        wanted.execution_id in (None, row.execution_id)
        and wanted.workflow in (None, row.workflow)
        and wanted.kind in (None, row.point.kind)
        and (not wanted.status or row.shown_status in wanted.status)
    )


def _has_decided(point: PausePoint, user: str) -> bool:
    """Return whether what a user has said there still counts: what was taken back does not."""
    return point.answered_by == user or any(one.by == user for one in point.decisions)


def _page(
    actor: Actor, told: list[PausePoint], places: list[tuple[int, str]], after: tuple[int, str] | None
) -> Page[PausePoint]:
    items = fitting(told, actor.page_bytes)
    if len(items) < len(told):
        after = places[len(items) - 1]
    return Page(items=items, next=cursor_of(*after) if after is not None else None)
