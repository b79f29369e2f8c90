"""What must happen soon, unless something prevents it: what is owned is driven, and what is due is taken up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from layover.ports.records import Head
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.oracle import Oracle
    from layover.testing.simulation.world import World

_SOON = 1.5  # seconds in which what is claimed is driven, and what is lost noticed
_IN_TOUCH = 5.0  # seconds since the last disturbance, after which it explains nothing
_A_WHILE = 5.0  # seconds beyond what the settings say, in which due work is taken up


class Timeliness:
    """Looks now and then, and knows since when something is as it should not be."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self._world = world
        self._oracle = oracle
        self._idle: dict[tuple[str, int], float] = {}  # what is owned and not driven, since when
        self._due: dict[Hashable, float] = {}  # what is due and not taken up, since when

    def look(self) -> None:
        """Look at everything."""
        now = self._world.loop.time()
        self._look_for_idle(now)
        self._look_for_due(now)

    def _look_for_idle(self, now: float) -> None:
        idle: dict[tuple[str, int], float] = {}
        time = self._world.database.clock()
        owners = {life.name: life for life in self._world.instances.alive if self._is_in_touch(life, now)}
        for id_, head in self._world.database.heads.items():
            if head.owner is None or (life := owners.get(head.owner)) is None:
                continue
            has_lease = head.wake_at is not None and head.wake_at > time  # else it is due for every instance
            if life.reads_until.get(id_, 0.0) > now - _SOON:
                continue  # replies that are slow one after the other: it has claimed it, and reads it
            if has_lease and life.instance is not None and id_ not in life.instance.driver.active:
                since = idle[id_, head.epoch] = self._idle.get((id_, head.epoch), now)
                if now - since > _SOON:
                    seen = f"{life.name} owns {id_} ({head.status}) and does not drive it"
                    self._oracle.breaks("OWNED_IS_DRIVEN", seen)
        self._idle = idle

    @staticmethod
    def _is_in_touch(life: Life, now: float) -> bool:
        """Return whether a process has no reason to own what it does not drive."""
        if life.dead or life.instance is None or life.faulty_until > now - _IN_TOUCH:
            return False
        return life.releases_until <= now - _SOON  # else it gives back what it has claimed, one by one

    def _look_for_due(self, now: float) -> None:
        world = self._world
        settings = world.mixture.settings
        due: dict[Hashable, float] = {}
        patience = (settings.poll + settings.lease_ttl) / 1000 + _A_WHILE
        if now < world.heals_at + patience or not world.instances.has_room():
            self._due = {}
            return
        for what, told, longest in self._all_due(patience):
            since = due[what] = self._due.get(what, now)
            if now - since > longest:
                self._oracle.breaks("PROMPT", told)
        self._due = due

    def _all_due(self, patience: float) -> Iterator[tuple[Hashable, str, float]]:
        """Return what is due: what it is, how it is told, and for how long it may be."""
        database, settings = self._world.database, self._world.mixture.settings
        now, of_outbox = database.clock(), settings.outbox_poll / 1000 + _A_WHILE
        for id_, head in database.heads.items():
            if not head.missing and head.takeovers == 0 and _is_due(head, now):
                told = f"{id_} ({head.workflow}, {head.status}) is due and nobody takes it up"
                yield (id_, head.last_seq), told, patience
        for key, message in database.outbox.items():
            if message.due_at <= now:
                yield (key, message.due_at), f"a message ({message.kind}) of {message.sender} is due", of_outbox
        for signal_id in sorted(database.undispatched):
            yield signal_id, f"the signal {signal_id} is told to nobody", of_outbox + 1


def _is_due(head: Head, now: int) -> bool:
    return head.status not in CLOSED and head.wake_at is not None and head.wake_at <= now
