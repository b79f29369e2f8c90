"""What every store says in the same words when it does not take a command or an answer."""

from __future__ import annotations

from layover.ports.records import Refusal


def unknown_execution(execution_id: str) -> Refusal:
    """There is nothing to command."""
    return Refusal("unknown_execution", f"There is no execution {execution_id}.")


def execution_closed(status: str) -> Refusal:
    """What is over takes no more commands."""
    return Refusal("execution_closed", f"The execution is {status}.")


def superseded(workflow: str) -> Refusal:
    """What was to be done to executions of a workflow is no longer wanted."""
    return Refusal("superseded", f"The workflow `{workflow}` has been changed meanwhile.")


def unknown_point(point_id: str) -> Refusal:
    """There is nothing to answer."""
    return Refusal("unknown_point", f"There is no pause point {point_id}.")


def point_closed(status: str) -> Refusal:
    """Nobody waits for the answer any more."""
    if status == "expired":
        return Refusal("point_expired", "The time to answer has passed.")
    if status == "applied":
        return Refusal("already_answered", "It has been answered already.")
    return Refusal("point_closed", "Nobody waits for this answer any more.")
