"""`layover triggers`: the same on a database and on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

TICK = """
name: tick
triggers:
  - {name: often, type: schedule, every: 1h, data: {x: 1}}
  - {name: sent, type: signal, signal: never.sent, input: "${trigger.data.nothing}"}
nodes: [{id: a, type: end, output: "${input}"}]
"""


@pytest.fixture
def registered(cli: Run) -> None:
    Path("tick.yaml").write_text(TICK)
    assert cli("run", "tick.yaml").code == 0


@pytest.mark.usefixtures("registered")
def test_triggers_are_listed_shown_and_explained(cli: Run) -> None:
    listed = cli("triggers", "ls", "--workflow", "tick", "--json").json["items"]
    assert [(one["name"], one["type"], one["state"]) for one in listed] == [
        ("often", "schedule", "active"),
        ("sent", "signal", "active"),
    ]
    assert "tick/often" in cli("triggers", "ls").out
    assert "every: 1h" in cli("triggers", "show", "tick/often").out
    assert len(cli("triggers", "next", "tick/often", "--count", "3").out.splitlines()) == 3
    assert "It is due at" in cli("triggers", "why", "tick/often").out


@pytest.mark.usefixtures("registered")
def test_a_trigger_is_paused_and_resumed(cli: Run) -> None:
    assert cli("triggers", "pause", "tick/often", "--reason", "Holidays").out == "tick/often is paused.\n"
    assert cli("triggers", "show", "tick/often", "--json").json["reason"] == "Holidays"
    assert cli("triggers", "resume", "tick/often").out.startswith("tick/often is active; it is due at ")
    assert cli("triggers", "resume", "tick/often").code == 4


@pytest.mark.usefixtures("registered")
def test_a_trigger_is_fired_and_tried(cli: Run) -> None:
    tried = cli("triggers", "fire", "tick/often", "--data", '{"x": 2}', "--dry-run", "--json").json
    assert (tried["status"], tried["input"]) == ("dry_run", {"x": 2})
    fired = cli("triggers", "fire", "tick/often", "--id", "mine", "--json").json
    assert fired["status"] in ("started", "pending")  # on a database, an instance that drives starts it
    (one,) = cli("triggers", "inputs", "tick/often", "--json").json["items"]
    assert one["input_id"] == "mine"
    assert "mine" in cli("triggers", "inputs", "tick/often").out


@pytest.mark.usefixtures("registered")
def test_a_backfill_is_tried_and_a_wrong_range_is_refused(cli: Run) -> None:
    words = ("triggers", "backfill", "tick/often", "--from", "2026-01-01")
    assert "2 occurrences would start" in cli(*words, "--to", "2026-01-01T02:00", "--dry-run").out
    assert cli(*words, "--to", "soon").code == 2


@pytest.mark.usefixtures("registered")
def test_unknown_triggers_and_occurrences_have_their_exit_codes(cli: Run) -> None:
    assert cli("triggers", "show", "tick/other").code == 3
    assert cli("triggers", "discard", "tick/often", "nothing").code == 3
    assert cli("triggers", "next", "tick/sent").code == 4


@pytest.mark.usefixtures("registered")
def test_only_a_poll_is_rewound_and_a_cursor_is_given_once(cli: Run) -> None:
    assert cli("triggers", "rewind", "tick/often", "17").code == 4
    assert cli("triggers", "rewind", "tick/often").code == 2
    assert cli("triggers", "rewind", "tick/often", "17", "--to-beginning").code == 2


@pytest.mark.usefixtures("registered")
def test_a_trigger_is_made_changed_and_deleted(cli: Run) -> None:
    made = cli("triggers", "create", "tick", '{"name": "weekly", "type": "schedule", "cron": "0 0 * * SUN"}')
    assert made.out.startswith("tick/weekly is active; it is due at ")
    assert cli("triggers", "create", "tick", '{"name": "weekly", "type": "schedule", "every": "1h"}').code == 4
    assert cli("triggers", "update", "tick/weekly", '{"type": "schedule", "every": "2h"}').code == 0
    assert "every: 2h" in cli("triggers", "show", "tick/weekly").out
    assert cli("triggers", "update", "tick/often", '{"type": "schedule", "every": "2h"}').code == 4
    assert cli("triggers", "delete", "tick/weekly").out == "tick/weekly is deleted.\n"
    assert cli("triggers", "delete", "tick/often").code == 4
    assert cli("triggers", "create", "tick", '"weekly"').code == 2


@pytest.mark.usefixtures("registered")
def test_an_address_is_printed_once_when_it_is_made(cli: Run) -> None:
    made = cli("triggers", "create", "tick", '{"name": "paid", "type": "webhook", "verify": {"scheme": "token"}}')
    assert "The webhook tick/paid is at /hooks/t/1" in made.err
    assert "/hooks/t/" not in cli("triggers", "show", "tick/paid").out
    rotated = cli("triggers", "rotate-token", "tick/paid", "--grace", "1h", "--json").json["address"]
    assert rotated.startswith("/hooks/t/1")
    assert rotated not in made.err
    assert cli("triggers", "rotate-token", "tick/often").code == 4


@pytest.mark.usefixtures("registered")
def test_all_rejected_inputs_are_tried_once_more(cli: Run) -> None:
    assert cli("triggers", "replay", "tick/sent", "--all").out == "0 rejected inputs tried once more.\n"
    assert cli("triggers", "replay", "tick/sent", "--all", "--json").json == {"replayed": 0, "next": None}
    assert cli("triggers", "replay", "tick/sent").code == 2
