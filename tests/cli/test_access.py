"""`layover keys`, `sessions` and `audit`: the same on a database and on a server."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING

import pytest

from layover.bootstrap import open_runtime
from layover.service.sessions import made_session

if TYPE_CHECKING:
    from tests.cli.conftest import Run

MADE = ("keys", "add", "nightly import", "--user", "bob", "--role", "operator")


@pytest.fixture
def database(cli: Run) -> None:
    assert cli("migrate").code == 0


@pytest.mark.usefixtures("database")
def test_a_key_is_shown_once_and_kept_without_itself(cli: Run) -> None:
    code, out, err = cli(*MADE, "--expires-in", "90d")
    assert code == 0
    assert out.startswith("lay_")
    assert "It is not shown again." in err
    (found,) = [key for key in cli("keys", "ls", "--json").json["items"] if key["name"] == "nightly import"]
    assert (found["user"], found["roles"], found["scopes"]) == ("bob", ["operator"], None)
    assert found["expires_at"] is not None
    assert out.startswith(found["prefix"])
    assert out.strip() not in cli("keys", "ls").out
    assert "nightly import" in cli("keys", "ls").out


@pytest.mark.usefixtures("database")
def test_a_sign_in_link_is_shown_once(cli: Run) -> None:
    made = ("sign-in-link", "--user", "bob", "--role", "viewer")
    code, out, err = cli(*made)
    assert code == 0
    assert re.fullmatch(r"http://localhost:8080/sign-in/link/lak_[\w-]{43}\n", out)
    assert "It signs one browser in as bob" in err
    assert "It is not shown again." in err
    found = cli(*made, "--scope", "execution:read", "--expires-in", "1h", "--json").json
    assert (found["user"], set(found)) == ("bob", {"id", "url", "user", "expires_at"})
    assert cli(*made, "--expires-in", "2d").code == 2
    written = cli("audit", "ls", "--act", "session.link", "--json").json["items"]
    assert len(written) == 2


async def _sign_in(*users: str) -> None:
    """Open a session for each user, as a browser does."""
    async with open_runtime("sqlite:///layover.db") as runtime:
        now = runtime.instance.clock.now()
        for user in users:
            row = made_session(now, os.urandom(32), user=user, roles=("viewer",), opened_by="oidc")
            await runtime.instance.store.sessions.open_session(row, 10)


@pytest.mark.usefixtures("database")
def test_sessions_are_listed_and_ended(cli: Run) -> None:
    assert cli("sessions", "ls").out == "No sessions.\n"
    asyncio.run(_sign_in("ada", "ben", "ada"))
    listed = cli("sessions", "ls", "--json").json["items"]
    assert [one["user"] for one in listed] == ["ada", "ben", "ada"]
    heading, line = cli("sessions", "ls", "--user", "ben").out.splitlines()
    assert heading.split() == ["ID", "USER", "ROLES", "OPENED", "BY", "SINCE", "ENDS"]
    assert line.split()[:4] == [listed[1]["id"], "ben", "viewer", "oidc"]
    assert cli("sessions", "end", listed[1]["id"]).out == f"The session {listed[1]['id']} has ended.\n"
    code, _, err = cli("sessions", "end", listed[1]["id"])
    assert (code, "There is no such session" in err, "layover sessions ls" in err) == (3, True, True)
    assert cli("sessions", "end", "--user", "ada").out == "2 sessions of ada ended.\n"
    assert cli("sessions", "ls").out == "No sessions.\n"
    assert len(cli("audit", "ls", "--act", "session.end", "--json").json["items"]) == 3
    assert cli("sessions", "end").code == 2


@pytest.mark.usefixtures("database")
def test_a_key_is_replaced_and_ended(cli: Run) -> None:
    first = cli(*MADE, "--json").json
    second = cli("keys", "rotate", first["id"], "--grace", "1h", "--json").json
    assert second["key"] != first["key"]
    assert cli("keys", "end", second["prefix"]).out == f"The key {second['id']} has ended.\n"
    for words in (("end", second["id"]), ("rotate", second["id"]), ("end", "00000000-dead")):
        code, out, err = cli("keys", *words)
        assert (code, out) == (3, "")
        assert "There is no" in err


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    "words",
    [
        ("add", "x" * 300, "--user", "bob", "--role", "viewer"),
        ("add", "x", "--user", "", "--role", "viewer"),
        ("add", "x", "--user", "bob"),
        ("add", "x", "--user", "bob", "--role", "viewer", "--scope", "everything"),
        ("add", "x", "--user", "bob", "--role", "viewer", "--expires-in", "soon"),
        ("add", "x", "--user", "bob", "--role", "viewer", "--expires-in", "0s"),
        ("end", "abc"),
    ],
)
def test_an_invalid_key_is_refused_with_code_2(cli: Run, words: tuple[str, ...]) -> None:
    code, out, _ = cli("keys", *words)
    assert (code, out) == (2, "")


@pytest.mark.usefixtures("database")
def test_what_was_done_is_listed_newest_first(cli: Run) -> None:
    first = cli(*MADE, "--json").json
    cli("keys", "end", first["id"])
    entries = cli("audit", "ls", "--target", first["id"], "--json").json["items"]
    assert [entry["act"] for entry in entries] == ["key.end", "key.add"]
    page = cli("audit", "ls", "--target", first["id"], "--limit", "1", "--json").json
    rest = cli("audit", "ls", "--target", first["id"], "--cursor", page["next"], "--json").json
    assert [entry["act"] for entry in rest["items"]] == ["key.add"]
    heading, line, *_ = cli("audit", "ls", "--act", "key.end").out.splitlines()
    assert heading.split() == ["AT", "USER", "ACT", "TARGET", "BY"]
    assert line.split()[2:4] == ["key.end", first["id"]]
    assert cli("audit", "ls", "--user", "nobody").out == "No audit entries.\n"
    assert cli("audit", "ls", "--limit", "0").code == 2
    assert cli("audit", "ls", "--cursor", "x").code == 2
