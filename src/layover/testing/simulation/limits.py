"""Limits: who runs has a slot, no more have one than there are, and starts are spread as their rate says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.ports.limit_records import RateLimit
    from layover.testing.simulation.oracle import Oracle
    from layover.testing.simulation.world import World


class Limits:
    """Looks whenever a slot may have been taken or given back."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self._world = world
        self._oracle = oracle
        self._starts: dict[str, list[int]] = {}  # moments, by the name of a rate
        self._known: dict[str, None] = {}  # executions whose moment is noted
        self._limited: dict[str, None] = {}  # executions that have had a place

    def look(self) -> None:
        """Look at everything that is under limits."""
        database = self._world.database
        holders: Counter[str] = Counter()
        for id_, place in database.places.items():
            self._limited[id_] = None
            if place.name is not None and place.held_at is not None:
                holders[place.name] += 1
                if place.most is not None and holders[place.name] > place.most:
                    seen = f"{holders[place.name]} hold slots of {place.name}, which has {place.most}"
                    self._oracle.breaks("LIMIT_HOLDS", seen)
            if place.rate is not None and place.start_at is not None and id_ not in self._known:
                self._known[id_] = None
                self._note_start(place.rate, place.start_at)
        for id_ in list(self._limited):
            status = database.heads[id_].status
            if status in CLOSED:
                del self._limited[id_]  # who is taken up again needs no slot
            elif not self._holds(id_) and self._is_admitted(id_):
                self._oracle.breaks("LIMIT_HOLDS", f"{id_} ({status}) runs and holds no slot")

    def _note_start(self, rate: RateLimit, at: int) -> None:
        """Note the moment of a start: once as many as may begin at once have, each waits for its share of the time."""
        starts = self._starts.setdefault(rate.name, [])
        starts.append(at)
        share = rate.per_ms // rate.limit
        if len(starts) > rate.limit and at < starts[-1 - rate.limit] + share - 1:
            self._oracle.breaks("LIMIT_HOLDS", f"{rate.limit + 1} begin under {rate.name} within {share} ms")

    def _is_admitted(self, id_: str) -> bool:
        events = self._oracle.log(id_)
        reopened = any(isinstance(one, ev.ExecutionReopened) for one in events)
        return not reopened and any(isinstance(one, ev.ExecutionAdmitted) for one in events)

    def _holds(self, id_: str) -> bool:
        place = self._world.database.places.get(id_)
        return place is not None and not place.is_in_line and place.admitted
