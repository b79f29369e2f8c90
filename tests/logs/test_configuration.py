"""`configure_logging`: what it changes, and what it leaves alone."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, Any

import pytest

from layover import Engine, configure_logging
from layover.errors import InvalidInput
from layover.logs.configuration import levels_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.logs.conftest import Written


async def test_an_engine_configures_nothing(tmp_path: Path) -> None:
    def all_of() -> object:
        loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict] + [logging.root]
        changed = [one for one in loggers if one.handlers or one.level]
        return {one.name: (one.level, tuple(one.handlers), one.propagate) for one in changed}

    before = all_of()
    async with Engine(f"sqlite:///{tmp_path}/db"):
        assert all_of() == before
    assert all_of() == before


def test_configuring_again_replaces_what_was_configured(written: Written) -> None:
    others = list(logging.root.handlers)
    first = io.StringIO()
    configure_logging("debug,layover.claimer=error", stream=first)
    written.configure("warning")
    assert len(logging.root.handlers) == len(others) + 1
    assert logging.getLogger("layover.claimer").level == logging.NOTSET
    logging.getLogger("shop").warning("once")
    assert first.getvalue() == ""
    assert [line["event"] for line in written.lines] == ["once"]


def test_levels_may_be_given_for_single_loggers(written: Written) -> None:
    written.configure("warning,layover.claimer=debug")
    logging.getLogger("layover.claimer").debug("seen")
    logging.getLogger("layover.driver").info("not seen")
    assert [line["event"] for line in written.lines] == ["seen"]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("info", {"": 20}),
        ("DEBUG", {"": 10}),
        (30, {"": 30}),
        ("layover.driver=debug", {"": 20, "layover.driver": 10}),
        (" warning , a.b = error ,", {"": 30, "a.b": 40}),
        ("", {"": 20}),
    ],
)
def test_levels(level: str | int, expected: dict[str, int]) -> None:
    assert levels_of(level) == expected


@pytest.mark.parametrize("wrong", [{"level": "loud"}, {"level": "a=b=loud"}, {"format": "xml"}])
def test_what_cannot_be_configured_is_refused_and_changes_nothing(wrong: dict[str, Any]) -> None:
    before = list(logging.root.handlers), logging.root.level
    with pytest.raises(InvalidInput, match=r"unknown (level|format)"):
        configure_logging(**wrong)
    assert (list(logging.root.handlers), logging.root.level) == before


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_has_colours_unless_its_user_wants_none(
    written: Written, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    written.stream = _Terminal()
    written.configure("info", "text")
    logging.getLogger("shop").warning("hello")
    assert ("\x1b[" in written.text) == coloured


def test_a_stream_that_cannot_be_written_fails_nothing(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    written.configure()
    written.stream.close()
    logging.getLogger("shop").warning("hello")
