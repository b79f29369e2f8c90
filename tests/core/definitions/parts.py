"""The small parts of a definition: durations, texts for people, fields of builders, retry policies, people, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from .places import mappings, plain_text, templates, values

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from .places import Place

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}


def milliseconds() -> SearchStrategy[int]:
    return st.sampled_from([0, 1, 999, 1_000, 90_000, 3_600_000, 90_061_001, 7 * 86_400_000, 10**12])


def durations(least: int = 0) -> SearchStrategy[str]:
    """Generate a duration in one of its notations."""
    return milliseconds().filter(lambda number: number >= least).flatmap(spellings)


@st.composite
def spellings(draw: DrawFn, number: int) -> str:
    """Generate a way to write a number of milliseconds."""
    if draw(st.booleans()):
        seconds, rest = divmod(number, 1000)
        days, seconds = divmod(seconds, 86_400)
        return f"P{days}DT{seconds // 3600}H{seconds % 3600 // 60}M{seconds % 60}.{rest:03}S"
    smallest = draw(st.sampled_from([unit for unit, size in _UNITS.items() if number % size == 0]))
    if draw(st.booleans()):
        return f"{number // _UNITS[smallest]}{smallest}"
    written = ""
    for unit, size in _UNITS.items():
        count, number = divmod(number, size)
        if count:
            written += f"{count}{unit}"
    return written or "0s"


def short_text() -> SearchStrategy[str]:
    return plain_text(8)


def extra_fields() -> SearchStrategy[dict[str, object]]:
    """Generate the fields that a builder keeps for itself: often none."""
    keys = st.sampled_from(["x-color", "x-", "x-ui: #1"])
    filled = st.dictionaries(keys, values(None, 1), min_size=1, max_size=2)
    return st.one_of(st.just({}), st.just({}), filled)


@st.composite
def retries(draw: DrawFn) -> dict[str, Any]:
    """Generate a retry policy."""
    delay, longest = sorted((draw(milliseconds()), draw(milliseconds())))
    words = st.lists(st.sampled_from(["5xx", "429", "CardRefused", "mod.Error_2"]), max_size=2)
    fields: dict[str, Any] = {
        "max_attempts": draw(st.just("forever") | st.integers(1, 1_000_000_000)),
        "delay": draw(spellings(delay)),
        "max_delay": draw(spellings(longest)),
        "multiplier": draw(st.integers(1, 1000) | st.floats(1, 1000)),
        "jitter": draw(st.sampled_from([0, 0.0, 0.25, 1])),
        "retry_on": draw(words),
        "ignore": draw(words),
        "on_exhausted": draw(st.sampled_from(["fail", "pause"])),
    }
    kept = draw(st.integers(0, 2 ** len(fields) - 1))
    retry = {name: value for bit, (name, value) in enumerate(fields.items()) if kept >> bit & 1}
    bounds = {1_000 if "delay" not in retry else delay, 3_600_000 if "max_delay" not in retry else longest}
    if len(bounds) == 2 and not {"delay", "max_delay"} <= set(retry):
        retry |= {"delay": fields["delay"], "max_delay": fields["max_delay"]}
    return retry


@st.composite
def people(draw: DrawFn, place: Place) -> dict[str, Any]:
    """Generate at least somebody."""
    names = st.lists(templates(place).filter(bool), min_size=1, max_size=3)
    fields: dict[str, SearchStrategy[Any]] = {
        "users": names,
        "roles": names,
        "expression": templates(place).filter(bool),
    }
    chosen = draw(st.integers(1, 7))
    return {name: draw(field) for bit, (name, field) in enumerate(fields.items()) if chosen >> bit & 1}


def schemas() -> SearchStrategy[object]:
    """Generate a JSON Schema for an answer."""
    return st.sampled_from(
        [
            {},
            True,
            {"type": "object", "required": ["size"], "properties": {"size": {"enum": ["S", "M", 3, None, 1.5]}}},
            {"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 3},
            {"oneOf": [{"type": "integer"}, {"const": "${not a template}"}]},
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "default": {"a": [1]}},
        ]
    )


def headers(place: Place) -> SearchStrategy[dict[str, object]]:
    return mappings(place, 0)
