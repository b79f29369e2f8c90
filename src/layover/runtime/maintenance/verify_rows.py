"""The laws of everything derived from a log: the head, the commands, the pause points, the wake time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import schema_of
from layover.core.engine.command_codec import decode_command
from layover.core.engine.commands import Answer
from layover.core.engine.timing import wake_at
from layover.errors import LayoverError
from layover.runtime.maintenance.verify_log import BrokenLaw
from layover.runtime.queries.search_documents import UNREADABLE
from layover.runtime.queries.why import why

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.engine.state import ExecutionState, Point
    from layover.core.search_terms import Terms
    from layover.ports.records import Head, PointRow, QueuedCommand
    from layover.ports.search_records import ExecutionTerms
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.maintenance.verify_log import Ended, Log

_LATER = ("answered_at", "branch", "round")


def check_head(row: ExecutionRow, log: Log) -> Iterator[BrokenLaw]:
    """Check the rows of an execution against the state of its log."""
    head, state = row.head, log.state
    facts = state.facts
    is_stranded = bool(head.missing) and (head.status, state.status) == ("waiting", "running")
    if head.status != state.status and not is_stranded:
        yield BrokenLaw("head_status", f"Its head says {head.status}; its log says {state.status}.")
    if (head.paused_at is not None) != (head.status == "paused"):
        since = "without a start of the pause" if head.paused_at is None else f"and paused since {head.paused_at}"
        yield BrokenLaw("paused_since", f"Its head says {head.status}, {since}.")
    if head.last_epoch > head.epoch:
        yield BrokenLaw("epoch_ahead", f"Its log was written in epoch {head.last_epoch}; its head is in {head.epoch}.")
    if row.resume_count > facts.resume_count:  # it may be less: earlier releases did not count
        counted = f"{row.resume_count} times; its log says {facts.resume_count}"
        yield BrokenLaw("resume_count", f"Its row says that it was resumed {counted}.")
    if row.finished_at != log.finished_at:
        yield BrokenLaw("end_row", f"Its row says that it ended at {row.finished_at}; its log says {log.finished_at}.")
    elif row.closed is not None:
        error_code = facts.error.code if facts.error is not None else ""
        if (row.closed.outcome, row.closed.error_code) != (facts.outcome, error_code):
            ended = f"`{row.closed.outcome}` and `{row.closed.error_code}`"
            yield BrokenLaw("end_row", f"Its row ends with {ended}; its log with `{facts.outcome}` and `{error_code}`.")


def check_rest(head: Head, state: ExecutionState, now: int) -> Iterator[BrokenLaw]:
    """Check the wake time against the state: every rest has a reason, and the right wake time."""
    if head.owner is not None:
        if head.wake_at is None:
            yield BrokenLaw("lease_without_end", f"{head.owner} drives it with a lease that never ends.")
        return
    unread = head.commands_seq > head.commands_done
    due = wake_at(state)
    if state.facts.closed:
        if head.wake_at is not None:
            yield BrokenLaw("wake_wrong", f"It is {state.facts.closed}, and due at {head.wake_at}.")
    elif not why(head, state, now).reasons:
        yield BrokenLaw("stillness", "It waits for nothing, and still does not go on.")
    elif head.wake_at is None:
        if unread:
            yield BrokenLaw("commands_unheard", "It has unread commands, and nothing wakes it.")
        elif not state.resting and not head.missing:  # an instance with a function for it claims it by type
            yield BrokenLaw("stillness", "It has work to do, no instance drives it, and nothing wakes it.")
        elif due is not None:
            yield BrokenLaw("wake_wrong", f"It is due at {due}, and nothing wakes it.")
    elif state.resting and not unread and head.epoch == head.last_epoch and head.wake_at != due:
        # The last writer gave it back. Later an instance may have claimed it in vain, to try again soon.
        yield BrokenLaw("wake_wrong", f"It wakes at {head.wake_at} instead of {due}.")


def check_terms(head: Head, stored: ExecutionTerms | None, found: Terms) -> Iterator[BrokenLaw]:
    """Check the search terms of an execution against those of its log; while it runs, they may be those of before."""
    if stored is None or stored.last_seq != head.last_seq or head.status == "running" or stored.terms == UNREADABLE:
        return
    missing, unknown = len(found - stored.terms), len(stored.terms - found)
    if missing or unknown:
        differs = f"{missing} of its search terms are missing, and {unknown} are not of its log"
        yield BrokenLaw("search_terms", f"It is indexed, and {differs}.")


def check_commands(head: Head, commands: Sequence[QueuedCommand]) -> Iterator[BrokenLaw]:
    """Check the command queue against its counts."""
    if head.commands_done > head.commands_seq:
        yield BrokenLaw("commands_count", f"It has read {head.commands_done} of {head.commands_seq} commands.")
    elif head.status in ("completed", "failed", "cancelled") and head.commands_done < head.commands_seq:
        yield BrokenLaw("commands_left", "It is closed, and has commands that were never read.")
    numbers = [command.n for command in commands]
    if numbers != list(range(1, head.commands_seq + 1)):
        yield BrokenLaw("commands_gap", f"It has the commands {_shorten(numbers)} instead of 1 to {head.commands_seq}.")
    for command in commands:
        if _decoded(command) is None:
            yield BrokenLaw("command_unreadable", f"Its command {command.n} (`{command.kind}`) cannot be read.")
    if head.owner is None and head.wake_at is not None and commands and head.commands_seq > head.commands_done:
        latest = max(command.at for command in commands)
        if head.wake_at > latest:
            yield BrokenLaw("commands_unheard", f"It has commands since {latest}, and wakes at {head.wake_at}.")


def _shorten(numbers: list[int]) -> str:
    return str(numbers) if len(numbers) <= 10 else f"{str(numbers[:10])[:-1]}, … {len(numbers) - 10} more]"


def _decoded(command: QueuedCommand) -> object:
    try:
        return decode_command(command.kind, command.body)
    except (LayoverError, ValueError):
        return None


def check_points(
    head: Head, rows: Sequence[PointRow], commands: Sequence[QueuedCommand], log: Log
) -> Iterator[BrokenLaw]:
    """Check the rows of pause points against the state, and against the ends in the log."""
    found = {row.point.id: row for row in rows}
    answers = {
        given.point
        for command in commands
        if command.n > head.commands_done and isinstance(given := _decoded(command), Answer)
    }
    for id_, point in log.state.points.rows.items():
        row = found.pop(id_, None)
        if row is None:
            yield BrokenLaw("point_missing", f"`{point.node}` waits at the point {id_}, which has no row.")
        elif not _shows(row, point, log.state, reserved=id_ in answers):
            yield BrokenLaw("point_row", f"The row of the point {id_} of `{point.node}` differs from its log.")
    for id_, row in found.items():
        end = log.ended.get(id_)
        if end is None:
            yield BrokenLaw("point_unknown", f"The point {id_} is not in its log.")
        elif not _has_ended(row, end):
            yield BrokenLaw(
                "point_row", f"The point {id_} is {row.status} since {row.closed_at}; its log says {end.how}."
            )
    for id_ in log.ended:
        if id_ not in found:
            yield BrokenLaw("point_missing", f"The point {id_} was visible and has ended, but its row is gone.")


def _shows(row: PointRow, point: Point, state: ExecutionState, *, reserved: bool) -> bool:
    """Return whether a row shows a point; an answer that was taken and not yet read is reserved in the row."""
    if row.closed_at is not None or row.workflow != state.facts.workflow or row.schema != schema_of(state, point):
        return False
    if reserved:
        return row.status == row.point.status
    # An earlier release did not write these fields into the rows of its points.
    left_out = {name: getattr(point, name) for name in _LATER if getattr(row.point, name) is None}
    return (row.status, replace(row.point, **left_out)) == (point.status, point)


def _has_ended(row: PointRow, end: Ended) -> bool:
    return (row.status, row.closed_at) == (end.how, end.at)
