"""The limit under which a schedule starts executions that must not overlap: one at a time, by the trigger's id."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

REQUESTER: Final = "trigger:"  # the users as whom triggers start executions begin with this
_POLICIES: Final[dict[object, Literal["queue", "cancel_running"]]] = {
    "queue": "queue",
    "queue_one": "queue",
    "cancel": "cancel_running",
}


class TriggerLimit(NamedTuple):
    """One execution at a time under a name, and what happens to one more."""

    name: str
    on_conflict: Literal["queue", "cancel_running"]


def trigger_limit(user: str | None, trigger: object) -> TriggerLimit | None:
    """Return the limit of an execution that a schedule with a queue has started; None for any other execution.

    Callers can give an execution any `trigger`, but none can start it as a trigger.
    """
    if user is None or not user.startswith(REQUESTER) or not isinstance(trigger, dict):
        return None
    policy = _POLICIES.get(trigger.get("overlap"))
    return TriggerLimit(f"trigger/{trigger.get('trigger_id')}", policy) if policy is not None else None
