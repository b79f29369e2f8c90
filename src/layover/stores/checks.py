"""What is refused in the same way by every store, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.ids import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.records import Append


def checked_appends(appends: Sequence[Append]) -> tuple[Append, ...]:
    """Return appends that name executions, each of them once; its caller may do with the sequence what it likes."""
    names = [append.execution_id for append in appends]
    check_ids(names)
    if len(set(names)) != len(names):
        raise ValueError("A commit may hold one append for each execution, not several.")
    check_ids(a.new.parent_id for a in appends if a.new is not None and a.new.parent_id is not None)
    return tuple(appends)


def check_ids(execution_ids: Iterable[str]) -> None:
    """Refuse what is not the id of an execution."""
    for execution_id in execution_ids:
        key(execution_id)


def at_most(limit: int) -> int:
    """Return how many rows are wanted: a negative limit asks for none, not for all."""
    return max(limit, 0)
