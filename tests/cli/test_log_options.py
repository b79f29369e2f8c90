"""What commands log, and in which form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

RUN = ("run", "asking.yaml", "--nodes", "nodes.py", "--input", '{"name": "Ada"}')
BREAK = ("run", "breaking.yaml", "--nodes", "nodes.py", "--input", '{"message": "oh"}')


def test_run_says_by_itself_what_happens_and_logs_nothing_of_it(cli: Run) -> None:
    assert "logger=" not in cli(*RUN).err
    assert "logger=" not in cli(*BREAK).err


@pytest.mark.parametrize(("flag", "seen"), [("-v", {"info"}), ("-vv", {"info", "debug"}), ("-q", set())])
def test_flags_say_how_much_is_logged(cli: Run, flag: str, seen: set[str]) -> None:
    lines = [line for line in cli(*RUN, flag, "--log-format", "json").err.splitlines() if line.startswith("{")]
    assert {msgspec.json.decode(line)["level"] for line in lines} == seen


def test_the_environment_names_levels_and_a_flag_wins_over_it(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_LOG", "error,layover.engine=info")
    monkeypatch.setenv("LAYOVER_LOG_FORMAT", "json")
    lines = [msgspec.json.decode(line) for line in cli(*RUN).err.splitlines() if line.startswith("{")]
    assert {line["event"] for line in lines} == {"engine_opened", "engine_closed"}
    assert "engine_opened" not in cli(*RUN, "-q").err


def test_an_unknown_level_is_refused_with_the_name_of_its_setting(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_LOG", "loud")
    ran = cli(*RUN)
    assert ran.code == 2
    assert "LAYOVER_LOG" in ran.err
    assert "`loud` is not allowed" in ran.err


def test_more_and_less_at_once_are_refused(cli: Run) -> None:
    assert cli(*RUN, "-v", "-q").code == 2
