"""Code that a page shows is run by a test: a page with Python in it is named by one."""

from __future__ import annotations

from pathlib import Path

from tests.docs.pages import blocks

_TESTS = Path(__file__).parents[1]
_DOCS = _TESTS.parent / "docs"


def test_every_page_with_python_in_it_has_a_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in _TESTS.rglob("test_*page*.py"))
    pages = [path for path in _DOCS.rglob("*.md") if blocks(path.read_text(encoding="utf-8"), "python")]
    assert len(pages) > 10
    assert [str(path.relative_to(_DOCS)) for path in pages if path.stem not in tests] == []
