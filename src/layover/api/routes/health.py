"""Whether the server lives, whether it can work, and how it does."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from layover.api.calls import Reply
from layover.api.resources.health import Health
from layover.api.routing import Routes

if TYPE_CHECKING:
    from layover.api.calls import Call
    from layover.api.routing import NoQuery

routes = Routes("Health", "Whether the server lives, whether it can work, and how it does.", prefix="")


@routes.get("/healthz", open="anybody", limited=False, answers={200: Health})
async def healthz(call: Call[None, NoQuery]) -> Reply:  # noqa: ARG001 - nothing is asked
    """Tell that the process answers."""
    return Reply(Health(version=version("layover")))
