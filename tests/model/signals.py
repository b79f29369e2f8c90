"""The third model: a signal comes while a wait for it is being opened.

Neither knows of the other. Both are rows, and under READ COMMITTED nobody sees a row before its commit. Each side
writes and commits its row, then looks for the other's, tells the execution of what it found, and then notes that it has
looked: the signal is no longer undispatched, the message that asks for the scan leaves the outbox. A process that is
killed forgets; whoever comes by finds the row without its note, looks again, and may tell what was told before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .rules import Invariant, Rule
from .search import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

Which = Literal["signal", "wait"]


class Side(NamedTuple):
    """One of the two rows, and the process that handles it."""

    row: Literal["absent", "written", "committed"] = "absent"
    noted: bool = False  # that somebody has looked: the signal is dispatched, the scan is out of the outbox
    found: bool | None = None  # what the process saw when it looked; None: it has not
    told: bool = False  # the process has told the execution of what it found
    remembers: bool = True  # the process is the one that wrote the row


class Mailbox(NamedTuple):
    """Everything, at one moment."""

    signal: Side = Side()
    wait: Side = Side()
    matches: int = 0
    crashes: int = 1

    def with_side(self, which: Which, side: Side) -> Mailbox:
        """Change one of the two."""
        return self._replace(signal=side) if which == "signal" else self._replace(wait=side)


class SignalAndWait:
    """The protocol between a signal and a wait, or that without one of its rules."""

    def __init__(self, without: Rule | None = None) -> None:
        self._without = without

    def initial(self) -> Mailbox:
        """Begin with neither."""
        return Mailbox()

    def broken(self, mailbox: Mailbox) -> Invariant | None:
        """Return what is wrong with a state."""
        return Invariant.SIGNAL_MEETS_ONCE if mailbox.matches > 1 else None

    def is_end(self, mailbox: Mailbox) -> bool:
        """Both are there and have met."""
        return mailbox.matches > 0 and mailbox.signal.noted and mailbox.wait.noted

    def steps(self, mailbox: Mailbox) -> Iterator[Step[Mailbox]]:
        """Yield all that anybody can do now."""
        yield from self._side(mailbox, "signal", mailbox.signal, mailbox.wait)
        yield from self._side(mailbox, "wait", mailbox.wait, mailbox.signal)

    def _side(self, mailbox: Mailbox, which: Which, side: Side, other: Side) -> Iterator[Step[Mailbox]]:
        sees = other.row == "committed"
        looks_early = self._without is Rule.LOOK_AFTER_COMMIT
        may_look = side.remembers or self._without is not Rule.LOOK_UNTIL_RECORDED
        if side.row == "absent":
            yield Step("written", f"{which}: is written", mailbox.with_side(which, side._replace(row="written")))
        elif side.row == "written" and looks_early and side.found is None:
            looked = mailbox.with_side(which, side._replace(found=sees))
            yield Step("looked", f"{which}: before its commit it sees {_what(sees)}", looked)
        elif side.row == "written" and looks_early:
            found = self._tell(mailbox, which, side._replace(row="committed"))
            yield Step("committed", f"{which}: commits", _note(found, which))
        elif side.row == "written":
            committed = mailbox.with_side(which, side._replace(row="committed"))
            yield Step("committed", f"{which}: commits", committed)
        elif not side.noted and side.found is None and may_look:
            looked = mailbox.with_side(which, side._replace(found=sees))
            yield Step("looked", f"{which}: after its commit it sees {_what(sees)}", looked)
        elif not side.noted and side.found and not side.told:
            yield Step("told", f"{which}: tells the execution of the other", self._tell(mailbox, which, side))
        elif not side.noted and side.found is not None:
            yield Step("noted", f"{which}: notes that it has looked", _note(mailbox, which))
        if mailbox.crashes and side.row != "absent" and not side.noted:
            less = mailbox._replace(crashes=mailbox.crashes - 1)
            # An open transaction is rolled back, and its sender tries again.
            left = Side() if side.row == "written" else side._replace(found=None, told=False, remembers=False)
            yield Step("crashed", f"{which}: its process is killed", less.with_side(which, left), obliged=False)

    def _tell(self, mailbox: Mailbox, which: Which, side: Side) -> Mailbox:
        new = side.found and (mailbox.matches == 0 or self._without is Rule.MATCH_IS_UNIQUE)
        told = mailbox.with_side(which, side._replace(told=bool(side.found)))
        return told._replace(matches=mailbox.matches + bool(new))


def _note(mailbox: Mailbox, which: Which) -> Mailbox:
    side = mailbox.signal if which == "signal" else mailbox.wait
    return mailbox.with_side(which, side._replace(noted=True))


def _what(sees: bool) -> str:
    return "the other" if sees else "nothing"
