"""What a running expression can reach: the data it is given, the moment it lives in, and its meter. Nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from layover.core.expressions.limits import Meter


class Moment(msgspec.Struct, frozen=True):
    """Where `now()` and `uuid()` come from, so that the same evaluation gives the same result for ever."""

    now: int = 0
    seed: str = ""


EPOCH: Final = Moment()


class Frame(msgspec.Struct):
    """One evaluation: `slots` hold the variables of the comprehensions that are running."""

    context: Mapping[str, object]
    moment: Moment
    meter: Meter
    slots: list[object]


Run = Callable[[Frame], object]
