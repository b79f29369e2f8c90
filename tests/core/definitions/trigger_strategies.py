"""Valid triggers of every type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parts import duration, extra_fields
from .places import mapping

if TYPE_CHECKING:
    from .dice import Dice

_CRONS = ("30 2 * * MON-FRI", "@daily", "*/15 * * * *", "0 0 29 2 *")
_TEXTS = ("plain", "${trigger.id}", "a ${trigger.data.x} b")


def triggers(dice: Dice) -> list[dict[str, Any]]:
    """Return a few triggers, each with a name of its own."""
    return [_trigger(dice, f"t{number}") for number in range(dice.integer(0, 3))]


def _trigger(dice: Dice, name: str) -> dict[str, Any]:
    of_type = dice.pick((_signal, _schedule, _webhook, _poll))(dice)
    shared = _shared(dice)
    if of_type["type"] == "webhook" and "deliver" not in shared and dice.chance():
        of_type["respond"] = dice.pick(("accepted", "result", "pause"))
    return {"name": name, **shared, **of_type, **extra_fields(dice)}


def secrets_of(found: list[dict[str, Any]]) -> list[str]:
    """Return the secrets that triggers need to be declared."""
    return ["HOOK_KEY", "HOOK_OLD_KEY"] if any("verify" in one for one in found) else []


def _shared(dice: Dice) -> dict[str, Any]:
    return dice.some(
        {
            "description": lambda: dice.text(20),
            "filter": lambda: dice.pick(("trigger.data.a > 1", "true")),
            "input": lambda: dice.pick(({"day": "${trigger.at}"}, 1, "${trigger.data.a}")),
            "tags": lambda: [dice.pick(_TEXTS)],
            "priority": lambda: dice.pick((3, -2, "${trigger.data.priority}")),
            "correlation_id": lambda: dice.pick(_TEXTS),
            "dedup": lambda: duration(dice),
            "max_pending": lambda: dice.integer(1, 1_000_000),
            "deliver": lambda: {"signal": "sent", **dice.some({"key": lambda: dice.pick(_TEXTS)})},
        }
    )


def _signal(dice: Dice) -> dict[str, Any]:
    more = dice.some({"when": lambda: dice.pick(("always", "unmatched")), "id": lambda: dice.pick(_TEXTS)})
    return {"type": "signal", "signal": "taken", **more}


def _webhook(dice: Dice) -> dict[str, Any]:
    signed = dice.pick(
        (
            {"scheme": "none"},
            {"scheme": "stripe", "secret": dice.pick(("HOOK_KEY", ["HOOK_KEY", "HOOK_OLD_KEY"]))},
            {"scheme": "hmac", "header": "X-Signature", "secret": [{"name": "HOOK_KEY", "until": "2031-01-01"}]},
        )
    )
    more = dice.some({"id": lambda: dice.pick(_TEXTS)})
    return {"type": "webhook", "verify": signed, **more}


def _poll(dice: Dice) -> dict[str, Any]:
    more = dice.some(
        {
            "id": lambda: dice.pick(_TEXTS),
            "with": lambda: mapping(dice, None),
            "every": lambda: dice.pick(("1s", "5m")),
            "timeout": lambda: dice.pick(("1s", "1h")),
        }
    )
    return {"type": "poll", "source": "mailbox", **more}


def _schedule(dice: Dice) -> dict[str, Any]:
    times: dict[str, Any] = dice.pick(
        ({"cron": dice.pick(_CRONS)}, {"every": "15m"}, {"at": ["2027-06-01", "2027-01-31T08:00+01:00"]})
    )
    more = dice.some(
        {
            "zone": lambda: dice.pick(("UTC", "Europe/Berlin")),
            "from": lambda: "2026-01-01",
            "until": lambda: "2036-01-01T00:00",
            "times": lambda: dice.integer(1, 1_000_000_000),
            "jitter": lambda: duration(dice),
            "overlap": lambda: dice.pick(("skip", "allow")),
            "catch_up": lambda: {"which": dice.pick(("none", "last", "all")), "within": duration(dice)},
            "data": lambda: mapping(dice, None),
        }
    )
    return {"type": "schedule", **times, **more}
