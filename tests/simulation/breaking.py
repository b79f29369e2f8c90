"""How the runtime is broken on purpose: one name is replaced, mostly by the same function with other text in it.

An edit that does not find its text any more is an error, so that the lists of mutants stay true.
"""

from __future__ import annotations

import inspect
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from layover.runtime.dispatch import driver
from layover.runtime.execution import leg_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Change = tuple[Any, str, Any]


def edited(owner: Any, name: str, *edits: tuple[str, str]) -> Change:
    """Return a function of a module or a class with other text in it."""
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in edits:
        if source.count(old) != 1:
            raise AssertionError(f"{function.__qualname__} has {source.count(old)} times what is to be edited: {old}")
        source = source.replace(old, new)
    made: dict[str, Any] = {}
    exec(compile(source, f"<broken {name}>", "exec"), function.__globals__, made)  # noqa: S102 - it is our own code
    return owner, name, made[name]


def first_inputs_edited(*edits: tuple[str, str]) -> Change:
    """Return what a leg begins with, edited, where the driver uses it."""
    return driver, "first_inputs", edited(leg_start, "first_inputs", *edits)[2]


def replaced(owner: Any, name: str, value: Any) -> Change:
    """Return something else in the place of a name."""
    return owner, name, value


def without_effect(owner: Any, name: str) -> Change:
    """Return a function that does nothing."""
    return owner, name, lambda *_args, **_named: None


@contextmanager
def broken(changes: Sequence[Change]) -> Iterator[None]:
    """Break the runtime in one way, for a while."""
    undo: list[Callable[[], object]] = []
    try:
        for owner, name, value in changes:
            patch = mock.patch.object(owner, name, value)
            patch.start()
            undo.append(patch.stop)
        yield
    finally:
        for one in undo:
            one()
