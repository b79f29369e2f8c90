"""The page about verifying says what is true: its program runs, and it names every code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from tests.docs.pages import blocks, page

PAGE = page("how-to/verify.md")
_SOURCES = (Path(__file__).parents[2] / "src" / "layover" / "runtime" / "maintenance").glob("verify*.py")


def test_its_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(PAGE, "python")
    exec(compile(program, "verify.md", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - our own page
    assert capsys.readouterr().out == "1 execution, 0 violations\n"


def test_every_code_is_there() -> None:
    codes = {code for path in _SOURCES for code in re.findall(r'BrokenLaw\(\s*"(\w+)"', path.read_text())}
    assert len(codes) > 30
    assert {code for code in codes if f"`{code}`" not in PAGE} <= {"unreadable"}
