"""The pages about serving say what is true: the program is an application, and every setting and role is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from layover.api.access.config import access_settings
from layover.api.permissions import ROLES
from layover.api.settings import ApiSettings
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


def test_every_setting_of_the_environment_is_there() -> None:
    named = set(re.findall(r"`LAYOVER_(\w+)`", _SERVE))
    given = {f"LAYOVER_{name}": "Zk8vQ2mT7xR4nB9cW1pL6dF3hJ5sY0aG" for name in ("ADMIN_KEY", "JWT_SECRET")}
    found = access_settings({**given, "LAYOVER_RATE_LIMIT": "20/10s", "LAYOVER_BODY_LIMIT": "500kB"})
    assert (found.rate_limit, found.body_limit) == ((20, 10), 500_000)
    assert {"DB", "ADMIN_KEY", "PUBLIC_URL", "RATE_LIMIT", "BODY_LIMIT", "JWT_SECRET", "JWT_JWKS_URL"} <= named
    assert {"GUESS_LIMIT", "CONNECTIONS", "TRUSTED_PROXIES", "HOSTS"} <= named
    assert f"`{ApiSettings().body_limit}`" in _SERVE


def test_every_role_is_there() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", _SECURE, re.MULTILINE)) == set(ROLES)
