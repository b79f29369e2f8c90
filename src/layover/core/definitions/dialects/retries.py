"""Retry policies in other spellings.

Two of them: the camelCase one with `waitDuration` in milliseconds, and the one with a `strategy`, whose durations are
in seconds. `maxAttempts` counts every call, as our `max_attempts` does. A policy in our own spelling is returned as it
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.dialects.lengths import length
from layover.core.definitions.dialects.tree_edits import build_tree, is_false, kebab, label_of, number_of, text_of
from layover.core.definitions.durations import format_duration, parse_duration
from layover.core.definitions.problems import display

if TYPE_CHECKING:
    from layover.core.definitions.problems import Problems
    from layover.core.definitions.tree import Tree

_FOREIGN: Final = frozenset(
    [
        "enabled",
        "maxAttempts",
        "maxRetries",
        "max_retries",
        "waitDuration",
        "exponentialBackoff",
        "backoffMultiplier",
        "maxDelay",
        "maxWaitDuration",
        "retryOn",
        "ignoreExceptions",
        "strategy",
        "initialDelay",
        "initial_delay",
        "fixedDelay",
        "fixed_delay",
        "customDelay",
        "custom_delay",
        "onExhausted",
    ]
)
# These fields mark the camelCase spelling of builders, in which a policy without `enabled` has no effect.
_OFF_BY_DEFAULT: Final = frozenset(["maxAttempts", "waitDuration", "exponentialBackoff", "retryOn", "ignoreExceptions"])
_RENAMED: Final = {
    "maxAttempts": "max_attempts",
    "backoffMultiplier": "multiplier",
    "retryOn": "retry_on",
    "ignoreExceptions": "ignore",
    "onExhausted": "on_exhausted",
}
_DELAYS: Final = ("waitDuration", "initialDelay", "initial_delay", "delay")
_USUAL_CAP = 3_600_000
_LONG_CAP = 30 * 86_400_000
_CAPS: Final = ("maxDelay", "maxWaitDuration", "max_delay")
# strategy: the fields of its delay, the default, and whether it grows
_STRATEGIES: Final[dict[str, tuple[tuple[str, ...], str, bool]]] = {
    "immediate": ((), "0s", False),
    "fixed-delay": (("fixedDelay", "fixed_delay", *_DELAYS), "300s", False),
    "exponential-backoff": (_DELAYS, "60s", True),
    "custom": (("customDelay", "custom_delay", *_DELAYS), "1d", False),
}


def is_foreign_retry(tree: Tree) -> bool:
    """Return whether a policy is in another spelling than ours."""
    return isinstance(tree.value, dict) and not _FOREIGN.isdisjoint(tree.value)


def translate_builder_retry(tree: Tree, problems: Problems) -> Tree | None:
    """Return a retry policy of a builder's node in our spelling, or None if it is switched off, as it is by default."""
    is_theirs = isinstance(tree.value, dict) and not _OFF_BY_DEFAULT.isdisjoint(tree.value)
    if is_theirs and isinstance(tree.value, dict) and not {"enabled", "strategy"} & tree.value.keys():
        problems.warn(
            "retry_disabled", tree.key_place, "In this format a retry is off by default: add `enabled: true` to it."
        )
        return None
    return translate_retry(tree, problems)


def translate_retry(tree: Tree, problems: Problems) -> Tree | None:
    """Return a retry policy in our spelling, or None if it is switched off."""
    if not isinstance(tree.value, dict) or not is_foreign_retry(tree):
        return tree
    fields = dict(tree.value)
    if is_false(fields.pop("enabled", None)):
        return None
    made: dict[str, Tree] = {}
    strategy = fields.pop("strategy", None)
    if strategy is not None:
        _apply_strategy(strategy, fields, made, problems)
    _take_lengths(fields, made, unit="ms" if strategy is None else "s")
    _take_backoff(fields, made)
    _take_retries(fields, made)
    for key, child in fields.items():
        name = _RENAMED.get(key, key)
        made.setdefault(name, _words(child) if name in {"retry_on", "ignore"} else child)
    _raise_cap(made)
    return tree.with_value(made)


def _apply_strategy(strategy: Tree, fields: dict[str, Tree], made: dict[str, Tree], problems: Problems) -> None:
    known = _STRATEGIES.get(kebab(text_of(strategy) or ""))
    if known is None:
        listed = ", ".join(f"`{name.replace('-', '_')}`" for name in _STRATEGIES)
        problems.add("bad_value", strategy.place, f"`strategy` is one of {listed}, not {display(strategy)}.")
        return
    spellings, default, grows = known
    written = next((fields.pop(name) for name in spellings if name in fields), None)
    made["delay"] = build_tree(default, strategy) if written is None else length(written, "s")
    if not grows:
        fields.pop("multiplier", None)
        made["multiplier"] = build_tree(1, strategy)


def _take_lengths(fields: dict[str, Tree], made: dict[str, Tree], unit: str) -> None:
    for name, spellings in (("delay", _DELAYS), ("max_delay", _CAPS)):
        for spelling in spellings:
            if spelling in fields:
                made.setdefault(name, length(fields.pop(spelling), unit))


def _take_backoff(fields: dict[str, Tree], made: dict[str, Tree]) -> None:
    backoff = fields.pop("exponentialBackoff", None)
    if backoff is not None and is_false(backoff):
        fields.pop("multiplier", None)
        made["multiplier"] = build_tree(1, backoff)


def _take_retries(fields: dict[str, Tree], made: dict[str, Tree]) -> None:
    for spelling in ("maxRetries", "max_retries"):
        written = fields.get(spelling)
        retries = number_of(written)
        if written is not None and isinstance(retries, int):
            made["max_attempts"] = build_tree(retries + 1, written)
            del fields[spelling]


def _raise_cap(made: dict[str, Tree]) -> None:
    """Give a delay that is longer than our usual cap a cap of its own: the other spellings have none."""
    delay = made.get("delay")
    if delay is None or "max_delay" in made:
        return
    try:
        longest = parse_duration(text_of(delay) or "")
    except ValueError:
        return
    if longest > _USUAL_CAP:
        made["max_delay"] = build_tree(format_duration(max(longest, _LONG_CAP)), delay)


def _words(tree: Tree) -> Tree:
    """Return a list of texts: `429` may be written as a number, and one alone without the list."""
    if isinstance(tree.value, list):
        return tree.with_value([child.with_value(label_of(child) or child.value) for child in tree.value])
    word = label_of(tree)
    return tree if word is None else tree.with_value([tree.with_value(word)])
