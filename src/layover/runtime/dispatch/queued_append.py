"""Appends that wait for a commit: how many form a group, what a failed commit means, and who gets the outcome."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from layover.core.light_structs import LightStruct
from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.runtime.execution.append_builder import size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Append, Outcome
    from layover.runtime.execution.environment import Told

# What a driver raises about values that it cannot pass on; anything else that is not ours says nothing about them.
_ABOUT_VALUES = (TypeError, ValueError, ArithmeticError)

_log = logging.getLogger("layover.committer")


class QueuedAppend(LightStruct):
    """An append, and the callback for its outcome. The callback leads in a circle, so the garbage collector sees it."""

    append: Append
    told: Told


def leading(waiting: Sequence[QueuedAppend], most: int, most_bytes: int) -> int:
    """Return how many of the first form a group; one that is larger than the limit goes alone."""
    if len(waiting) == 1:
        return 1
    left = most_bytes
    for index, one in enumerate(waiting):
        left -= size_of(one.append)
        if index == most or (left < 0 and index):
            return index
    return len(waiting)


def is_refusal(error: BaseException) -> bool:
    """Return whether a commit failed for what was to be written, so that it would fail again."""
    if isinstance(error, StoreError):
        return not isinstance(error, StoreUnavailable | StoreUnusable)
    return isinstance(error, _ABOUT_VALUES)


def store_error(error: BaseException) -> StoreError:
    """Return the error of a failed commit for its caller; anything but a refusal is worth a retry."""
    if isinstance(error, StoreError):
        return error
    text = f"It cannot be written: {error}."
    return StoreError(text) if is_refusal(error) else StoreUnavailable(f"It could not be written: {error!r}.")


def tell(one: QueuedAppend, outcome: Outcome | StoreError) -> None:
    """Pass the outcome to the callback of an append."""
    try:
        one.told(outcome)
    except Exception:  # noqa: BLE001 - the other writers still get their outcomes
        # What is durable stays so: the next owner of the execution goes on from there.
        _log.exception("outcome_not_taken execution=%s", one.append.execution_id)


def tell_all(group: Sequence[QueuedAppend], outcomes: Sequence[Outcome]) -> None:
    """Pass the outcomes to the callbacks of a group."""
    for one, outcome in zip(group, outcomes, strict=True):
        tell(one, outcome)
