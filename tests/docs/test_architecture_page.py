"""The map is true: what the pages for newcomers name is where they say."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parents[2]
_SOURCE = _ROOT / "src" / "layover"
_CODE = re.compile(r"`([^`]+)`")
# What the five tasks put in code without meaning a class or a function: fields, settings, log lines.
_NO_DEFINITIONS = {"BUILT_IN", "Node", "blocked_limit", "lease_lost", "lease_over", "leases_let_go", "recovered"}


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


def _named(text: str) -> Iterator[tuple[str, str]]:
    """Return the files that a text names, each with the names that follow it."""
    path = ""
    for word in _CODE.findall(text):
        if "/" in word or word.endswith((".py", ".md")):
            path = word if word.endswith(".py") else ""
        elif path and re.fullmatch(r"[A-Za-z_.]+", word):
            yield path, word


def _commands() -> set[str]:
    return _definitions(_SOURCE / "core" / "engine" / "commands.py")


def _missing(named: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(path, name) for path, name in named if name not in _definitions(_SOURCE / path) | _commands()]


def test_the_way_of_a_request_names_what_is_there() -> None:
    way = _section("docs/explanation/architecture.md", "The way of one request").split("| --- | --- |", 1)[1]
    named = list(_named(way))
    assert len(named) > 30
    assert _missing(named) == []


def test_the_interface_and_its_backends_are_where_the_page_says() -> None:
    text = _section("docs/explanation/architecture.md", "One interface, two backends")
    named = [(path, name) for name, path in re.findall(r"`(\w+)` \(`([\w/]+\.py)`\)", text)]
    assert {name for _, name in named} >= {"Door", "UserService", "HttpBackend"}
    assert _missing(named) == []


def test_the_five_tasks_name_what_is_there() -> None:
    steps = re.findall(
        r"^\d\. .*?(?=^\d\. |^\*\*|\Z)", _section("CONTRIBUTING.md", "Five tasks"), re.DOTALL | re.MULTILINE
    )
    named = [one for step in steps for one in _named(step) if one[1] not in _NO_DEFINITIONS]
    assert len(named) >= 25
    assert _missing(named) == []


@pytest.mark.parametrize("page", ["docs/explanation/architecture.md", "CONTRIBUTING.md"])
def test_the_layers_are_those_that_the_linter_knows(page: str) -> None:
    contracts = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [re.findall(r"\w+", layer) for layer in contracts["contracts"][0]["layers"]]
    known = [
        name for layer in layers for name in layer if (_SOURCE / name).exists() or (_SOURCE / f"{name}.py").exists()
    ]
    drawing = re.findall(r"^```\n(.*?)^```$", (_ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[0]
    heads = [line.strip(" │").split("  ")[0] for line in drawing.splitlines()]
    shown = [name for head in heads for name in re.findall(r"[a-z_]+", head) if name in known]
    assert shown == known


@pytest.mark.parametrize("title", ["Where things are", "Five tasks", "Generated files"])
def test_the_files_that_contributors_are_sent_to_exist(title: str) -> None:
    words = [word for word in _CODE.findall(_section("CONTRIBUTING.md", title)) if "/" in word and "NNNN" not in word]
    assert words
    assert [word for word in words if not _exists(word)] == []


def _exists(path: str) -> bool:
    return any(any(root.glob(path.rstrip("/"))) for root in (_ROOT, _SOURCE))
