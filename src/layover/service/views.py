"""Saved views: each user has their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.conditions import InvalidCondition, parse_condition
from layover.core.definitions.durations import parse_duration
from layover.core.input_index import fault_of
from layover.core.moments import Moment
from layover.errors import InvalidInput, LimitReached, NotFound
from layover.model.shared import Page, encode
from layover.model.views import VIEW_NAME, SavedView, ViewFilter, is_view_name
from layover.ports.access import ViewRow
from layover.service.actor import READ

if TYPE_CHECKING:
    from layover.model.views import ViewBody
    from layover.service.actor import Actor

MOST_VIEWS: Final = 100  # of one user
_LARGEST: Final = 16_384  # bytes of a filter
_FILTER: Final = msgspec.json.Decoder(ViewFilter)


class ViewService:
    """Saved views."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def list(self) -> Page[SavedView]:
        """Return the views of the user, by name."""
        self._actor.require(*READ)
        rows = await self._actor.runtime.instance.store.views.list_views(self._actor.caller.user)
        return Page(items=tuple(map(_view, rows)))

    async def get(self, name: str) -> SavedView:
        """Return a view of the user."""
        found = next((one for one in (await self.list()).items if one.name == name), None)
        if found is None:
            raise _unknown(name)
        return found

    async def save(self, name: str, body: ViewBody) -> SavedView:
        """Create or replace a view of the user."""
        actor = self._actor
        actor.require(*READ)
        _check(name, body.filter)
        instance = actor.runtime.instance
        row = ViewRow(user=actor.caller.user, name=name, body=_encoded(body.filter), changed_at=instance.clock.now())
        if not await instance.store.views.save_view(row, MOST_VIEWS, actor.entry("view.save", name)):
            raise LimitReached(f"You have {MOST_VIEWS} views: delete one first.", (), code="too_many_views")
        return _view(row)

    async def delete(self, name: str) -> None:
        """Delete a view of the user."""
        actor = self._actor
        actor.require(*READ)
        views = actor.runtime.instance.store.views
        if not await views.delete_view(actor.caller.user, name, actor.entry("view.delete", name)):
            raise _unknown(name)


def _view(row: ViewRow) -> SavedView:
    return SavedView(name=row.name, filter=_FILTER.decode(row.body), changed_at=Moment.of(row.changed_at))


def _encoded(wanted: ViewFilter) -> bytes:
    body = encode(wanted)
    if len(body) > _LARGEST:
        raise _refused("filter", f"it is larger than {_LARGEST:,} bytes as JSON")
    return body


def _check(name: str, wanted: ViewFilter) -> None:
    """Refuse what the list of executions would refuse, so that no view is saved that cannot be used."""
    if not is_view_name(name):
        raise _refused("name", f"it has 1 to {VIEW_NAME} characters, all of them printable, and none of them `/`")
    for field in ("since", "until"):
        text = getattr(wanted, field)
        if text is not None and not _is_moment(text):
            raise _refused(f"filter.{field}", "it is a moment with a time zone, or how long ago, such as `2d`")
    for field in ("min_duration", "max_duration"):
        length = getattr(wanted, field)
        if length is not None and _length(length) is None:
            raise _refused(f"filter.{field}", "it is a length such as `90s`")
    for condition in wanted.where:
        try:
            parse_condition(condition)
        except InvalidCondition as error:
            raise _refused("filter.where", error.message.removesuffix(".")) from error
    fault = fault_of(encode(wanted.contains)) if wanted.contains else None
    if fault is not None:
        raise _refused("filter.contains", fault)


def _is_moment(text: str) -> bool:
    if _length(text) is not None:
        return True
    try:
        Moment.read(text)
    except (ValueError, OverflowError):
        return False
    return True


def _length(text: str) -> int | None:
    try:
        return parse_duration(text)
    except (ValueError, OverflowError):
        return None


def _refused(field: str, fault: str) -> InvalidInput:
    return InvalidInput(f"`{field}`: {fault}.", ((field, fault),), code="invalid_body")


def _unknown(name: str) -> NotFound:
    return NotFound(f"You have no view `{name[:100]}`.", code="unknown_view")
