"""When a test wants its engine to die: at a commit point, counted from the moment at which it says so."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, watch

if TYPE_CHECKING:
    from layover.testing.life import EngineLife


_plans: list[CrashPlan] = []  # those that are under way: one process has one way to die


class CrashPlan:
    """Counts the commit points that are reached, and ends the life that reaches one of those that were named."""

    def __init__(self) -> None:
        self.reached: Counter[CommitPoint] = Counter()
        self.crashes = 0
        self.life: EngineLife | None = None  # without one, what happens does not count
        self._wanted: dict[tuple[CommitPoint, int], int] = {}
        self._lock = threading.Lock()

    def crash_at(self, point: CommitPoint, nth: int = 1) -> None:
        """Crash when a point is reached for the nth time from here on."""
        if nth < 1:
            raise ValueError("`nth` counts from 1.")
        self._wanted[point, self.reached[point] + nth] = nth

    @property
    def never_reached(self) -> list[str]:
        """What was named and did not come, as sentences."""
        return [
            f"The crash at `{point.value}` (nth={nth}) never came: that point was reached "
            f"{nth - (total - self.reached[point])} times after it was asked for."
            for (point, total), nth in self._wanted.items()
        ]

    def begin(self) -> None:
        """Be told of every commit point, until a plan that began later is."""
        _plans.append(self)
        watch(self._on_commit_point)

    def end(self) -> None:
        """Be told no longer; the plan before this one is again."""
        _plans.remove(self)
        watch(_plans[-1]._on_commit_point if _plans else None)  # noqa: SLF001 - one of our own

    def _on_commit_point(self, point: CommitPoint) -> None:
        life = self.life
        if life is None:
            return
        if not life.dead:
            with self._lock:
                self.reached[point] += 1
                if self._wanted.pop((point, self.reached[point]), None) is None:
                    return
                self.crashes += 1
            life.die()
        raise life.killed()
