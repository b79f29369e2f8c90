"""The pages about writing nodes and workflows say what is true: their programs run and print what they show."""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.authoring import parts
from layover.core.definitions.node_types import TYPES
from tests.docs.pages import blocks, page

PAGES = {
    name: page(f"how-to/{name}.md")
    for name in ("write-a-node", "write-a-workflow-in-python", "use-it-from-scripts", "simulate")
}


@pytest.mark.parametrize("name", PAGES)
def test_their_programs_run_and_print_what_they_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(PAGES[name], "python"):
        exec(compile(block, f"{name}.md", "exec", dont_inherit=True), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(blocks(PAGES[name], ""))


def test_no_type_of_node_and_no_part_is_left_out() -> None:
    text = PAGES["write-a-workflow-in-python"]
    kinds = [kind.__name__ for kind in parts.Part.__subclasses__()]
    assert {name for name in (*TYPES, "call", *kinds) if not re.search(rf"`{name}`", text)} == set()
