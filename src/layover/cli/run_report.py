"""How a run ended: on a database or on a server, in the same words."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from layover.cli.exits import DONE, FAILED, RESTING
from layover.cli.failures import print_failure
from layover.cli.screen import STYLES, brief, note, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover import Execution, PausePoint

_OUTPUT = 10_000


class RunReport(NamedTuple):
    """How a run was left; `answers` are the commands that answer it, and `again` is the one that continues it."""

    execution: Execution
    points: Sequence[PausePoint]
    answers: Sequence[str]
    again: str
    summary: str
    left: str


def report(ended: RunReport, there: Callable[[str], str], *, json: bool) -> int:
    """Print how a run ended, and return its exit code, also if the reader has gone away.

    `there` makes a command one for the place where the execution is.
    """
    with suppress(BrokenPipeError):
        _print_end(ended, there, json=json)
    return {"completed": DONE, "failed": FAILED, "cancelled": FAILED}.get(ended.execution.status, RESTING)


def _print_end(ended: RunReport, there: Callable[[str], str], *, json: bool) -> None:
    execution = ended.execution
    style = STYLES.get(execution.status, "")
    if json:
        print_json(execution if execution.closed else replace(execution, pause_points=tuple(ended.points)))
    elif execution.status == "completed":
        reason = f" ({execution.outcome_reason})" if execution.outcome_reason else ""
        outcome = f": {execution.outcome}{reason}" if execution.outcome != "executed" else ""
        say(f"{execution.id} completed{outcome}", style)
        say(f"output: {brief(execution.output, _OUTPUT)}", most=_OUTPUT + 10)
    elif execution.error is not None:
        where = f" at {execution.error.context_id}" if execution.error.context_id else ""
        print_failure(execution.error)
        say(f"{execution.id} failed{where}: {execution.error.summary()}", style)
        note(f"When the cause is fixed: {there(f'layover retry {execution.id}')}")
    elif execution.closed:
        say(f"{execution.id} {execution.status}: {execution.outcome_reason}", style)
    else:
        _print_rest(ended, there)


def _print_rest(ended: RunReport, there: Callable[[str], str]) -> None:
    execution = ended.execution
    say(f"{execution.id} {execution.status}: {ended.summary}", STYLES.get(execution.status, ""))
    if ended.left:
        why = "You left it" if ended.left == "interrupted" else "The time is up"
        note(f"{why}; nothing of it is lost.")
    for command in ended.answers:
        note(f"  {there(command)}")
    note(f"To continue it: {there(ended.again)}")
