"""Commands on a server: the same words say the same, and who acts is known by the key."""

from __future__ import annotations

import getpass
import re
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.over_http import Served
from tests.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Run

ACTS = [
    ("answer", "{id}", "1"),
    ("approve", "{id}"),
    ("reject", "{id}"),
    ("pause", "{id}"),
    ("resume", "{id}"),
    ("cancel", "{id}"),
    ("retry", "{id}"),
    ("rewind", "{id}", "size"),
]


@pytest.fixture
def server(project: Path) -> Iterator[Served]:
    """A server on the database of the project."""
    assert Path.cwd() == project
    served = Served()
    yield served
    served.stop()


@pytest.mark.parametrize("words", [("ls",), ("inbox",), ("show", "{id}"), ("history", "{id}"), ("why", "{id}")])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_server_shows_what_its_database_shows(
    cli: Run, waiting: str, server: Served, words: tuple[str, ...], more: tuple[str, ...]
) -> None:
    command = [*(word.format(id=waiting) for word in words), *more]
    ours, theirs = cli(*command), cli(*server.translated(command))
    assert (ours.code, ours.err) == (theirs.code, theirs.err) == (0, "")
    assert _still(ours.out) == _still(theirs.out)


def _still(text: str) -> str:
    """Return what was printed without how long something has been going on."""
    return re.sub(r"waiting  \S+", "waiting", text)


def test_a_database_and_a_server_are_not_both(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = cli("ls", "--db", "x.db", "--url", "http://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert "give --db or --url, not both" in err
    monkeypatch.setenv("LAYOVER_DB", "x.db")
    monkeypatch.setenv("LAYOVER_URL", "http://127.0.0.1:1")
    assert "not both" in cli("ls").err


def test_what_is_typed_wins_over_the_environment(
    cli: Run, waiting: str, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = server.translated(("ls",))
    url, key = command[command.index("--url") + 1], command[command.index("--key") + 1]
    monkeypatch.setenv("LAYOVER_KEY", key)
    monkeypatch.setenv("LAYOVER_DB", "nowhere.db")
    assert waiting in cli("ls", "--url", url).out
    monkeypatch.delenv("LAYOVER_DB")
    monkeypatch.setenv("LAYOVER_URL", url)
    assert waiting in cli("ls").out
    assert cli("ls", "--db", "nowhere.db").code == 2


@pytest.mark.parametrize("words", ACTS)
def test_by_and_role_are_refused_on_a_server(cli: Run, words: tuple[str, ...]) -> None:
    url = "http://127.0.0.1:1"
    code, out, err = cli(*(word.format(id="x") for word in words), "--by", "ada", "--url", url)
    assert (code, out) == (2, "")
    assert "by your key" in err
    assert "by your key" in cli("inbox", "--role", "boss", "--url", url).err


def test_the_user_of_the_key_decides(cli: Run, waiting: str, server: Served) -> None:
    assert cli(*server.translated(("answer", waiting, '{"size": 2}', "--by", "bob"))).out == (
        f"{waiting}:size is answered by bob.\n"
    )
    code, _, err = cli(*server.translated(("approve", f"{waiting}:review", "--by", "ada")))
    assert code == 2
    assert "with a key of their own" in err
    code, out, err = cli(*server.translated(("approve", waiting, "--by", "ada", "--role", "boss", "--comment", "fine")))
    assert (code, out, err) == (0, f"{waiting}:review is approved by ada.\n", "")
    shown = cli(*server.translated(("show", waiting))).out.splitlines()
    assert "    approved by ada: fine" in shown


def test_a_key_may_be_in_a_file_and_is_never_printed(cli: Run, waiting: str, server: Served) -> None:
    *rest, key = server.translated(("ls",))
    Path("secret").write_text(f"{key}\n")
    assert waiting in cli(*rest, "@secret").out
    assert cli(*rest, "@nowhere").err == "layover: --key: nowhere: No such file or directory.\n"
    for wrong in (f"{key}x", "two words", ""):
        code, out, err = cli(*rest, wrong)
        assert (code, out) == (2, "")
        assert key not in err
        assert not wrong or wrong not in err
    code, _, err = cli("ls", *rest[1:3])
    assert code == 2
    assert "LAYOVER_KEY" in err


def test_an_unreachable_server_is_reported_with_its_address(cli: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    code, out, err = cli("ls", "--url", f"http://127.0.0.1:{port}")
    assert (code, out) == (2, "")
    assert f"127.0.0.1:{port} cannot be reached" in err
    assert "--url" in err
    assert cli("ls", "--url", "nowhere").code == 2


def test_what_is_done_on_a_database_is_in_its_audit_log_too(cli: Run, waiting: str, server: Served) -> None:
    assert cli("pause", waiting, "--by", "ada", "--reason", "lunch").code == 0
    assert cli("signal", "paid").code == 0
    assert cli(*server.translated(("resume", waiting, "--by", "bob"))).code == 0
    found = [entry for entry in server.audit() if entry.act != "key.add"]
    assert [(entry.user, entry.act) for entry in found if entry.act.startswith("execution")] == [
        (getpass.getuser(), "execution.start"),
        ("ada", "execution.pause"),
        ("bob", "execution.resume"),
    ]
    by_hand = {entry.act for entry in found if entry.credential == "command line"}
    assert by_hand == {"workflow.save", "execution.start", "execution.pause", "signal.send"}
    assert all(entry.execution_id == waiting for entry in found if entry.act.startswith("execution"))


@pytest.fixture
def url(server: Served, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of the server, whose key is in the environment."""
    *_, url, _, key = server.translated(("keys", "ls"))
    monkeypatch.setenv("LAYOVER_KEY", key)
    return url


def test_a_server_runs_a_file_to_its_rest_and_to_its_end(cli: Run, url: str) -> None:
    Path("size.yaml").write_text("name: size\nnodes: [{id: ask, type: form, title: Which?, schema: {type: integer}}]\n")
    code, out, err = cli("run", "size.yaml", "--url", url, "--key", "once", "--tag", "t")
    heading, opened, rests = out.splitlines()
    id_ = heading.split()[1]
    assert (code, opened) == (10, "ask: waits (form): Which?")
    assert rests == f"{id_} paused: `ask` waits for an answer by anybody."
    assert f"  layover answer {id_}:ask DATA --url {url}" in err.splitlines()
    assert f"To continue it: layover run size.yaml --id {id_} --url {url}" in err.splitlines()
    again = cli("run", "size.yaml", "--url", url, "--key", "once", "--tag", "t", "--json")
    assert (again.code, again.id, again.json["pause_points"][0]["context_id"]) == (10, id_, "ask")
    assert cli("answer", id_, "5", "--url", url).code == 0
    code, out, err = cli("run", "size.yaml", "--id", id_, "--url", url, "--watch")
    assert (code, err) == (0, "")
    assert out.splitlines()[-2:] == [f"{id_} completed", "output: 5"]
    code, _, err = cli("run", "asking.yaml", "--id", id_, "--url", url)
    assert (code, "is an execution of `size`" in err) == (4, True)


def test_a_run_that_takes_too_long_is_left(cli: Run, url: str) -> None:
    Path("late.yaml").write_text("name: late\nnodes: [{id: a, type: delay, duration: 1d}]\n")
    code, out, err = cli("run", "late.yaml", "--url", url, "--watch", "--timeout", "10ms")
    assert code == 10
    assert out.splitlines()[0].startswith("late ")
    assert "The time is up; nothing of it is lost." in err


def test_a_function_that_the_server_lacks_is_named(cli: Run, url: str) -> None:
    code, out, err = cli("run", "breaking.yaml", "--url", url)
    assert (code, out) == (2, "")
    assert "break_down" in err
    assert cli("run", "breaking.yaml", "--url", url, "--nodes", "nodes.py").code == 2
    assert "by your key" in cli("run", "breaking.yaml", "--url", url, "--by", "ada").err
    assert "not both" in cli("run", "breaking.yaml", "--url", url, "--db", "x.db").err


def test_in_a_terminal_a_server_asks_as_a_database_does(project: Path, url: str) -> None:
    Path("size.yaml").write_text("name: size\nnodes: [{id: ask, type: form, title: Which?, schema: {type: integer}}]\n")
    with Terminal("run", "size.yaml", "--url", url, folder=project) as terminal:
        terminal.until("Which?")
        terminal.until("Answer (JSON):")
        terminal.type("5\n")
        terminal.until("✓ ask")
        terminal.until("output: 5")
        assert terminal.end() == 0
