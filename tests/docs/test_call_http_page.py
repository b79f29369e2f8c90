"""The page about requests says what is true: its program runs and prints what it shows."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.definitions import check
from layover.nodes import http_errors
from layover.nodes.http_errors import HttpError
from tests.docs.pages import blocks, page

PAGE = page("how-to/call-http.md")


def test_its_program_runs_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(PAGE, "python")
    exec(compile(program, "call-http.md", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(blocks(PAGE, ""))


@pytest.mark.parametrize("block", blocks(PAGE, "yaml"))
def test_its_definitions_are_sound(block: str) -> None:
    assert [p for p in check(block, syntax="yaml").problems if p.severity == "error"] == []


def test_it_tells_of_every_failure() -> None:
    kinds = [kind for kind in vars(http_errors).values() if isinstance(kind, type) and issubclass(kind, HttpError)]
    for kind in kinds:
        if kind is not HttpError:
            again = "yes" if kind.retryable else "never"
            row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{kind.code}` | `{kind.__name__}`"))
            assert f"| {again} |" in row
