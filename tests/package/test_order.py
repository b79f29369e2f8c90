"""What finds that something goes through a set in the order of its hashes.

That nothing in the source does so is seen by `test_scripts.py`, which runs the check as `make check` does.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType  # noqa: TC003 - it is what a fixture returns

import pytest

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_order", _ROOT / "tools" / "check_order.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_order"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "code",
    [
        "for one in {1, 2}: pass",
        "found = list(set(given))",
        "names = frozenset(given)\nfound = [name for name in names]",
        "def f(names: frozenset[str]):\n    return tuple(names)",
        "def f(names: set[str] | None):\n    return ', '.join(names)",
        "class A:\n    kept: set[str]\n    def f(self):\n        return [*self.kept]",
        "def f(self):\n    self.kept: set[str] = set()\n    return [*self.kept]",
        "def names() -> frozenset[str]: ...\nfound = {name: 1 for name in names()}",
        "for key in one.keys() - other.keys(): pass",
        "first, second = {1, 2}",
        "if (left := one | {2}):\n    found = dict.fromkeys(left)",
        "def f():\n    yield from {1, 2}",
        "async def f(names: set[str]):\n    return enumerate(names.union(given))",
    ],
)
def test_an_iteration_over_a_set_is_found(checker: ModuleType, code: str) -> None:
    assert len(_found(checker, code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "for one in sorted({1, 2}): pass",
        "found = any(one for one in {1, 2})",
        "found = {one for one in {1, 2}}",
        "found = {*set(given), 3}",
        "if one in (*frozenset(given), 3): pass",
        "for key in one.keys(): pass",
        "def f(names: list[str]):\n    return tuple(names)",
        "names = set(given)\nnames = sorted(names)\nfound = list(names)",
        "found = len({1, 2})",
    ],
)
def test_what_has_an_order_or_needs_none_is_not(checker: ModuleType, code: str) -> None:
    assert _found(checker, code) == []


def _found(checker: ModuleType, code: str) -> list[object]:
    tree = ast.parse(code)
    found: list[object] = checker.found_in(Path("code.py"), tree, code, checker.Known([tree]))
    return found
