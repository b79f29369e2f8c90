"""The fourth model: a cache of states, which saves the load after a claim.

Who writes into the cache may be fenced a moment later, a write into it may get lost, and a standby that takes over may
lack the database's last append. Whatever a claim takes from the cache must nevertheless be what the log implies. A
state is stood for by the log that made it; an event says under which epoch and with how many commands it was decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .rules import Invariant, Rule
from .search import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAIMS = 3


class Event(NamedTuple):
    """An event, by what its decision was based on."""

    epoch: int
    commands_seen: int


Log = tuple[Event, ...]


class Writer(NamedTuple):
    """An instance under a claim; `decided` is sent but not answered."""

    epoch: int
    log: Log
    decided: Event | None = None


class Shelf(NamedTuple):
    """Everything, at one moment."""

    log: Log = ()
    epoch: int = 0
    commands_seq: int = 0
    cached: Log | None = None
    writers: tuple[Writer | None, Writer | None] = (None, None)
    forgets: int = 1  # how often the database may lose what it has acknowledged
    stale: bool = False  # a state from the cache was not the log's


class StateCache:
    """The cache, or the cache without one of its rules."""

    def __init__(self, without: Rule | None = None, *, forgets: int = 1) -> None:
        self._without = without
        self._forgets = forgets

    def initial(self) -> Shelf:
        """Begin with an empty log."""
        return Shelf(forgets=self._forgets)

    def broken(self, shelf: Shelf) -> Invariant | None:
        """Return what is wrong with a state."""
        return Invariant.CACHE_IS_THE_LOG if shelf.stale else None

    def is_end(self, shelf: Shelf) -> bool:
        """All claims are used up and every writer has heard how it ended."""
        return shelf.epoch == CLAIMS and shelf.writers == (None, None)

    def steps(self, shelf: Shelf) -> Iterator[Step[Shelf]]:
        """Yield all that anybody can do now."""
        if shelf.commands_seq == 0:
            commanded = shelf._replace(commands_seq=1)
            yield Step("commanded", "somebody: enqueues a command", commanded, obliged=False)
        if shelf.forgets and shelf.log:
            standby = shelf._replace(forgets=0, log=shelf.log[:-1])
            yield Step("failed over", "database: fails over to a standby without the last append", standby, False)
        for index in (0, 1):
            writer = shelf.writers[index]
            if writer is None:
                yield from self._claim(shelf, index)
            elif writer.decided is None:
                yield from self._decide(shelf, index, writer)
            else:
                yield from self._commit(shelf, index, writer, writer.decided)

    def _claim(self, shelf: Shelf, index: int) -> Iterator[Step[Shelf]]:
        if shelf.epoch == CLAIMS:
            return
        hit = shelf.cached is not None and self._is_valid(shelf.cached, shelf.log)
        state = shelf.cached if hit and shelf.cached is not None else shelf.log
        claimed = shelf._replace(epoch=shelf.epoch + 1, stale=state != shelf.log)
        line = f"{_NAMES[index]}: claims epoch {claimed.epoch}, {'finds the state in the cache' if hit else 'loads'}"
        yield Step("hit" if hit else "loaded", line, _with_writer(claimed, index, Writer(claimed.epoch, state)))

    def _is_valid(self, cached: Log, log: Log) -> bool:
        """The key of a state is the number of its last event and that event's epoch."""
        if self._without is Rule.CACHE_KEY_HAS_THE_EPOCH:
            return len(cached) == len(log)
        return (len(cached), _last_epoch(cached)) == (len(log), _last_epoch(log))

    def _decide(self, shelf: Shelf, index: int, writer: Writer) -> Iterator[Step[Shelf]]:
        event = Event(writer.epoch, shelf.commands_seq)
        decided = _with_writer(shelf, index, writer._replace(decided=event))
        yield Step("decided", f"{_NAMES[index]}: decides event {len(writer.log) + 1}", decided)
        if self._without is Rule.CACHE_ONLY_ACKNOWLEDGED:
            early = decided._replace(cached=(*writer.log, event))
            yield Step("cached", f"{_NAMES[index]}: decides event {len(writer.log) + 1} and caches the state", early)

    def _commit(self, shelf: Shelf, index: int, writer: Writer, event: Event) -> Iterator[Step[Shelf]]:
        name = _NAMES[index]
        if writer.epoch != shelf.epoch or len(writer.log) != len(shelf.log):
            yield Step("fenced", f"{name}: is refused, drops the execution", _with_writer(shelf, index, None))
        elif event.commands_seen != shelf.commands_seq:
            again = _with_writer(shelf, index, writer._replace(decided=None))
            yield Step("commands moved", f"{name}: is refused, there are new commands", again)
        else:
            log = (*shelf.log, event)
            landed = _with_writer(shelf._replace(log=log), index, None)
            yield Step("landed", f"{name}: commits; what it puts into the cache is lost", landed)
            yield Step("cached", f"{name}: commits and caches the state", landed._replace(cached=log))


_NAMES = ("one", "two")


def _last_epoch(log: Log) -> int:
    return log[-1].epoch if log else 0


def _with_writer(shelf: Shelf, index: int, writer: Writer | None) -> Shelf:
    first, second = shelf.writers
    return shelf._replace(writers=(writer, second) if index == 0 else (first, writer))
