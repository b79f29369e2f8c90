"""Whether a node gives its function the arguments that the function takes.

This is known where the input is written as a mapping, or left out. The result of an expression is known only at run
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree


class Parameters(msgspec.Struct, frozen=True):
    """The arguments that a function takes by name, and what there is for calls of it that are lost."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    takes_others: bool = False  # it has `**`
    for_lost_calls: frozenset[str] | None = None  # `probe` and `undo`, those that it has; None if that is not known


def check_arguments(
    problems: Problems, function: str, parameters: Parameters, node: Tree, field: str = "input"
) -> None:
    """Report the arguments that a call lacks, and those that its function does not take."""
    written = node.get(field)
    given: Mapping[str, Tree] = {}
    if written is not None and written.value is not None:
        if not isinstance(written.value, Mapping):
            return
        given = written.value
    known = (*parameters.required, *parameters.optional)
    for name, value in given.items():
        if name not in known and not parameters.takes_others:
            what = f"`{function}` takes no argument `{name}`: {_list_arguments(known)}"
            problems.unknown("unknown_argument", value.key_place, what, name, known)
    missing = [name for name in parameters.required if name not in given]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        what = f"`{function}` needs {listed}: give {'it' if len(missing) == 1 else 'them'} in `{field}`."
        problems.add("missing_argument", (written or node).place, what)


def _list_arguments(known: tuple[str, ...]) -> str:
    return "it takes " + (", ".join(f"`{name}`" for name in known) if known else "none")
