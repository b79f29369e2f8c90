"""Settings of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.user_settings import UserSettings, UserSettingsBody

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Settings", "What the caller has set for themselves: the console has it on each of their browsers.")


@routes.get("/me/settings", open="known", answers={200: UserSettings})
async def get_my_settings(call: Request[None, NoQuery]) -> Response:
    """Return the settings of the caller; those that were never set are as by default."""
    return Response(await call.service.user_settings.get())


@routes.put(
    "/me/settings",
    open="known",
    body=UserSettingsBody,
    body_required=False,
    largest_body=4_000,
    answers={200: UserSettings},
)
async def save_my_settings(call: Request[UserSettingsBody, NoQuery]) -> Response:
    """Replace the settings of the caller; one that is not given is as by default."""
    return Response(await call.service.user_settings.save(call.body))
