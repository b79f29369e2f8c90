"""The page about batches says what is true: its program prints what is there, and its commands are taken."""

from __future__ import annotations

import re
import shlex
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from layover.cli.main import run_command
from layover.runtime.batches import batch_runner
from layover.service.batches import MOST_COUNTED
from tests.docs.pages import blocks, page

PAGE = page("how-to/batches.md")


def test_its_program_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,), (printed,) = blocks(PAGE, "python"), blocks(PAGE, "")
    exec(compile(program, "batches.md", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - ours
    assert capsys.readouterr().out == printed
    for commands in blocks(PAGE, "console"):
        for line in commands.splitlines():
            _, _, *words = shlex.split(line)
            assert run_command([*words, "--db", "sqlite:///orders.db"]) == 0
    said = capsys.readouterr().out
    assert "cancel would be done to 1 items" in said
    assert re.search(r"cancel +pending", said)


def test_its_bounds_are_those_that_hold() -> None:
    assert f"{batch_runner.MOST_ITEMS:,} items" in PAGE
    assert f"up to {MOST_COUNTED:,}" in PAGE
