"""The page about secrets: its program prints what it says, and its definition is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover import check
from tests.docs.pages import blocks, page

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = page("how-to/use-secrets.md")


def test_the_program_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks(PAGE, "python")
    exec(program, {"__name__": "__main__"})  # noqa: S102 - the page's own program
    assert capsys.readouterr().out == "".join(blocks(PAGE, ""))


def test_the_definition_is_sound() -> None:
    (definition,) = blocks(PAGE, "yaml")
    assert check(definition).problems == ()
