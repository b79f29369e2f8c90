"""What an instance remembers of inputs that were never stored: the last ones, so that `why` can name them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, NamedTuple, TypeVar

_MOST: Final = 1_000  # triggers

T = TypeVar("T")


class RefusedDeliveryNote(NamedTuple):
    """The last delivery to a trigger that proved nothing."""

    at: int
    reason: str
    skew: int | None


class FilteredNote(NamedTuple):
    """How many inputs the filter of a trigger did not let pass, since when, and the part that was false last."""

    number: int
    since: int
    at: int
    part: str


class TriggerNotes(Generic[T]):
    """One note for each of the triggers that had one last."""

    def __init__(self) -> None:
        self._notes: OrderedDict[str, T] = OrderedDict()

    def get(self, trigger_id: str) -> T | None:
        """Return what is noted of a trigger."""
        return self._notes.get(trigger_id)

    def set(self, trigger_id: str, note: T) -> None:
        """Note something of a trigger; of too many, the oldest is forgotten."""
        self._notes[trigger_id] = note
        self._notes.move_to_end(trigger_id)
        if len(self._notes) > _MOST:
            self._notes.popitem(last=False)


class FilteredNotes(TriggerNotes[FilteredNote]):
    """What filters did not let pass."""

    def add(self, trigger_id: str, part: str, now: int) -> None:
        """Note one more input."""
        known = self.get(trigger_id) or FilteredNote(0, now, now, part)
        self.set(trigger_id, FilteredNote(known.number + 1, known.since, now, part))
