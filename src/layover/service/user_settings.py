"""What a user has set for themselves. It is no act on a workflow, so the audit log does not have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import asdict, replace

from layover.core.moments import Moment
from layover.model.shared import encode
from layover.model.user_settings import UserSettings
from layover.ports.access import UserSettingsRow

if TYPE_CHECKING:
    from layover.model.user_settings import UserSettingsBody
    from layover.service.actor import Actor

_SETTINGS: Final = msgspec.json.Decoder(UserSettings)


class UserSettingsService:
    """Settings of the user; there is no permission that it takes."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def get(self) -> UserSettings:
        """Return the settings of the user, as by default where nothing was set."""
        row = await self._actor.runtime.instance.store.user_settings.find_settings(self._actor.caller.user)
        return _settings(row) if row is not None else UserSettings()

    async def save(self, body: UserSettingsBody) -> UserSettings:
        """Replace the settings of the user."""
        instance = self._actor.runtime.instance
        row = UserSettingsRow(user=self._actor.caller.user, body=encode(body), changed_at=instance.clock.now())
        await instance.store.user_settings.save_settings(row)
        return UserSettings(**asdict(body), changed_at=Moment.of(row.changed_at))


def _settings(row: UserSettingsRow) -> UserSettings:
    try:
        found = _SETTINGS.decode(row.body)
    except msgspec.ValidationError:
        found = UserSettings()  # a newer release allows a value that this one does not know
    return replace(found, changed_at=Moment.of(row.changed_at))
