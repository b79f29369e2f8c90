"""The pages about serving say what is true: the program is an application, and every setting and role is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from layover.config.table import table
from layover.service.permissions import ROLES
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_SERVE, _SECURE = page("how-to/serve.md"), page("how-to/secure-the-api.md")


async def test_the_application_on_the_page_can_be_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(_SERVE, "python")
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(program, "serve.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    app, told = names["app"], list[Any]()

    async def send(message: object) -> None:
        told.append(message)

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/workflows/api/v1/me",
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer a-key-of-your-own")],
        "client": ("127.0.0.1", 1),
    }
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    assert told[0]["status"] == 200
    assert msgspec.json.decode(told[1]["body"])["user"] == "admin"


def test_every_variable_on_the_page_is_a_setting() -> None:
    named = set(re.findall(r"`(LAYOVER_\w+)`", _SERVE + _SECURE))
    assert named
    assert named <= {row.variable for row in table().values()}


def test_every_role_is_there() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", _SECURE, re.MULTILINE)) == set(ROLES)
