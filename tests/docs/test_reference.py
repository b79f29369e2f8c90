"""The reference says what is in the code, and leaves nothing out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_TOOLS = Path(__file__).parents[2] / "tools"


_PAGES = [
    *("node_types_reference", "http_reference", "settings_reference", "errors_reference", "metrics_reference"),
    "log_reference",
]


@pytest.mark.parametrize("name", _PAGES)
def test_the_page_is_the_one_that_is_made(name: str) -> None:
    spec = importlib.util.spec_from_file_location(name, _TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.page(), f"run python tools/{name}.py"


def test_every_code_has_a_cause_and_a_remedy() -> None:
    spec = importlib.util.spec_from_file_location("errors_reference", _TOOLS / "errors_reference.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    told = [code for table in tool.TABLES.values() for code in table]
    assert sorted(told) == sorted(tool.source_codes())
    sentences = [text for table in tool.TABLES.values() for remedy in table.values() for text in remedy]
    assert [text for text in sentences if not text.endswith((".", ")"))] == []
