"""What went wrong, as lines: the error with its type, and where it was raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.cli.screen import say
from layover.tracebacks import Traceback, traceback_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import Failure, NodeExecution

_MOST = 10  # nodes whose errors are shown in full
_LINE = 1_200  # characters
_MORE = 50  # lines of a message


def print_failure(error: Failure, margin: str = "") -> None:
    """Print where an error was raised, if that is known."""
    traceback = error.traceback
    if traceback is None or not _is_known(error):
        return
    if traceback.execution_id:
        say(f"{margin}in the execution {traceback.execution_id}, at {traceback.context_id or 'its end'}:", "dim")
    for line in traceback_lines(error.type or error.code, error.message, traceback):
        style = "dim" if line.startswith(" ") else ""
        first, *more = line.splitlines() or [""]
        say(f"{margin}{first}", style, most=_LINE)
        for text in more[:_MORE]:  # of a message
            say(f"{margin}  {text}", style, most=_LINE)


def print_failures(nodes: Sequence[NodeExecution]) -> None:
    """Print where nodes failed: at their last attempt, and at the first if that was elsewhere."""
    failed = [node for node in nodes if any(_is_known(one.error) for one in node.attempts)]
    for node in failed[:_MOST]:
        attempts = [one for one in node.attempts if one.error is not None and _is_known(one.error)]
        first, last = attempts[0], attempts[-1]
        shown = [last] if _same(first.error, last.error) else [first, last]
        for one in shown:
            say(f"{node.context_id}, attempt {one.attempt}:", "bold")
            if one.error is not None:
                print_failure(one.error, "  ")
    if len(failed) > _MOST:
        say(f"  … and {len(failed) - _MOST} more nodes with errors; --json has them all")


def _is_known(error: Failure | None) -> bool:
    """Return whether more is known of an error than its message."""
    traceback = error.traceback if error is not None else None
    return traceback is not None and traceback != Traceback(module=traceback.module)


def _same(one: Failure | None, other: Failure | None) -> bool:
    """Return whether two attempts failed alike; a later one may have kept fewer frames."""
    return _place(one) == _place(other)


def _place(error: Failure | None) -> object:
    traceback = error.traceback if error is not None else None
    if error is None or traceback is None:
        return None
    return error.type, error.message, traceback.frames[-1:], traceback.answer
