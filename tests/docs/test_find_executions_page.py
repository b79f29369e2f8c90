"""The page about finding executions says what is true: its program prints what is there, its conditions can be read."""

from __future__ import annotations

import shlex
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from layover.cli.main import run_command
from layover.core.input_index import MOST_BYTES, MOST_DEPTH
from tests.docs.pages import blocks, page

PAGE = page("how-to/find-executions.md")


def test_its_program_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for program, printed in zip(blocks(PAGE, "python"), blocks(PAGE, ""), strict=True):
        exec(compile(program, "find-executions.md", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - ours
        assert capsys.readouterr().out == printed
    commands = "\n".join(blocks(PAGE, "console"))
    found = []
    for line in filter(None, commands.splitlines()):
        _, _, *words = shlex.split(line)
        how = [] if words[:2] == ["views", "delete"] else ["--json"]
        assert run_command([*words, "--db", "sqlite:///orders.db", *how]) == 0
        found.append(capsys.readouterr().out.count('"workflow": "order"'))
    assert found == [1, 1, *14 * [0]]


def test_its_bounds_are_those_that_hold() -> None:
    assert f"at most {MOST_BYTES:,} bytes" in PAGE
    assert f"at most {MOST_DEPTH} levels" in PAGE
