"""The page about pausing inside a function says what is true: its programs run and print what it shows."""

from __future__ import annotations

import inspect
import re
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.definitions import check
from layover.nodes.context import CallContext, NodeContext, SyncNodeContext
from layover.nodes.registry import Registry
from tests.docs.pages import blocks, page

PAGE = page("how-to/pause-inside-a-function.md")


def test_its_programs_run_and_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(PAGE, "python"):
        exec(compile(block, "pause-inside-a-function.md", "exec"), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == blocks(PAGE, "")[0]
    for name in ("ship", "weigh", "import_rows", "charge"):
        function = names[name]
        assert callable(function)
        Registry().add(function)


@pytest.mark.parametrize("block", blocks(PAGE, "yaml"))
def test_its_definitions_are_sound(block: str) -> None:
    assert [p for p in check(block, syntax="yaml").problems if p.severity == "error"] == []


@pytest.mark.parametrize("kind", [NodeContext, SyncNodeContext])
def test_it_leaves_nothing_out(kind: type[CallContext]) -> None:
    public = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"`[^`\n]*\b{name}\b[^`]*`", PAGE)} == set()
