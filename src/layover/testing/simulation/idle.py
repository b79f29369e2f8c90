"""Polls that find nothing, which are most of what idle instances ask of a database.

A request and its reply are three steps of the event loop. Polls that change nothing and find nothing are mostly
answered in no time instead, so that a run spends its steps on what happens. Nothing is hidden by that: a poll that
would find something travels as any other, and so does every poll on a line that is cut, and one idle poll in five: it
may be lost, late or slow. An answer that takes no time is one that a quick network could give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layover.ports.records import Claim, Head
    from layover.stores.memory.database import MemoryDatabase

POLLS = frozenset({"now", "claims.claim", "outbox.read_due", "commands.find_unread", "triggers.read_due"})
TRAVELS = 0.2  # of the polls that find nothing
TRAVELS_WHILE_DRIVING = 0.5  # of the questions for the time: leases are judged by how late it is told


def finds_nothing(database: MemoryDatabase, name: str, args: tuple[Any, ...]) -> bool:
    """Return whether a request only looks, and there is nothing to be seen."""
    match name:
        case "now":
            return True
        case "claims.claim":
            return not any(_may_be_claimed(head, args[0]) for head in database.heads.values())
        case "outbox.read_due":
            return not database.outbox and not database.undispatched
        case "triggers.read_due":
            return not database.triggers
        case "commands.find_unread":
            heads = database.heads
            return not any(id_ in heads and heads[id_].commands_seq > n for id_, n in args[0])
        case _:
            return False


def until_due(database: MemoryDatabase, most: int) -> int:
    """Return after how many milliseconds something will be due, at most so many; 0 if something is now."""
    if database.outbox or database.undispatched:
        return 0
    now, wait = database.clock(), most
    for head in database.heads.values():
        if head.wake_at is not None and head.wake_at < now + wait:
            wait = head.wake_at - now
        if wait <= 0 or (head.owner is None and head.missing):
            return 0
    return wait


def _may_be_claimed(head: Head, claim: Claim) -> bool:
    if claim.execution_id is not None:
        return head.execution_id == claim.execution_id
    return (head.wake_at is not None and head.wake_at <= claim.now) or (head.owner is None and bool(head.missing))
