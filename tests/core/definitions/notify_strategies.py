"""Valid notifications of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.notifications import OCCASIONS, POINT_OCCASIONS

if TYPE_CHECKING:
    from .dice import Dice

_TEXTS = ("plain", "${event.kind}", "${point.title} of ${workflow}: ${link}", "${execution.input.a}")
_TO = ("requester", "user:ann", "role:lead of all", "ann@example.org")


def notify(dice: Dice) -> list[dict[str, Any]]:
    """Return a few notifications."""
    return [_rule(dice) for _ in range(dice.integer(0, 3))]


def notify_secrets(found: list[dict[str, Any]]) -> list[str]:
    """Return the secrets that notifications need to be declared."""
    return ["ERP_HOOK", "ERP_OLD"] if any(isinstance(one["via"], dict) for one in found) else []


def _rule(dice: Dice) -> dict[str, Any]:
    of_points = dice.chance()
    kinds = dice.several(POINT_OCCASIONS if of_points else OCCASIONS, 1, 3)
    to = [*dice.several(_TO, 0, 2), *(["people"] if of_points and dice.chance() else [])]
    return {
        "on": kinds,
        **dice.some({"to": lambda: to}),
        "via": dice.pick(("ops-chat", "mail", _inline(dice))),
        **dice.some({"message": lambda: {**dice.some({"subject": lambda: "About"}), "text": dice.pick(_TEXTS)}}),
    }


def _inline(dice: Dice) -> dict[str, Any]:
    secrets = ["ERP_HOOK", {"name": "ERP_HOOK"}, {"name": "ERP_OLD", "until": "2027-01-31T08:00:00Z"}]
    return {"webhook": "https://erp.example/hook", **dice.some({"secret": lambda: dice.several(secrets, 1, 2)})}
