"""The refusals of commands and answers, in the same words for every store."""

from __future__ import annotations

from layover.ports.records import Refusal


def unknown_execution(execution_id: str) -> Refusal:
    """Refuse a command to an execution that does not exist."""
    return Refusal("unknown_execution", f"There is no execution {execution_id}.")


def execution_closed(status: str) -> Refusal:
    """Refuse a command to an execution that has ended."""
    return Refusal("execution_closed", f"The execution is {status}.")


def superseded(workflow: str) -> Refusal:
    """Refuse a command that was sent for a status that the workflow no longer has."""
    return Refusal("superseded", f"The workflow `{workflow}` has been changed meanwhile.")


def unknown_point(point_id: str) -> Refusal:
    """Refuse an answer to a pause point that does not exist."""
    return Refusal("unknown_point", f"There is no pause point {point_id}.")


def point_closed(status: str) -> Refusal:
    """Refuse an answer to a pause point that is closed."""
    if status == "expired":
        return Refusal("point_expired", "The time to answer has passed.")
    if status == "applied":
        return Refusal("already_answered", "It has been answered already.")
    return Refusal("point_closed", "This pause point is closed and takes no more answers.")
