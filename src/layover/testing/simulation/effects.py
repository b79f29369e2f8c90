"""What functions do to the world outside, recorded in a simulated run: a law says that it happens once.

An engine repeats a call that was lost with its instance, since it cannot know how far it got. So a function that has
an effect needs something that makes the second time harmless: an idempotency key for the system outside, a probe, an
undo, or a person who looks. `effect` stands where the function has it, and shows whether one is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from layover.logs.context import current_ids
from layover.testing.errors import TestKitError
from layover.testing.simulation.lives import LIFE

if TYPE_CHECKING:
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World


class _Effect(NamedTuple):
    """One effect: who had it, when, in which attempt of which node, and under which key."""

    instance: str
    at: float
    node: str
    attempt: int
    key: str | None

    def __str__(self) -> str:
        return f"{self.instance} at {self.at:.3f} s (attempt {self.attempt} of `{self.node}`)"


class Effects:
    """What was done outside in one run, by execution."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._had: dict[tuple[str, str], list[_Effect]] = {}  # by execution and name

    def have(self, life: Life, name: str, key: str | None) -> None:
        """Record an effect of the call that is under way; the same key again is no second effect."""
        ids = current_ids()
        execution, node = str(ids.get("execution", "")), str(ids.get("node", ""))
        one = _Effect(life.name, self._world.loop.time(), node, int(str(ids.get("attempt", 0))), key)
        others = self._had.setdefault((execution, name), [])
        self._world.counts["effects"] += 1
        if key is not None and any(other.key == key for other in others):
            self._world.noted(life, f"repeats the effect {name} of {execution} under its key")
            return
        self._world.noted(life, f"has the effect {name} of {execution}")
        if others:
            seen = f"{name} of {execution} happened twice: by {others[-1]}, and by {one}"
            self._world.oracle.breaks("EFFECT_ONCE", seen)
        others.append(one)

    def take_back(self, life: Life, name: str) -> None:
        """Forget an effect of the execution whose call is under way, if it has had it: it may be had again."""
        execution = str(current_ids().get("execution", ""))
        if self._had.pop((execution, name), None) is not None:
            self._world.noted(life, f"takes back the effect {name} of {execution}")

    def has_happened(self, execution: str, name: str) -> bool:
        """Return whether an execution has had an effect."""
        return (execution, name) in self._had

    def were_had_by(self, execution: str, node: str) -> bool:
        """Return whether a node of an execution has had any effect."""
        return any(of == execution and one.node == node for (of, _), all_ in self._had.items() for one in all_)


def effect(name: str, *, idempotency_key: str | None = None) -> None:
    """Record that a function has an effect outside here, such as a charge: once in an execution under one name.

    In a simulation, an effect that happens again breaks the law EFFECT_ONCE, unless it comes with the idempotency key
    of the first one: a system that takes such keys ignores what it has done before. Elsewhere it does nothing.
    """
    life = LIFE.get()
    if life is not None:
        life.world.effects.have(life, name, idempotency_key)


def had_effect(name: str) -> bool:
    """Return whether the execution of this call has had an effect, in a simulation: what a probe asks the outside."""
    life = LIFE.get()
    if life is None:
        raise TestKitError("There is no simulation here that records effects.")
    return life.world.effects.has_happened(str(current_ids().get("execution", "")), name)


def undo_effect(name: str) -> None:
    """Record that an undo takes an effect back, if it was had: the same call may then have it again.

    Elsewhere than in a simulation it does nothing.
    """
    life = LIFE.get()
    if life is not None:
        life.world.effects.take_back(life, name)
