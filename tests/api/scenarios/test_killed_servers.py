"""A server is killed between what it answered and what comes of it: another one on its database sees to it, once."""

from __future__ import annotations

import signal
import socket
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import pytest

from tests.cli.serving import PATIENCE, Serving, serving
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("each_database")

KEY = "a-key-that-nobody-knows"
# What is done is a line in a file; functions that are held never come to do it.
NODES = """
import asyncio
import os
from pathlib import Path

from layover.nodes.context import NodeContext

DONE = Path(os.environ["DONE"])


async def effect(context: NodeContext, what: object) -> str:
    if os.environ.get("HELD"):
        await asyncio.Event().wait()
    with (DONE / "all").open("a") as file:
        file.write(f"{context.idempotency_key} {what}\\n")
    return f"did {what}"
"""
ASK = """
name: ask
nodes:
  - {id: review, type: approval, next: {approved: work, rejected: finish}}
  - {id: work, type: effect, input: {what: "${input}"}, next: finish}
  - {id: finish, type: end, join: any, output: "${has(nodes.work) ? nodes.work : 'nothing'}"}
"""
FORMS = """
name: forms
nodes:
  - id: both
    type: parallel
    branches:
      - id: left
        body:
          - {id: ask_left, type: form, schema: {}, next: work_left}
          - {id: work_left, type: effect, input: {what: "${nodes.ask_left}"}}
      - id: right
        body:
          - {id: ask_right, type: form, schema: {}, next: work_right}
          - {id: work_right, type: effect, input: {what: "${nodes.ask_right}"}}
    next: finish
  - {id: finish, type: end, output: "${nodes.both}"}
"""


class Place:
    """A database, and the folder where it shows what was done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.done = folder / "done"
        self.done.mkdir()
        (folder / "nodes.py").write_text(NODES)
        for name, text in (("ask", ASK), ("forms", FORMS)):
            (folder / f"{name}.yaml").write_text(text)

    @contextmanager
    def served(self, *, held: bool = False) -> Iterator[Serving]:
        words = ("--db", address_in(self._folder), "--workflows", "ask.yaml", "--workflows", "forms.yaml")
        environment: dict[str, Any] = {"LAYOVER_ADMIN_KEY": KEY, "LAYOVER_RATE_LIMIT": "off", "DONE": str(self.done)}
        environment |= {"HELD": "yes"} if held else {}
        with serving(self._folder, *words, "--nodes", "nodes.py", **environment) as server:
            yield server

    def effects(self) -> list[str]:
        """Return what was done, in order."""
        found = self.done / "all"
        return [line.partition(" ")[2] for line in found.read_text().splitlines()] if found.exists() else []


@pytest.fixture
def place(tmp_path: Path, each_database: None) -> Place:  # noqa: ARG001 - it says where the database is
    return Place(tmp_path)


def post(server: Serving, path: str, body: object = None) -> tuple[int, Any]:
    return server.ask("POST", f"/api/v1{path}", body if body is not None else {}, KEY)


def get(server: Serving, path: str) -> Any:
    status, told = server.ask("GET", f"/api/v1{path}", key=KEY)
    assert status == 200, told
    return told


def start(server: Serving, workflow: str, given: object = None) -> dict[str, Any]:
    status, told = post(server, "/executions", {"workflow": workflow, "input": given, "wait": "60s"})
    assert (status, told["status"]) == (202, "paused"), told
    execution: dict[str, Any] = told
    return execution


def kill(server: Serving) -> None:
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL


def ended(server: Serving, id_: str) -> dict[str, Any]:
    """Return an execution once it has ended: its stream ends then."""
    where = urlsplit(server.url)
    with closing(HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)) as connection:
        connection.request("GET", f"/api/v1/executions/{id_}/stream", headers={"authorization": f"Bearer {KEY}"})
        connection.getresponse().read()
    told: dict[str, Any] = get(server, f"/executions/{id_}")
    return told


def counted(server: Serving, id_: str) -> dict[tuple[str, str | None], int]:
    """Return how often each thing happened in an execution, and where."""
    found: dict[tuple[str, str | None], int] = {}
    for event in get(server, f"/executions/{id_}/history?limit=100")["items"]:
        what = (event["type"], event.get("context_id"))
        found[what] = found.get(what, 0) + 1
    return found


def test_what_was_decided_before_a_server_was_killed_comes_about_once(place: Place) -> None:
    with place.served(held=True) as server:
        started = start(server, "ask", 1)
        id_, (point,) = started["id"], started["pause_points"]
        assert post(server, f"/approvals/{point['id']}/approve", {"comment": "ok"})[0] == 201
        kill(server)
    assert place.effects() == []
    with place.served() as server:
        told = ended(server, id_)
        assert (told["status"], told["output"], told["resume_count"]) == ("completed", "did 1", 1)
        assert place.effects() == ["1"]
        happened = counted(server, id_)
        assert happened["NodeCompleted", "review"] == 1
        assert happened["NodeCompleted", "work"] == 1
        (decision,) = get(server, f"/approvals/{point['id']}")["decisions"]
        assert (decision["by"], decision["comment"]) == ("admin", "ok")
        # Whoever was not answered, or is not sure, says the same again.
        assert post(server, f"/approvals/{point['id']}/approve")[0] == 200
        assert post(server, f"/approvals/{point['id']}/reject")[0] == 409
        acts = [entry["act"] for entry in get(server, f"/audit?execution_id={id_}")["items"]]
        assert acts == ["approval.approve", "execution.start"]
        assert server.stop() == 0
    assert place.effects() == ["1"]


def test_answers_in_line_when_a_server_was_killed_are_all_applied(place: Place) -> None:
    with place.served(held=True) as server:
        id_ = start(server, "forms")["id"]
        answers = [
            server.ask("POST", f"/api/resume/forms/{id_}/ask_{side}:both.{side}", {"input": side}, KEY)
            for side in ("left", "right")
        ]
        assert [status for status, _ in answers] == [202, 202]
        kill(server)
    with place.served() as server:
        told = ended(server, id_)
        assert told["output"] == {"left": "did left", "right": "did right"}
        assert told["resume_count"] == 2
        assert sorted(place.effects()) == ["left", "right"]
        happened = counted(server, id_)
        assert all(happened["NodeCompleted", f"work_{side}:both.{side}"] == 1 for side in ("left", "right"))


def test_a_server_may_be_killed_over_and_over(place: Place) -> None:
    ids: list[str] = []
    points: list[str] = []
    for number in range(4):
        with place.served(held=number < 3) as server:
            for point in points:  # nobody is sure of anything
                status, told = post(server, f"/pause-points/{point}/answer", {"approved": True})
                assert status == 200, told
            if number < 3:
                started = start(server, "ask", number)
                ids.append(started["id"])
                points.append(started["pause_points"][0]["id"])
                assert post(server, f"/pause-points/{points[-1]}/answer", {"approved": True})[0] == 201
                kill(server)
                continue
            assert [ended(server, id_)["output"] for id_ in ids] == ["did 0", "did 1", "did 2"]
            assert sorted(place.effects()) == ["0", "1", "2"]


def test_an_unanswered_request_has_one_effect_when_it_is_repeated(place: Place) -> None:
    with place.served(held=True) as server:
        started = start(server, "ask", 1)
        id_, (point,) = started["id"], started["pause_points"]
        where, body = urlsplit(server.url), msgspec.json.encode({"approved": True})
        head = (
            f"POST /api/v1/pause-points/{point['id']}/answer HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((where.hostname, where.port), PATIENCE) as connection:
            connection.sendall(head.encode() + body)
            kill(server)  # whether it has come to anything or not
    with place.served() as server:
        assert post(server, f"/pause-points/{point['id']}/answer", {"approved": True})[0] in (200, 201)
        assert ended(server, id_)["output"] == "did 1"
        assert place.effects() == ["1"]
        acts = [entry["act"] for entry in get(server, f"/audit?execution_id={id_}")["items"]]
        assert acts == ["approval.approve", "execution.start"]


def test_what_an_operator_holds_is_held_by_the_next_server_too(place: Place) -> None:
    with place.served() as server:
        started = start(server, "ask", 1)
        id_, (point,) = started["id"], started["pause_points"]
        assert post(server, f"/executions/{id_}/pause", {"reason": "Stop"})[0] == 200
        assert post(server, f"/approvals/{point['id']}/approve")[0] == 201
        kill(server)
    with place.served() as server:
        told = get(server, f"/executions/{id_}")
        assert (told["status"], told["paused_reason"]) == ("paused", "Stop")
        assert place.effects() == []
        status, gone_on = post(server, f"/executions/{id_}/resume", {"resume_data": {"a": 1}})
        assert (status, gone_on["variables"]) == (200, {"a": 1})
        assert ended(server, id_)["output"] == "did 1"
        assert place.effects() == ["1"]


def test_what_is_cancelled_stays_cancelled(place: Place) -> None:
    with place.served(held=True) as server:
        started = start(server, "ask", 1)
        id_, (point,) = started["id"], started["pause_points"]
        assert post(server, f"/approvals/{point['id']}/approve")[0] == 201
        assert post(server, f"/executions/{id_}/cancel")[0] == 200
        kill(server)
    with place.served() as server:
        assert ended(server, id_)["status"] == "cancelled"
        assert post(server, f"/executions/{id_}/resume")[0] == 409
        assert place.effects() == []
