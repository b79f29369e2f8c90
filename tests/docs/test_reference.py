"""The reference says what is in the code, and leaves nothing out."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import msgspec
import pytest

from layover.runtime.settings import Settings
from tests.docs.pages import page

_TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.parametrize("name", ["node_types_reference", "http_reference"])
def test_the_page_is_the_one_that_is_made(name: str) -> None:
    spec = importlib.util.spec_from_file_location(name, _TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.page(), f"run python tools/{name}.py"


def test_every_setting_is_there_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*?) \|", page("runtime.md"), re.MULTILINE))
    fields = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    assert rows.keys() == fields.keys()
    plain = {name: default for name, default in fields.items() if type(default) is int}
    written = {
        name: rows[name].replace(",", "") for name in plain if rows[name][0].isdigit() and "day" not in rows[name]
    }
    assert {name: int(text) for name, text in written.items()} == {name: plain[name] for name in written}
    assert len(written) > 15
