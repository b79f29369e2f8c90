"""Who asked for an execution: the person whom four-eyes rules exclude, and whom questions go to."""

from __future__ import annotations

from layover.core.trigger_limits import REQUESTER


def requester_of(user: str | None, trigger: object) -> str | None:
    """Return who asked for an execution that a user has started.

    A trigger starts executions as a user of its own. If a person gave it the input by hand, they have asked for it.
    Callers can give an execution any `trigger`, but none can start it as a trigger.
    """
    if user is not None and user.startswith(REQUESTER) and isinstance(trigger, dict):
        by = trigger.get("by")
        return by if isinstance(by, str) and by else user
    return user
