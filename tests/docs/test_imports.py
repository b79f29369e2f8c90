"""Pages and examples import from `layover` and from its public modules, and from nowhere deeper."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.docs.pages import blocks

_ROOT = Path(__file__).parents[2]
_PAGES = [_ROOT / "README.md", *sorted((_ROOT / "docs").rglob("*.md"))]
_EXAMPLES = sorted((_ROOT / "examples").rglob("*.py"))
_PUBLIC = {
    *("layover", "layover.admin", "layover.asgi", "layover.errors"),
    *("layover.logs", "layover.sync", "layover.testing"),
}

paths = pytest.mark.parametrize("path", [*_PAGES, *_EXAMPLES], ids=lambda path: str(path.relative_to(_ROOT)))


def _programs(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [text] if path.suffix == ".py" else blocks(text, "python")


def _imports(program: str) -> list[tuple[str, str]]:
    """Return the modules of ours that a program imports, each with the name that it takes from there."""
    found = []
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            found += [(one.name, "") for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", one.name) for one in node.names]
    return [(module, name) for module, name in found if module.partition(".")[0] == "layover"]


@paths
def test_nothing_is_imported_from_deeper_than_the_public_modules(path: Path) -> None:
    imports = [one for program in _programs(path) for one in _imports(program)]
    assert [one for one in imports if one[0] not in _PUBLIC] == []
    for module, name in imports:
        loaded = importlib.import_module(module)
        assert not name or name in loaded.__all__ or f"{module}.{name}" in _PUBLIC


@paths
def test_sentences_name_no_module_to_import_that_is_deeper(path: Path) -> None:
    if path.suffix == ".py":
        return
    named = set(re.findall(r"from (layover[\w.]*) import", path.read_text(encoding="utf-8")))
    assert named <= _PUBLIC


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_a_page_with_programs_is_named_by_a_test_that_runs_them(path: Path) -> None:
    if not blocks(path.read_text(encoding="utf-8"), "python"):
        return
    tests = [one for one in (_ROOT / "tests").rglob("test_*.py") if one.name != Path(__file__).name]
    assert any(path.stem in one.read_text(encoding="utf-8") for one in tests)
