"""Tables that can go back.

The state of an execution is a handful of tables. While a command is decided, events are applied to the very state, so
that each step sees the one before it; every write is noted in a shared undo log. Afterwards the undo log is either
forgotten (the events were committed) or played backwards (they were not, or the caller only wanted to know). So
deciding costs what changes, never what exists, and yet leaves no trace until `keep` is called.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeAlias, TypeVar

from msgspec import field

from layover.core.light_structs import LightStruct

K = TypeVar("K")
V = TypeVar("V")

_ABSENT: Final = object()
Overwritten: TypeAlias = tuple[Any, Any, Any]


class UndoLog:
    """The overwritten values since the last mark, newest last: the rows of a table, the key, and the value.

    Every write comes through here, so `note` is the list's own method and not one that calls it. The single values of
    an execution are in no table: what they were is noted with None in place of rows.
    """

    __slots__ = ("_undo", "note", "reverts")

    def __init__(self) -> None:
        self._undo: list[Overwritten] = []
        self.note = self._undo.append
        self.reverts = 0

    def keep(self) -> None:
        """Accept all changes: there is no way back behind this point."""
        self._undo.clear()

    def overwritten(self, table: dict[K, V]) -> dict[K, V]:
        """Return the values that rows of a table had before they were last written or dropped, since `keep`."""
        return {key: value for rows, key, value in self._undo if rows is table and value is not _ABSENT}

    def revert(self) -> Any:
        """Undo all changes to tables since the last `keep`; return what the single values were, if they changed."""
        single = None
        self.reverts += 1
        while self._undo:
            table, key, value = self._undo.pop()
            if table is None:
                single = value
            elif value is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = value
        return single


class Table(LightStruct, Generic[K, V], gc=False):
    """A mapping whose writes go into the undo log. Its order means nothing: keys carry an order where needed.

    It is a light struct because each execution has ten of them. They are kept out of the garbage collector, for which
    thousands of executions at rest would be work: nothing that a table holds refers to a table, or to its execution.
    """

    undo_log: UndoLog
    rows: dict[K, V] = field(default_factory=dict)

    def __getitem__(self, key: K) -> V:
        return self.rows[key]

    def __contains__(self, key: K) -> bool:
        return key in self.rows

    def __len__(self) -> int:
        return len(self.rows)

    def get(self, key: K) -> V | None:
        """Return the row of a key, or None."""
        return self.rows.get(key)

    def put(self, key: K, value: V) -> None:
        """Write a row."""
        rows = self.rows
        self.undo_log.note((rows, key, rows.get(key, _ABSENT)))
        rows[key] = value

    def drop(self, key: K) -> None:
        """Remove a row if it is there."""
        rows = self.rows
        if key in rows:
            self.undo_log.note((rows, key, rows[key]))
            del rows[key]
