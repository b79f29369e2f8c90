"""Saved views: each user has their own, so many at most, the same in every store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import ViewRow

if TYPE_CHECKING:
    from layover.ports.store import Store


async def test_a_view_is_created_replaced_and_deleted_by_its_user_alone(store: Store) -> None:
    mine = ViewRow(user="ann", name="new", body=b"{}", changed_at=1)
    assert await store.views.save_view(mine, 2)
    assert await store.views.save_view(replace(mine, user="ben", body=b"[]"), 2)
    changed = replace(mine, body=b'{"a":1}', changed_at=2)
    assert await store.views.save_view(changed, 1)
    assert await store.views.list_views("ann") == [changed]
    assert not await store.views.delete_view("ann", "other")
    assert await store.views.delete_view("ann", "new")
    assert await store.views.list_views("ann") == []
    assert [row.user for row in await store.views.read_views(("", ""), 10)] == ["ben"]


async def test_a_user_has_no_more_views_than_allowed_though_many_are_saved_at_once(store: Store) -> None:
    rows = [ViewRow(user="ann", name=f"view {n}", body=b"{}", changed_at=n) for n in range(6)]
    saved = await asyncio.gather(*(store.views.save_view(row, 4) for row in rows))
    assert sum(saved) == 4
    found = await store.views.list_views("ann")
    assert [row.name for row in found] == sorted(row.name for row, was in zip(rows, saved, strict=True) if was)
    assert await store.views.save_view(replace(found[0], changed_at=9), 4)
    assert await store.views.read_views(("ann", found[1].name), 1) == [found[2]]
