"""The page about failures says what is true: its program prints what is there, and its bounds are those that hold."""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from layover.cli.main import run_command
from layover.nodes.tracebacks import MOST_BYTES
from layover.redaction import redact
from tests.docs.pages import blocks, page

PAGE = page("how-to/find-out-why-it-failed.md")


def test_its_program_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program, hook = blocks(PAGE, "python")
    (printed,) = blocks(PAGE, "")
    exec(compile(program, "order.py", "exec", dont_inherit=True), {"__name__": "page"})  # noqa: S102 - ours
    out = capsys.readouterr().out
    (found,) = re.findall(r"execution (\S+) failed", out)
    (shown,) = re.findall(r"execution (\S+) failed", printed)
    assert out.replace(found, shown) == printed
    (commands,) = blocks(PAGE, "console")
    for line in commands.splitlines():
        words = line.removeprefix("$ layover ").replace("ID", found).split()
        assert run_command([*words, "--db", "sqlite:///orders.db"]) == 0
        assert "price_of" in capsys.readouterr().out
    made: dict[str, object] = {}
    exec(compile(hook, "hook.py", "exec", dont_inherit=True), made)  # noqa: S102 - ours
    mask = made["mask"]
    assert callable(mask)
    assert mask("for ACME Corp") == "for [customer]"


def test_its_bounds_are_those_that_hold() -> None:
    assert f"{MOST_BYTES:,} bytes" in PAGE


def test_what_it_lists_is_masked() -> None:
    for text in (
        "password=x1",
        "token: x1",
        '"secret": "x1"',
        "?api_key=x1",
        "Authorization: x1",
        "Cookie: x1",
        "://u:x1@h",
    ):
        assert "x1" not in redact(text)
