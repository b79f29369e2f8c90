"""Ids for the nodes that a translation adds, and ports for branches with free names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.core.definitions.kinds import ID_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable

_ID = re.compile(ID_PATTERN)
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]+")


class FreshIds:
    """Gives out ids that no node of a document has."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def take(self, ids: Iterable[str]) -> None:
        """Mark ids as used."""
        self._taken.update(ids)

    def named(self, wanted: str) -> str:
        """Return the wanted id, with a number behind it if it is in use."""
        if wanted not in self._taken:
            self._taken.add(wanted)
            return wanted
        return self.numbered(wanted)

    def numbered(self, stem: str) -> str:
        """Return the stem with the first number behind it, from 2, that is not in use."""
        number = self._next.get(stem, 2)
        while f"{stem}-{number}" in self._taken:
            number += 1
        self._next[stem] = number + 1
        made = f"{stem}-{number}"
        self._taken.add(made)
        return made


def port_name(label: str) -> str:
    """Return the port for the label of a branch: the label itself, or the nearest text that is a valid id."""
    if _ID.fullmatch(label):
        return label
    return f"case-{_OUTSIDE.sub('-', label).strip('-') or 'empty'}"


def is_id(text: str) -> bool:
    """Return whether a text is a valid id."""
    return _ID.fullmatch(text) is not None
