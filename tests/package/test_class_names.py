"""A public class has a name of its own: who reads it anywhere knows which class is meant.

The classes that share a name all the same are counted below, each with the reason why none of them can be renamed. A
name that is given a second time fails, and so does an entry that is no longer true.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from pathlib import Path

_SOURCE = Path(__file__).parents[2] / "src" / "layover"

_SHARED = {
    "ExecutionCancelled": 2,  # an error; and an event, which is shown to users by the name of its class
    "ExecutionFailed": 2,  # likewise
    "Retry": 2,  # a part of a workflow in Python; and a command, which is stored under the name of its class
}


@functools.cache
def _public_classes() -> dict[str, list[str]]:
    """Return the files that define a public class at their top, by the name of the class."""
    found: dict[str, list[str]] = {}
    for path in sorted(_SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(_SOURCE)))
    return found


def test_no_further_class_shares_its_name_with_another() -> None:
    classes = _public_classes()
    assert len(classes) > 500
    assert {name: where for name, where in classes.items() if len(where) > _SHARED.get(name, 1)} == {}


def test_the_list_of_shared_names_only_shrinks() -> None:
    counts = Counter({name: len(where) for name, where in _public_classes().items()})
    assert {name: counts[name] for name, count in _SHARED.items() if counts[name] < count} == {}, "update `_SHARED`"
