"""What seeds have found, each as a script of its own: a seed is good for one commit, a script for all that follow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.runtime.settings import RuntimeSettings
from layover.testing.simulation.mishaps import Mishaps
from layover.testing.simulation.mixture import Mixture
from layover.testing.simulation.running import run
from layover.testing.simulation.scenario import Scenario, Start
from layover.testing.simulation.wire import Fate, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import pytest

    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import Ran, World

LEASE = 10.0  # seconds
FLOW = {"name": "parcel", "nodes": [{"id": "weigh", "type": "weigh"}]}


async def weigh() -> None:
    """Take longer than any lease that is not renewed."""
    await asyncio.sleep(2 * LEASE)


class HeldReplies:
    """The line of an instance whose requests of some kinds are done at once, and answered when it is mended."""

    def __init__(self, life: Life, kinds: tuple[str, ...], until: float) -> None:
        self._life = life
        self._kinds = kinds
        life.deaf_until = until
        life.disturb(until)

    def fate(self, life: Life, name: str) -> Fate | None:
        """Return what becomes of a request on this line; replies that are held come in the order of the kinds."""
        now = life.loop.time()
        if life is not self._life or now >= life.deaf_until:
            return None
        is_held = name in self._kinds
        return Fate(now + 0.001, life.deaf_until + 0.001 * self._kinds.index(name) if is_held else now + 0.002)


class Script:
    """Plays what is written instead of what a seed draws."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, play: Callable[[Script], Coroutine[None, None, None]]) -> None:
        self.held: HeldReplies | None = None
        self.world: World
        usual = Wire._fate  # noqa: SLF001 - that is what is replaced

        def begin(mishaps: Mishaps) -> None:
            self.world = mishaps._world  # noqa: SLF001 - as above
            self.world.outside.begin(play(self))

        def fate(wire: Wire, name: str) -> Fate:
            held = self.held.fate(wire._life, name) if self.held is not None else None  # noqa: SLF001 - as above
            return held or usual(wire, name)

        monkeypatch.setattr(Mishaps, "begin", begin)
        monkeypatch.setattr(Wire, "_fate", fate)

    def run(self) -> Ran:
        """Play it."""
        settings = RuntimeSettings(lease_ttl=int(LEASE * 1000))
        # Clocks that may be set: the script does it.
        mixture = Mixture(instances=2, executions=0, minutes=2, slow=0.0, clock_steps=1e9, settings=settings)
        return run(1, Scenario([FLOW], [weigh], lambda *_: Start("parcel"), cancels=False), mixture, traces=True)


def test_what_is_created_after_a_leap_of_the_clock_that_was_not_heard_of_is_not_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The creation has the old time: by the database's time its lease would be over as soon as it is written."""

    async def play(script: Script) -> None:
        world = script.world
        first = world.instances.ready()[0]
        begun = world.loop.time()
        script.held = HeldReplies(first, ("appends.commit", "now", "claims.claim", "claims.renew"), begun + 1.5 * LEASE)
        world.clock.step(int(1.6 * LEASE * 1000))
        await asyncio.sleep(0.8 * LEASE)
        engine = first.engine
        assert engine is not None
        first.begin(engine.executions.start("parcel"))

    ran = Script(monkeypatch, play).run()
    assert not ran.broken, "\n".join([*map(str, ran.broken), *ran.lines])
    assert dict(ran.statuses) == {"completed": 1}


PARENT = {"name": "parent", "nodes": [{"id": "kid", "type": "workflow", "workflow": "child"}]}
CHILD = {"name": "child", "settings": {"max_recoveries": 1}, "nodes": [{"id": "weigh", "type": "weigh"}]}


def test_a_parent_that_fails_with_a_child_that_kills_its_instances_is_not_its_victim() -> None:
    settings = RuntimeSettings(lease_ttl=2_000, recovery_backoff=1, suspect_alone=1)
    mixture = Mixture(instances=2, executions=1, minutes=20, deadly_calls=1.0, settings=settings)
    scenario = Scenario([CHILD, PARENT], [weigh], lambda *_: Start("parent"), cancels=False)
    ran = run(1, scenario, mixture, traces=True)
    assert not ran.broken, "\n".join([*map(str, ran.broken), *ran.lines])
    assert ran.statuses["failed"] > 1  # operators retry them, in vain until calls kill nothing any more
