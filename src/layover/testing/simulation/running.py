"""Running a seed, and leaving nothing behind of it."""

from __future__ import annotations

import gc
import logging
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.testing.simulation.mixture import Mixture
    from layover.testing.simulation.scenario import Scenario
    from layover.testing.simulation.world import Ran


_MOST_COLLECTIONS = 4


def run(seed: int, scenario: Scenario, mixture: Mixture | None = None, *, traces: bool = False) -> Ran:
    """Run a seed, with the mixture that it draws or with another."""
    with _by_itself():
        return World(seed, mixture or drawn(seed), scenario, traces=traces).run()


def minimal(seed: int, scenario: Scenario, law: str, mixture: Mixture | None = None) -> Mixture:
    """Return as few kinds of faults as are needed for a seed to break a law: none, one, or those that have to be."""
    needed = mixture or drawn(seed)

    def breaks(fewer: Mixture) -> bool:
        return any(one.law == law for one in run(seed, scenario, fewer).broken)

    for few in ([], *([fault] for fault in needed.faults)):
        if breaks(alone := needed.with_only(few)):
            return alone
    for fault in needed.faults:
        if breaks(fewer := needed.without(fault)):
            needed = fewer
    return needed


@contextmanager
def _by_itself() -> Iterator[None]:
    """Keep what goes on inside to itself.

    Nothing is collected meanwhile: what is let go of runs its `finally`, at a moment that no seed decides. What was
    left in the middle is collected afterwards, and nobody hears what it has to say about that.
    """
    logger, of_loop = logging.getLogger("layover"), logging.getLogger("asyncio")
    before = logger.propagate, of_loop.level, gc.isenabled(), sys.unraisablehook
    level = logger.level
    logger.propagate = False
    logger.setLevel(logging.ERROR)  # lower levels are read by no one
    of_loop.setLevel(logging.CRITICAL + 1)
    gc.disable()
    gc.freeze()  # what was there before is not looked through afterwards
    try:
        yield
    finally:
        sys.unraisablehook = lambda _: None
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        with warnings.catch_warnings(action="ignore"):
            for _ in range(_MOST_COLLECTIONS):  # what ends in one of them lets go of what another finds
                if not gc.collect():
                    break
        gc.unfreeze()
        logging.disable(disabled)
        logger.propagate, collects, sys.unraisablehook = before[0], before[2], before[3]
        of_loop.setLevel(before[1])
        logger.setLevel(level)
        if collects:
            gc.enable()
