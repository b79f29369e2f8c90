"""`layover settings`, and settings of a file and of the environment in the commands that use them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from layover.cli.main import app, tell_more
from layover.config.table import GROUPS, table

if TYPE_CHECKING:
    from tests.cli.conftest import Run

ENGINE = [row for row in table().values() if row.group == "engine"]
OF_COMMANDS: dict[str, set[str]] = {
    "run": {"engine"},
    "worker": {"engine", "worker", "log"},
    "serve": {"engine", "server", "api", "access", "log"},
    "settings": {str(group) for group in GROUPS} - {"target"},
}


def flags_of(command: str) -> dict[str, str]:
    """Return the flags that a command takes, each with its help."""
    tell_more(command)
    found = app[command].assemble_argument_collection()
    return {name: str(one.parameter.help) for one in found for name in one.names if name.startswith("--")}


@pytest.mark.parametrize("command", OF_COMMANDS)
def test_a_command_has_the_flags_of_the_table_with_its_texts(command: str) -> None:
    flags = flags_of(command)
    wanted = [row for row in table().values() if row.group in OF_COMMANDS[command] and row.has_flag]
    assert wanted
    for row in wanted:
        assert flags[row.flag].startswith(f"{row.about}.")
        assert row.show(row.default) in flags[row.flag]
    secrets = [row.flag for row in table().values() if not row.has_flag]
    assert secrets == ["--admin-key", "--jwt-secret", "--oidc-client-secret", "--link-key"]
    assert not flags.keys() & set(secrets)


def test_every_setting_is_printed_with_where_it_came_from(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("layover.toml").write_text('grace = "3s"\ndb = "postgresql://ada:hush@db/x"\n')
    monkeypatch.setenv("LAYOVER_POLL", "2s")
    monkeypatch.setenv("LAYOVER_ADMIN_KEY", "an-admin-key-for-tests-only")
    ran = cli("settings", "--calls", "7", "--no-jitter", "--json")

    shown = {one["name"]: one for one in ran.json["settings"]}
    assert (ran.code, ran.json["file"]) == (0, "layover.toml")
    assert list(shown) == list(table())
    assert {name: (one["value"], one["where"]) for name, one in shown.items() if one["origin"] != "default"} == {
        "db": ("postgresql://ada:***@db/x", "layover.toml: db"),
        "grace": ("3s", "layover.toml: grace"),
        "poll": ("2s", "LAYOVER_POLL"),
        "calls": ("7", "--calls"),
        "jitter": ("false", "--jitter"),
        "admin_key": ("***", "LAYOVER_ADMIN_KEY"),
    }
    text = cli("settings", "--calls", "7").out
    assert "hush" not in text
    assert all(f" {name} " in text for name in table())
    assert all(title in text for title in GROUPS.values())


def test_an_unknown_name_and_a_wrong_value_end_a_command(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_POL", "2s")
    ran = cli("ls")
    assert (ran.code, ran.out) == (2, "")
    assert "LAYOVER_POL: There is no such setting. Did you mean `LAYOVER_POLL`?" in ran.err
    monkeypatch.delenv("LAYOVER_POL")
    wrong = cli("settings", "--poll", "2")
    assert wrong.code == 2
    assert "--poll: `2` is not allowed. It takes a length of time above zero" in wrong.err
    assert "Did you mean --lease-ttl?" in cli("settings", "--leese-ttl", "2s").err


def test_the_database_of_the_file_is_the_one_that_commands_use(cli: Run, waiting: str) -> None:
    Path("other.toml").write_text('db = "other.db"\n')
    assert cli("ls", "--config", "other.toml").code == 2  # there is none yet
    assert cli("migrate", "--config", "other.toml").code == 0
    assert cli("ls", "--config", "other.toml", "--json").json["items"] == []
    assert waiting in cli("ls", "--config", "other.toml", "--db", "layover.db").out
    assert cli("verify", "--config", "other.toml", "--json").json["executions"] == 0
    assert cli("purge", "--config", "other.toml", "--json").json["executions"] == 0
    Path("other.toml").rename("layover.toml")
    assert waiting not in cli("ls").out


def test_a_run_takes_settings_of_the_engine(cli: Run) -> None:
    Path("rounds.yaml").write_text(
        "name: rounds\nnodes:\n"
        "  - {id: all, type: loop, for_each: input.names, body: [{id: x, type: greet, input: {name: a}}]}\n"
    )
    Path("layover.toml").write_text("max_iterations = 2\n")
    run = ("run", "rounds.yaml", "--nodes", "nodes.py", "--input", '{"names": ["a", "b", "c"]}', "--json")
    assert cli(*run).json["error"]["code"] == "too_many_iterations"
    assert cli(*run, "--max-iterations", "3").json["status"] == "completed"
