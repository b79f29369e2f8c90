"""The pages about signals and callbacks say what is true: their programs run and print what they show."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.definitions import check
from tests.docs.pages import blocks, page

PAGES = {name: page(f"how-to/{name}.md") for name in ("wait-for-signals", "callbacks")}


@pytest.mark.parametrize("name", PAGES)
def test_their_programs_run_and_print_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(PAGES[name], "python"):
        exec(compile(block, f"{name}.md", "exec"), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(blocks(PAGES[name], ""))


@pytest.mark.parametrize("block", [block for text in PAGES.values() for block in blocks(text, "yaml")])
def test_their_definitions_are_sound(block: str) -> None:
    assert [p for p in check(block, syntax="yaml").problems if p.severity == "error"] == []
