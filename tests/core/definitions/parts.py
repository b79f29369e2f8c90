"""The small parts of a definition: durations, fields of builders, retry policies, people, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .places import template, value

if TYPE_CHECKING:
    from .dice import Dice
    from .places import Place

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_LENGTHS = (0, 1, 999, 1_000, 90_000, 3_600_000, 90_061_001, 7 * 86_400_000, 10**12)

SCHEMAS: tuple[object, ...] = (
    {},
    True,
    {"type": "object", "required": ["size"], "properties": {"size": {"enum": ["S", "M", 3, None, 1.5]}}},
    {"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 3},
    {"oneOf": [{"type": "integer"}, {"const": "${not a template}"}]},
    {"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object", "default": {"a": [1]}},
)


def duration(dice: Dice) -> str:
    """Return a duration in one of its notations."""
    return spelled(dice, dice.pick(_LENGTHS))


def spelled(dice: Dice, number: int) -> str:
    """Return a number of milliseconds in one of the notations."""
    match dice.integer(0, 2):
        case 0:
            written = ""
            for unit, size in _UNITS.items():
                count, number = divmod(number, size)
                written += f"{count}{unit}" if count else ""
            return written or "0s"
        case 1:
            unit = dice.pick([unit for unit, size in _UNITS.items() if number % size == 0])
            return f"{number // _UNITS[unit]}{unit}"
        case _:
            seconds, rest = divmod(number, 1000)
            days, seconds = divmod(seconds, 86_400)
            return f"P{days}DT{seconds // 3600}H{seconds % 3600 // 60}M{seconds % 60}.{rest:03}S"


def extra_fields(dice: Dice) -> dict[str, object]:
    """Return the fields that a builder keeps for itself: often none."""
    if not dice.chance(3):
        return {}
    return {key: value(dice, None, 1) for key in dice.several(("x-color", "x-", "x-ui: #1"), 1, 2)}


def retry(dice: Dice) -> dict[str, Any]:
    """Return a retry policy."""
    if dice.chance(5):
        return {"max_attempts": "forever"}
    delay, longest = sorted((dice.pick(_LENGTHS), dice.pick(_LENGTHS)))
    words = ("5xx", "429", "CardRefused", "mod.Error_2")
    policy: dict[str, Any] = dice.some(
        {
            "max_attempts": lambda: "forever" if dice.chance() else dice.integer(1, 1_000_000_000),
            "multiplier": lambda: dice.pick((1, 1.5, 2.0, 3, 1000)),
            "jitter": lambda: dice.pick((0, 0.0, 0.25, 1)),
            "retry_on": lambda: dice.several(words),
            "ignore": lambda: dice.several(words),
            "on_exhausted": lambda: dice.pick(("fail", "pause")),
        }
    )
    match dice.integer(0, 3):
        case 1 if delay <= 3_600_000:
            policy["delay"] = spelled(dice, delay)
        case 2 if longest >= 1_000:
            policy["max_delay"] = spelled(dice, longest)
        case 3:
            policy |= {"delay": spelled(dice, delay), "max_delay": spelled(dice, longest)}
    return policy


def people(dice: Dice, place: Place) -> dict[str, Any]:
    """Return at least one approver."""

    def names() -> list[str]:
        return [template(dice, place) for _ in range(dice.integer(1, 3))]

    found: dict[str, Any] = dice.some(
        {"users": names, "roles": names, "expression": lambda: template(dice, place) or "ann"}
    )
    return found or {"roles": names()}
