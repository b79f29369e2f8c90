"""By which names a server is called: a page that passes for it reads nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.api.hosts import KnownHosts
from layover.api.routes import ROUTES
from tests.api.harness import UNLIMITED, listening, served
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("host", "is_answered"),
    [
        ("api.example.org", True),
        ("API.example.org.:8080", True),
        ("a.example.net", True),
        ("b.a.example.net:443", True),
        ("localhost:8080", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.0.0.1:8080", True),
        ("192.168.1.7:8080", True),
        ("[::1]:8080", True),
        ("[2001:db8::7]", True),
        (None, True),  # no browser leaves it out
        ("", False),
        ("example.net", False),
        ("evil.example", False),
        ("api.example.org.evil.example", False),
        ("evilexample.net", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1@evil.example", False),
    ],
)
def test_a_server_answers_to_its_names_and_to_addresses(host: str | None, *, is_answered: bool) -> None:
    assert KnownHosts(("api.example.org", "*.example.net")).is_answered(host) == is_answered


def test_any_name_is_answered_if_that_is_set_or_nothing_is() -> None:
    assert KnownHosts(("*",)).is_answered("evil.example")
    assert KnownHosts(None).is_answered("evil.example")
    assert not KnownHosts(()).is_answered("evil.example")


async def test_no_route_answers_to_the_name_of_another(tmp_path: Path) -> None:
    async with served(tmp_path, settings=replace(UNLIMITED, hosts=("api.example.org",))) as api:
        for route in ROUTES:
            path = route.path.replace("{", "").replace("}", "")
            refused = await api.session.request(route.method, api.url + path, headers={"host": "evil.example:8080"})
            assert (refused.status, (await refused.json())["code"]) == (421, "misdirected"), path
        answered = await api.get("/me", headers={"host": "api.example.org"})

    assert answered.status == 200


@pytest.mark.parametrize("path", ["/metrics", "/openapi.json"])
async def test_what_is_open_to_the_machine_itself_is_not_to_a_page_that_leads_there(tmp_path: Path, path: str) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:  # as it is mounted: without names
        own = [(await api.get(path, as_="", headers={"host": host})).status for host in ("localhost:80", "127.0.0.1")]
        rebound = await api.get(path, as_="", headers={"host": "evil.example"})
        known = await api.get(path, headers={"host": "evil.example"})

    assert (own, rebound.status, known.status) == ([200, 200], 401, 200)


async def test_a_host_is_given_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(api.url.rpartition(":")[2]))
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 400")
