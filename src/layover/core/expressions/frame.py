"""Everything that a running expression can reach: its data, its moment, and its meter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from layover.core.expressions.limits import Meter


class ExpressionTime(msgspec.Struct, frozen=True):
    """The source of `now()`, `next(…)` and `uuid()`, so that the same evaluation always gives the same result."""

    now: int = 0
    seed: str = ""


EPOCH: Final = ExpressionTime()


class Frame(msgspec.Struct):
    """One evaluation: `slots` hold the variables of the comprehensions that are running."""

    context: Mapping[str, object]
    moment: ExpressionTime
    meter: Meter
    slots: list[object]


Run = Callable[[Frame], object]
