"""The one statement of a group commit, put together from the parts that a group needs.

The parts are in `sql/parts/group_commit.sql`. A group that only moves executions has a short statement. A group that
also begins executions, opens pause points and sends messages has a longer one, but still one. A program uses few
combinations of parts; each is put together once.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from layover.stores.postgres.statements import in_schema, parts

_PARTS = parts("group_commit")
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")

NEW, MOVES, RESTING_MOVES = "new", "moves", "resting_moves"
STARTED_INPUTS = "started_inputs"  # some new executions are started by inputs of triggers
_PENDING = (
    "\n    WHERE execution_id <> ALL(:started_ids::uuid[])"
    " OR (execution_id IN (SELECT execution_id FROM started_inputs)) IS TRUE"
)
LEASED = "leased"  # some new executions are driven: the clock of the server counts for how long
_LEASED = """CASE
            WHEN owner IS NULL THEN wake_at
            ELSE greatest(
                wake_at,
                wake_at - at + (
                    SELECT greatest((extract(EPOCH FROM clock_timestamp()) * 1000)::bigint, max(i.seen_at))
                    FROM layover.instances AS i
                )
            )
        END"""
KEEPING = "keeping"  # some appends made no progress, and keep the count of takeovers
_KEPT = "CASE WHEN h.execution_id = ANY(:keeping::uuid[]) THEN h.takeovers ELSE 0 END"
# The parts that begin executions, and those that move them.
_TABLES = {
    NEW: ("new",),
    MOVES: ("moves", "locked", "moved", "entries"),
    RESTING_MOVES: ("resting_moves", "locked", "moved_or_rested", "entries"),
}
# The parts that write what belongs to executions whose append has passed.
BELONGINGS = (
    "earlier_entries",
    "opened_points",
    "changed_points",
    "started_waits",
    "ended_waits",
    "snapshots",
    "closed_executions",
    "resumed_executions",
    "moved_executions",
    "messages",
    "tokens",
    "audit_entries",
)


class CommitStatement(NamedTuple):
    """A statement, and the names of its values in their order."""

    text: str
    values: tuple[str, ...]


@cache
def commit_statement(schema: str, wanted: frozenset[str]) -> CommitStatement:
    """Return the statement for a group that needs some parts."""
    has_moves = bool(wanted & {MOVES, RESTING_MOVES})
    # Every group inserts heads before it locks heads, so no two groups wait for each other.
    after = "(SELECT count(*) FROM new_heads) >= 0" if NEW in wanted else "TRUE"
    found = [_PARTS[STARTED_INPUTS]] if STARTED_INPUTS in wanted else []
    found += [_PARTS[name] for begin in (NEW, MOVES, RESTING_MOVES) if begin in wanted for name in _TABLES[begin]]
    kept = _KEPT if KEEPING in wanted else "0"
    pending = _PENDING if STARTED_INPUTS in wanted else ""
    wake_at = _LEASED if LEASED in wanted else "wake_at"
    found = [part.replace("{whose_inputs_were_pending}", pending).replace("{wake_at}", wake_at) for part in found]
    tables = [part.replace("{new_heads_are_there}", after).replace("{takeovers}", kept) for part in found]
    kinds = [kind for kind, has in (("new", NEW in wanted), ("moves", has_moves)) if has]
    belongings = [_PARTS[name] for name in BELONGINGS if name in wanted]
    if belongings:
        passed = "\nUNION ALL\n".join(_PARTS[f"passed_{kind}"] for kind in kinds)
        tables += [f"passed AS MATERIALIZED (\n{passed}\n)", *belongings]
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
