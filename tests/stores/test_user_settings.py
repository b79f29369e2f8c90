"""Settings of users: each has their own, the same in every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import UserSettingsRow

if TYPE_CHECKING:
    from layover.ports.store import Store


async def test_settings_are_created_and_replaced_for_their_user_alone(store: Store) -> None:
    settings, mine = store.user_settings, UserSettingsRow(user="ann", body=b"{}", changed_at=1)
    assert await settings.find_settings("ann") is None
    await settings.save_settings(mine)
    await settings.save_settings(replace(mine, user="ben", body=b"[]"))
    changed = replace(mine, body=b'{"a":1}', changed_at=2)
    await settings.save_settings(changed)
    assert await settings.find_settings("ann") == changed
    assert [row.user for row in await settings.read_settings("", 10)] == ["ann", "ben"]
    assert [row.user for row in await settings.read_settings("", 1)] == ["ann"]
    assert [row.user for row in await settings.read_settings("ann", 10)] == ["ben"]
