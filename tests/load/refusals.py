"""Requests that are wrong: each is refused with the status and the code that clients know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .clients import must, shown

if TYPE_CHECKING:
    from .clients import Client

_NOBODY: Final = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"
_START: Final = "/executions"
_START_BODY: Final = {"workflow": "straight", "input": {"n": 1}}

# Who asks for what, and what they are told.
_WRONG: Final[tuple[tuple[str, str, str, object, int, str], ...]] = (
    ("nobody", "GET", "/executions", None, 401, "unauthenticated"),
    ("nobody", "POST", _START, _START_BODY, 401, "unauthenticated"),
    ("stranger", "GET", "/executions", None, 401, "unauthenticated"),
    ("viewer", "POST", _START, _START_BODY, 403, "forbidden"),
    ("viewer", "POST", f"/executions/{_NOBODY}/cancel", {}, 403, "forbidden"),
    ("operator", "GET", "/audit", None, 403, "forbidden"),
    ("operator", "POST", _START, b'{"workflow": ', 400, "malformed"),
    ("operator", "POST", _START, b"[" * 500 + b"]" * 500, 400, "malformed"),
    ("operator", "POST", _START, {"workflow": "straight", "inptu": {}}, 422, "invalid_body"),
    ("operator", "POST", _START, {"workflow": "straight", "wait": "1d"}, 422, "invalid_body"),
    ("operator", "POST", _START, {"workflow": "nothing-of-that-name"}, 404, "unknown_workflow"),
    ("operator", "POST", _START, {"workflow": "straight", "version": 999}, 404, "unknown_version"),
    ("operator", "POST", _START, {"workflow": "straight", "id": "not an id"}, 400, "malformed_id"),
    ("operator", "GET", "/executions/not-an-id", None, 400, "malformed_id"),
    ("operator", "GET", f"/executions/{_NOBODY}", None, 404, "unknown_execution"),
    ("operator", "POST", f"/executions/{_NOBODY}/pause", {}, 404, "unknown_execution"),
    ("operator", "GET", f"/pause-points/{_NOBODY}", None, 404, "unknown_point"),
    ("operator", "POST", f"/pause-points/{_NOBODY}/answer", {"data": 1}, 404, "unknown_point"),
    ("operator", "GET", "/executions?limit=none", None, 400, "invalid_parameter"),
    ("operator", "GET", "/executions?cursor=none", None, 400, "malformed_cursor"),
    ("operator", "GET", "/executions?where=input.n", None, 400, "invalid_filter"),
    ("operator", "GET", "/executions?status=asleep", None, 400, "invalid_parameter"),
    ("operator", "PUT", "/executions", {}, 405, "method_not_allowed"),
    ("operator", "GET", "/nothing", None, 404, "not_found"),
    ("nobody", "POST", "/callbacks/no-token", {}, 404, "unknown_token"),
)


async def ask_wrongly(client: Client) -> None:
    """Ask for a few things that cannot be had."""
    for as_, method, path, body, status, code in client.chance.sample(_WRONG, 5):
        heard = await client.ask(method, path, body, as_=as_)
        fits = (heard.status, heard.code) == (status, code)
        must(fits, f"{as_} {method} {path} should be {status} {code}", shown(heard))
        must(heard.header("content-type") == "application/problem+json", "no problem document", shown(heard))
