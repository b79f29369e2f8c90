"""The one statement of a group commit, put together from the parts that a group needs.

Each part is a file in `sql/commit`. A group that only moves executions on has a short statement; one that also begins
some, opens pause points and sends messages has a longer one: still one. The parts that a program uses come in few
combinations, and each is put together once.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from layover.stores.postgres.statements import in_schema, texts

_PARTS = texts("sql/commit")
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")

NEW, MOVES, RESTING_MOVES = "new", "moves", "resting_moves"
KEEPING = "keeping"  # some of them made no progress since they were taken over
_KEPT = "CASE WHEN h.execution_id = ANY(:keeping::uuid[]) THEN h.takeovers ELSE 0 END"
# What is made of those that begin, and of those that move on.
_TABLES = {
    NEW: ("new",),
    MOVES: ("moves", "locked", "moved", "entries"),
    RESTING_MOVES: ("resting_moves", "locked", "moved_or_rested", "entries"),
}
# What belongs to executions whose append has passed.
BELONGINGS = (
    "earlier",
    "opened",
    "changed",
    "waits",
    "unwaited",
    "snapshots",
    "ended",
    "messages",
    "tokens",
    "audited",
)


class CommitStatement(NamedTuple):
    """A statement, and the names of its values in their order."""

    text: str
    values: tuple[str, ...]


@cache
def commit_statement(schema: str, parts: frozenset[str]) -> CommitStatement:
    """Return the statement for a group that needs these parts."""
    has_moves = bool(parts & {MOVES, RESTING_MOVES})
    # Heads that are begun come before heads that are locked, in every group: so no two groups wait for each other.
    after = "(SELECT count(*) FROM new_heads) >= 0" if NEW in parts else "TRUE"
    found = [_PARTS[name] for begin in (NEW, MOVES, RESTING_MOVES) if begin in parts for name in _TABLES[begin]]
    kept = _KEPT if KEEPING in parts else "0"
    tables = [part.replace("{new_heads_are_there}", after).replace("{takeovers}", kept) for part in found]
    kinds = [kind for kind, has in (("new", NEW in parts), ("moves", has_moves)) if has]
    belongings = [_PARTS[name] for name in BELONGINGS if name in parts]
    if belongings:
        won = "\nUNION ALL\n".join(_PARTS[f"won_{kind}"] for kind in kinds)
        tables += [f"won AS MATERIALIZED (\n{won}\n)", *belongings]
    refused = "\nUNION ALL\n".join(_PARTS[f"refused_{kind}"] for kind in kinds)
    return _numbered(in_schema("WITH " + ",\n".join(tables) + "\n" + refused, schema))


def _numbered(text: str) -> CommitStatement:
    """Return a statement whose values have numbers instead of names."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    numbered = _PARAMETER.sub(number, text)
    return CommitStatement(numbered, tuple(names))
