"""The page about notifications says what is true: its definition is sound, its functions are called."""

from __future__ import annotations

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from layover import check
from layover.core.definitions.destinations import read_destination
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from layover.testing import Layover

PAGE = page("how-to/notify-people.md")
ASKS = {
    "name": "asks",
    "nodes": [{"id": "ok", "type": "approval", "title": "May it?", "approvers": {"users": ["ada"]}}],
}


@pytest.fixture
def names() -> dict[str, Any]:
    """What the programs of the page define, one after the other."""
    found: dict[str, Any] = {}
    for program in blocks(PAGE, "python"):
        exec(compile(program, "notify-people.md", "exec", dont_inherit=True), found)  # noqa: S102 - our own page
    return found


def test_its_definition_is_sound() -> None:
    (definition,) = blocks(PAGE, "yaml")
    assert [one for one in check(definition).problems if one.severity == "error"] == []


def test_its_destinations_are_sound() -> None:
    (commands, *_) = blocks(PAGE, "sh")
    given = [one.partition("'")[0] for one in commands.split("create '")[1:]]
    assert len(given) == 3
    for text in given:
        document = json.loads(text)
        document.pop("name")
        read_destination(document)


async def test_its_test_passes(layover: Layover, names: dict[str, Any]) -> None:
    await names["test_ada_is_notified_and_reminded"](layover)


@pytest.fixture
def received() -> Iterator[tuple[str, list[bytes]]]:
    """A chat that takes messages; give its address, and what it got."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", bodies
    server.shutdown()
    thread.join()
    server.server_close()


async def test_its_slack_gets_a_message_for_an_opened_pause(
    layover: Layover, names: dict[str, Any], received: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, bodies = received
    monkeypatch.setenv("SLACK_URL", address)
    layover.nodes(names["slack"])
    await layover.start(ASKS)
    assert [b"*May it?*" in one for one in bodies] == [True]


async def test_its_mail_client_gets_the_address_and_the_subject(layover: Layover, names: dict[str, Any]) -> None:
    layover.nodes(names["company_mail"])
    notify = [{"on": ["pause.opened"], "to": "people", "via": "company_mail"}]
    await layover.start({**ASKS, "notify": notify})
    assert [(one["to"], one["subject"]) for one in names["client"].outbox] == [("ada@example.com", "May it?")]


async def test_its_database_has_a_task_for_each_pause(
    layover: Layover, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    layover.nodes(names["open_task"])
    await layover.start(ASKS)
    with sqlite3.connect("shop.db") as db:
        assert db.execute("SELECT title FROM tasks").fetchall() == [("May it?",)]
