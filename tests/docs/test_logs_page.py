"""The page about logs says what is true: its programs run, and the line that it shows is written."""

from __future__ import annotations

import logging
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import msgspec
import pytest  # noqa: TC002 - as above

from layover.logs.configuration import reset_logging
from tests.docs.pages import blocks, page

PAGE = page("how-to/logs.md")


def test_the_line_of_its_program_is_the_one_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, _ = blocks(PAGE, "python")
    try:
        exec(compile(program, "logs.md", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - our own page
    finally:
        reset_logging()
    lines = [msgspec.json.decode(line) for line in capsys.readouterr().err.splitlines()]
    [line] = [line for line in lines if line["logger"] == "shop"]
    shown = msgspec.json.decode("".join(blocks(PAGE, "json")))
    assert list(line) == list(shown)
    same = line.keys() - {"time", "execution"}
    assert {name: line[name] for name in same} == {name: shown[name] for name in same}


def test_its_own_configuration_works(capsys: pytest.CaptureFixture[str]) -> None:
    _, program = blocks(PAGE, "python")
    before = list(logging.root.handlers)
    try:
        exec(compile(program, "logs.md", "exec", dont_inherit=True), {})  # noqa: S102 - our own page
        logging.getLogger("shop").warning("hello")
    finally:
        logging.root.handlers[:] = before
    assert capsys.readouterr().err == "WARNING hello [  ]\n"
