"""`layover batch` and `layover batches`, on a database of either kind and on a server."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from layover import Client, Engine
from layover.cli.main import run_command
from tests.interface.in_a_thread import served_in_a_thread
from tests.runtime.harness import address_in, each_database, on_postgres

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["each_database", "on_postgres"]  # fixtures for the tests here

FLOW = {"name": "asking", "nodes": [{"id": "ask", "type": "form", "schema": {"type": "object"}}]}
UNKNOWN = "11111111-1111-4111-8111-111111111111"


@pytest.fixture(params=["database", "server"])
def at(
    request: pytest.FixtureRequest,
    each_database: None,  # noqa: ARG001 - it is on either of them
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Give what names a database that an instance works on, or the server of that instance."""
    monkeypatch.chdir(tmp_path)
    with served_in_a_thread(tmp_path) as server:
        key = server.key_of("ann:admin")

        async def start() -> None:
            async with Client(server.url, api_key=key) as client:
                await client.register(FLOW)
                for n in range(3):
                    await client.start("asking", {"n": n}, until="people")

        asyncio.run(start())
        on_server = ["--url", server.url, "--key", key]
        yield on_server if request.param == "server" else ["--db", address_in(tmp_path)]


class Ran:
    """Runs commands, and reads what they print."""

    def __init__(self, at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        self._at = at
        self._capsys = capsys

    def __call__(self, *words: str, code: int = 0) -> Any:
        """Return what a command prints as JSON."""
        assert run_command([*words, *self._at, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)

    def said(self, *words: str, code: int = 0) -> str:
        """Return what a command prints for people."""
        assert run_command([*words, *self._at]) == code
        return self._capsys.readouterr().out


def test_every_act_has_a_command(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run = Ran(at, capsys)
    planned = run("batch", "pause", "--workflow", "asking", "--where", "n=1", "--dry-run")
    assert (planned["status"], planned["total"], len(planned["sample"])) == ("pending", 1, 1)
    assert "would be done to 3 items" in run.said("batch", "pause", "--workflow", "asking", "--dry-run")
    for act, more, done in (
        ("pause", ["--reason", "Lunch", "--rate", "100/s"], 3),
        ("resume", ["--data", '{"x": 1}'], 3),
        ("rewind", ["--to", "ask"], 3),
        ("retry", [], 0),
        ("answer", ["--node", "ask", "--data", "{}"], 3),
        ("cancel", [], 0),
        ("purge", [], 3),
    ):
        made = run("batch", act, "--workflow", "asking", *more)
        assert (made["status"], made["done"], made["failed"]) == ("completed", done, 0), act
    assert run("batch", "redeliver", "--id", UNKNOWN)["skipped"] == 1
    assert run("batch", "replay", "--trigger", UNKNOWN, "--id", "x")["skipped"] == 1
    assert len(run("batches")["items"]) == 9
    assert len(run("batches", "--status", "stopped")["items"]) == 0
    assert "completed" in run.said("batches")


def test_a_batch_is_shown_stopped_continued_and_deleted(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run = Ran(at, capsys)
    made = run("batch", "pause", "--workflow", "asking", "--canary", "30%", "--watch", "1h", "--no-wait")
    while run("batch", "show", made["id"])["status"] != "watching":
        pass  # it asks the server, which goes on meanwhile
    assert "is watched until" in run.said("batch", "show", made["id"])
    assert [one["status"] for one in run("batch", "items", made["id"])["items"]] == ["done", "pending", "pending"]
    assert len(run("batch", "items", made["id"], "--status", "done")["items"]) == 1
    assert run("batch", "stop", made["id"], "--reason", "Enough")["reason"] == "Enough"
    assert "Enough" in run.said("batch", "show", made["id"], "--follow", code=10)
    assert run("batch", "continue", made["id"])["status"] == "running"
    run("batch", "stop", made["id"])
    run.said("batch", "delete", made["id"])
    assert run_command(["batch", "show", made["id"], *at]) == 3


def test_a_database_without_an_instance_keeps_the_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"sqlite:///{tmp_path / 'layover.db'}"

    async def register() -> None:
        async with Engine(address) as engine:
            await engine.register(FLOW)

    asyncio.run(register())
    for more, code in (([], 10), (["--no-wait"], 0)):
        assert run_command(["batch", "pause", "--workflow", "asking", "--db", address, *more]) == code
        assert "No instance has this database open" in capsys.readouterr().err
    assert run_command(["batch", "pause", "--workflow", "asking", "--db", address, "--dry-run"]) == 0
    assert capsys.readouterr().err == ""


def test_a_canary_needs_the_time_for_which_it_is_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["batch", "pause", "--workflow", "asking", "--canary", "5%"]) == 2
    assert "--watch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["cancel", "--workflow", "", "--tag", "gold"], "--workflow"),
        (["pause", "--workflow", "asking", "--tag", ""], "--tag"),
        (["retry", "--workflow", "asking", "--since", ""], "--since"),
        (["retry", "--workflow", "asking", "--error-code", ""], "--error-code"),
        (["answer", "--workflow", "asking", "--node", ""], "--node"),
        (["redeliver", "--destination", ""], "--destination"),
        (["redeliver", "--execution", ""], "--execution"),
        (["replay", "--trigger", ""], "--trigger"),
    ],
)
def test_a_flag_without_a_value_is_refused_and_never_left_out(
    capsys: pytest.CaptureFixture[str], words: list[str], flag: str
) -> None:
    """A variable of a shell that is not set must not widen what a batch is done to."""
    assert run_command(["batch", *words, "--dry-run"]) == 2
    assert f"{flag}: it is empty" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--destination", "mail"], ["--execution", UNKNOWN]])
def test_ids_of_deliveries_stand_alone(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert run_command(["batch", "redeliver", "--id", UNKNOWN, *words, "--dry-run"]) == 2
    assert f"leave out {words[0]}" in capsys.readouterr().err


def test_a_batch_that_has_failed_says_where_the_reasons_are(at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["batch", "answer", "--workflow", "asking", "--node", "ask", "--data", "5"]
    assert run_command([*words, *at]) == 1
    out, err = capsys.readouterr()
    assert "3 failed" in out
    id_ = out.split()[2].removesuffix(":")
    assert f"`layover batch items {id_}` says why" in err
    assert "invalid_answer" in Ran(at, capsys).said("batch", "items", id_)
