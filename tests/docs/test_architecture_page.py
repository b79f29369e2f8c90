"""The map is true: what the pages for newcomers name is where they say."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[2]
_SOURCE = _ROOT / "src" / "layover"
_CODE = re.compile(r"`([^`]+)`")


def _section(page: str, title: str) -> str:
    text = (_ROOT / page).read_text(encoding="utf-8")
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def _definitions(path: Path) -> set[str]:
    """Return the names of classes, functions and methods that a file defines."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = [one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            found.update(f"{node.name}.{one.name}" for one in inner)
    return found


def _named() -> Iterator[tuple[str, str]]:
    """Return the files that the way of a request names, each with the names that follow it."""
    way = _section("docs/explanation/architecture.md", "The way of one request")
    path = ""
    for word in _CODE.findall(way.split("| --- | --- |", 1)[1]):
        if word.endswith(".py"):
            path = word
        elif path:
            yield path, word


def _commands() -> set[str]:
    return _definitions(_SOURCE / "core" / "engine" / "commands.py")


def test_the_way_of_a_request_names_what_is_there() -> None:
    named = [(path, name) for path, name in _named() if name not in _commands()]
    assert len(named) > 25
    assert [(path, name) for path, name in named if name not in _definitions(_SOURCE / path)] == []


@pytest.mark.parametrize("title", ["Where things are", "Generated files"])
def test_the_files_that_contributors_are_sent_to_exist(title: str) -> None:
    words = [word for word in _CODE.findall(_section("CONTRIBUTING.md", title)) if "/" in word and "NNNN" not in word]
    assert words
    assert [word for word in words if not _exists(word)] == []


def _exists(path: str) -> bool:
    return any(any(root.glob(path.rstrip("/"))) for root in (_ROOT, _SOURCE))
