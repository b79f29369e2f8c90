"""The page about new versions says what is true: its program prints what is there, and its commands are taken."""

from __future__ import annotations

import shlex
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any, get_args

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from layover.cli.main import run_command
from layover.core.engine.moving import MoveKind, MoveRefusal
from layover.runtime.operations.deploy_plans import MOST_LOOKED_AT
from tests.docs.pages import blocks, page

PAGE = page("how-to/deploy-a-new-version.md")


def test_its_program_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,), (printed,) = blocks(PAGE, "python"), blocks(PAGE, "")
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(program, "deploy.md", "exec", dont_inherit=True), names)  # noqa: S102 - ours
    assert capsys.readouterr().out == printed
    (tmp_path / "order.yaml").write_text(names["after"])
    (commands,) = blocks(PAGE, "console")
    for line in commands.splitlines():
        _, _, *words = shlex.split(line)
        assert run_command([*words, "--db", "sqlite:///orders.db"]) == 0
    said = capsys.readouterr().out
    assert "order: 3 open executions; 0 could move to version 2." in said
    assert "It runs this version already." in said
    assert "move pending" in said
    (tmp_path / "renamed.yaml").write_text(names["after"].replace("name: order", "name: orders"))
    assert run_command(["plan", "renamed.yaml", "--db", "sqlite:///orders.db"]) == 0
    assert "There is no workflow `orders` so far" in capsys.readouterr().err
    assert run_command(["plan", "order.yaml", "--map", "check", "--db", "sqlite:///orders.db"]) == 2
    assert "is not old=new" in capsys.readouterr().err
    assert run_command(["plan", "order.yaml", "--map", "a=b", "--map", "a=c"]) == 2
    assert "`a` is given twice" in capsys.readouterr().err


def test_its_words_and_bounds_are_those_of_the_program() -> None:
    for word in (*get_args(MoveKind), *filter(None, get_args(MoveRefusal))):
        assert f"| `{word}` |" in PAGE
    assert f"up to {MOST_LOOKED_AT:,}" in PAGE
