"""The console: its page, which is the same under each of its paths, and what the page loads."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from layover.api.page_requests import see_other
from layover.api.problems import Refusal
from layover.api.request import Response
from layover.api.routing import Pages
from layover.console.assets import asset_headers, console_page, find_asset
from layover.pages.layout import HTML
from layover.service.sessions import is_session

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

pages = Pages("Console", "The console.", prefix="")


@pages.get("/", open="anybody", alone=True)
async def go_to_console(call: Request[None, NoQuery]) -> Response:
    """Lead to the console."""
    return see_other(f"{call.base}/console")


@pages.get("/console", any_query=True)
async def show_console(call: Request[None, NoQuery]) -> Response:
    """Show the console to a person who is signed in; lead others to the sign-in, and back from there."""
    if not is_session(call.caller.credential):
        return see_other(f"{call.base}/sign-in?next={quote(_asked_for(call), safe='')}")
    page, headers = console_page(call.base)
    return Response(page, headers=headers, media_type=HTML)


@pages.get("/console/{path:path}", any_query=True)
async def show_console_at(call: Request[None, NoQuery]) -> Response:
    """Show the console at one of its own paths: the page itself knows them."""
    return await show_console(call)


# What is in the package is no secret; and a page that is open may ask for the rest of itself after its session ended.


@pages.get("/console/assets/{name}", open="anybody", alone=True, limited=False)
async def show_console_asset(call: Request[None, NoQuery]) -> Response:
    """Show a script or a stylesheet of the console."""
    asset = find_asset(call.path["name"])
    if asset is None:
        raise Refusal("not_found", "The console has no such file. Load its page again.")
    body, headers = asset_headers(asset, call.headers.get("accept-encoding", ""))
    return Response(body, headers=headers, media_type=asset.media_type)


def _asked_for(call: Request[None, NoQuery]) -> str:
    """Return the path that a visitor has asked for, with its query, so that the sign-in can lead there."""
    path, base = str(call.scope["path"]), call.base
    own = path[len(base) :] if base and path.startswith(f"{base}/") else path
    query = call.scope.get("query_string", b"").decode("latin-1")
    return f"{base}{quote(own)}{f'?{query}' if query else ''}"
