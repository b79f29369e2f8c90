"""Where commands go in: a database opened by this process, or a server. Both have the same methods and results."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from layover.admin import OperatorEngine
from layover.cli.options import Who
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover import Listing
    from layover.cli.options import Target
    from layover.interface.door import Door

T = TypeVar("T")

_PAGE = 100  # as many as a server gives at once


@asynccontextmanager
async def door_to_read(at: Target, who: Who | None = None) -> AsyncIterator[Door]:
    """Open a door for a command that changes nothing: no instance is made for it, and no file is written."""
    async with _opened(at, who or Who(), read_only=True) as door:
        yield door


@asynccontextmanager
async def door_to_act(at: Target, who: Who) -> AsyncIterator[Door]:
    """Open a door for a command that acts as a user; on a database it stores what is asked and drives nothing."""
    async with _opened(at, who, read_only=False) as door:
        yield door


def is_applied(door: Door) -> bool:
    """Return whether the last operation was applied; a server answers when it has, or has waited long enough."""
    return not isinstance(door, OperatorEngine) or door.is_applied


async def page_of(listing: Listing[T], limit: int, cursor: str | None = None) -> Page[T]:
    """Return one page of any length, of as many pages as it takes."""
    found: list[T] = []
    while True:
        page = await listing.page(min(limit - len(found), _PAGE), cursor)
        found += page.items
        cursor = page.next
        if cursor is None or len(found) >= limit:
            return Page(items=tuple(found), next=cursor)


@asynccontextmanager
async def _opened(at: Target, who: Who, *, read_only: bool) -> AsyncIterator[Door]:
    if (server := at.server) is not None:
        from layover import Client  # noqa: PLC0415 - only commands on a server load it

        async with Client(server, api_key=at.secret) as client:
            yield client
        return
    configuration = at.configuration
    engine = OperatorEngine(
        configuration.command.db,
        user=who.by,
        roles=who.roles,
        settings=configuration.engine,
        read_only=read_only,
    )
    async with engine:
        yield engine
