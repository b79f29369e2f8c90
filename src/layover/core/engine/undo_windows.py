"""Undo windows: until when an answer can be taken back, and what a decision that is not final yet counts.

**Windows.** A point with `undo` gives each answer a window that begins when the answer is given. It ends at `final_at`,
whatever happens meanwhile: a pause of an operator does not lengthen it, and an answer that an instance reads late has
less of it left. What a deadline decides has no window.

**In a quorum** each decider has a window of their own. A decision counts from the moment at which it is given, so the
next in a sequence need not wait, and an outcome is reached as if every decision were final. The answer is final when
all decisions are that had a part in it: its `final_at` is the latest of theirs. Until then each decider whose own
window is open may take their decision back. The others stand, in the order in which they were given, and what they add
up to without it is the new outcome: usually the point is open again; where they suffice without it, the answer stays.

**While an answer waits to be final** its point is answered: nobody else can answer, and neither its deadline nor its
reminders act. A point that was taken back is as if that answer had never been given; what came due meanwhile acts then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.approval_rules import RecordedDecision
    from layover.core.engine.state import Point

_MOST_NAMED: Final = 20  # of those who took an answer back


def end_of_window(point: Point, at: int) -> int | None:
    """Return until when an answer that was given at a moment can be taken back; None if it is final at once."""
    return at + point.undo if point.undo else None


def waiting(decisions: Iterable[RecordedDecision]) -> list[RecordedDecision]:
    """Return the decisions that can still be taken back, or are about to become final, by when that is."""
    found = [one for one in decisions if one.final_at is not None and not one.final]
    return sorted(found, key=lambda one: one.final_at or 0)


def final_at(decisions: Iterable[RecordedDecision]) -> int | None:
    """Return when an answer to which decisions add up is final; None if it is that at once."""
    return max((one.final_at for one in waiting(decisions) if one.final_at is not None), default=None)


def next_final(point: Point) -> int | None:
    """Return when a decision at a point, or its answer, is due to become final."""
    if not point.undo:
        return None
    if point.kind == "form":
        return point.final_at if point.is_revocable else None
    due = waiting(point.decisions)
    return due[0].final_at if due else None


def without_answer(point: Point, by: str) -> Point:
    """Return a point as if a person had not answered it; the decisions of others stand."""
    brought = {user: values for user, values in point.brought.items() if user != by}
    variables: dict[str, object] = {}
    for values in brought.values():
        variables |= values
    return replace(
        point,
        status="open",
        port="",
        output=None,
        by=None,
        answered_at=None,
        seen=None,
        final_at=None,
        decisions=tuple([one for one in point.decisions if one.by != by]),
        brought=brought,
        variables=variables,
        taken_back=(*[one for one in point.taken_back if one != by], by)[-_MOST_NAMED:],
    )
