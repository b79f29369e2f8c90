"""`layover destinations`, `deliveries` and `people`: the same on a database and on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

HOOK = json.dumps({"name": "erp", "kind": "webhook", "address": "https://erp.example/hook?key=1", "secret": "ERP_HOOK"})
CHAT = json.dumps({"name": "ops-chat", "kind": "chat", "address": "https://chat.example/T0/hidden"})
TELLING = """
name: telling
notify: [{on: [pause.opened], via: ops-chat}]
nodes: [{id: ok, type: approval, title: May it?}]
"""


@pytest.fixture(autouse=True)
def _database(cli: Run) -> None:
    Path("done.yaml").write_text("{name: done, nodes: [{id: a, type: end}]}")
    assert cli("run", "done.yaml").code == 0


def test_a_destination_is_made_shown_and_deleted(cli: Run) -> None:
    assert cli("destinations", "ls").out == "No destinations.\n"
    assert cli("destinations", "create", HOOK).out == "erp is a webhook destination, active.\n"
    assert cli("destinations", "create", HOOK).code == 4
    Path("chat.json").write_text(CHAT)
    assert cli("destinations", "create", "@chat.json").code == 0
    listed = cli("destinations", "ls", "--json").json["items"]
    assert [(one["name"], one["kind"], one["managed"]) for one in listed] == [
        ("erp", "webhook", False),
        ("ops-chat", "chat", False),
    ]
    assert "webhook  active" in cli("destinations", "ls").out
    assert "secret: " in cli("destinations", "show", "erp").out
    assert cli("destinations", "delete", "erp").out == "erp is deleted.\n"
    assert cli("destinations", "show", "erp").code == 3


def test_the_address_of_a_chat_is_never_shown(cli: Run) -> None:
    cli("destinations", "create", CHAT)
    shown = [cli("destinations", "show", "ops-chat"), cli("destinations", "show", "ops-chat", "--json")]
    shown += [cli("destinations", "ls", "--json"), cli("destinations", "disable", "ops-chat", "--json")]
    assert not any("hidden" in one.out + one.err for one in shown)
    cli("destinations", "create", HOOK)
    assert "key=1" not in cli("destinations", "show", "erp").out


def test_a_destination_is_disabled_updated_and_enabled(cli: Run) -> None:
    cli("destinations", "create", HOOK)
    assert (
        cli("destinations", "disable", "erp", "--reason", "It moves").out == "erp is a webhook destination, disabled.\n"
    )
    assert "disabled: It moves" in cli("destinations", "show", "erp").out
    assert cli("destinations", "enable", "erp", "--json").json["state"] == "active"
    slower = json.dumps({**json.loads(HOOK), "rate": "1/s"})
    assert cli("destinations", "update", "erp", slower).code == 0
    assert "rate: 1/s" in cli("destinations", "show", "erp").out


def test_a_destination_that_cannot_be_used_is_refused(cli: Run) -> None:
    assert cli("destinations", "create", "[]").code == 2
    assert cli("destinations", "create", '{"name": "erp"}').code == 2
    refused = cli("destinations", "create", json.dumps({**json.loads(HOOK), "address": "ftp://erp.example"}))
    assert (refused.code, "address" in refused.err) == (2, True)


def test_a_test_that_is_not_taken_ends_with_code_1(cli: Run) -> None:
    cli("destinations", "create", HOOK)
    tried = cli("destinations", "test", "erp")
    assert (tried.code, tried.out.startswith("erp has not taken the test: ")) == (1, True)
    assert cli("destinations", "test", "erp", "--json").json["kind"] == "test"
    assert cli("destinations", "test", "nowhere").code == 3


def test_a_delivery_is_listed_shown_discarded_and_sent_once_more(cli: Run) -> None:
    cli("destinations", "create", CHAT)
    cli("destinations", "disable", "ops-chat", "--reason", "It moves")
    Path("telling.yaml").write_text(TELLING)
    while not (found := cli("deliveries", "ls", "--json").json["items"]):  # an instance makes it from the log
        assert cli("run", "telling.yaml").code == 10
    one = found[-1]
    assert (one["destination"], one["kind"], one["state"]) == ("ops-chat", "pause.opened", "pending")
    assert "pause.opened" in cli("deliveries", "ls", "--state", "pending", "--destination", "ops-chat").out
    assert one["id"] in cli("deliveries", "ls", "--execution", one["execution_id"]).out
    assert "is pending" in cli("deliveries", "show", one["id"]).out
    assert "`ops-chat` (pause.opened): the destination is disabled (It moves)" in cli("why", one["execution_id"]).out
    assert cli("deliveries", "redeliver", one["id"]).code == 4
    assert cli("deliveries", "discard", one["id"]).out == f"The delivery {one['id']} to ops-chat is discarded.\n"
    assert cli("deliveries", "redeliver", one["id"], "--json").json["state"] == "pending"
    cli("deliveries", "discard", one["id"])
    again = cli("deliveries", "redeliver", "--all", "--state", "discarded", "--destination", "ops-chat")
    assert again.out == "1 delivery sent once more.\n"
    assert cli("deliveries", "redeliver", "--all", "--json").json == {"count": 0, "next": None}


def test_a_delivery_has_to_be_named(cli: Run) -> None:
    assert cli("deliveries", "ls").out == "No deliveries.\n"
    assert cli("deliveries", "redeliver").code == 2
    assert cli("deliveries", "show", "11111111-1111-4111-8111-111111111111").code == 3
    assert cli("deliveries", "redeliver", "--all", "--state", "sent").code == 2
    assert cli("deliveries", "ls", "--limit", "0").code == 2


def test_people_are_saved_shown_and_deleted(cli: Run) -> None:
    assert cli("people", "ls").out == "No people.\n"
    away = ("--away-until", "2999-01-31", "--substitute", "ben")
    saved = cli("people", "save", "ada", "--role", "finance", "--mail", "ada@example.com", *away)
    assert "ada: mail ada@example.com" in saved.out
    assert "until 2999-01-31 00:00:00, ben stands in" in cli("people", "show", "ada").out
    assert cli("people", "ls", "--json").json["items"][0]["roles"] == ["finance"]
    assert cli("people", "save", "ada", "--json").json["addresses"] == {}
    assert cli("people", "save", "ada", "--substitute", "ben").code == 2
    assert cli("people", "save", "ada", "--mail", "no address").code == 2
    assert cli("people", "delete", "ada").out == "ada is deleted.\n"
    assert cli("people", "show", "ada").code == 3
