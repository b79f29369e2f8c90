"""What people and systems outside were told is taken, held against the logs when all is over.

What was not told may have happened, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.signals import awaited_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.signals import SignalReceipt
    from layover.ports.records import Reserved
    from layover.testing.simulation.oracle import Oracle

_ENDS = ev.ExecutionCompleted | ev.ExecutionFailed | ev.ExecutionCancelled


class Reply(NamedTuple):
    """What a callback came to, if it did not fail."""

    output: object


class _Accepted(NamedTuple):
    """What a caller was told is accepted: for which execution, under which key, and its data."""

    execution_id: str
    key: str
    data: object


class _Told(NamedTuple):
    """A signal that an execution was told of, and how far its log went then."""

    execution_id: str
    seq: int
    name: str
    key: str


class Promises:
    """Knows what was told to whom."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._answers: dict[str, dict[str, _Accepted]] = {}  # by point and key
        self._decisions: dict[tuple[str, str], dict[bool, _Accepted]] = {}  # by point and person, and what it is
        self._replies: dict[str, _Accepted] = {}  # by point
        self._signals: list[_Told] = []
        self._new: dict[str, None] = {}  # ids of signals whose sender was told that they are new

    def answered(self, point: str, key: str, data: object, taken: Reserved) -> None:
        """Take note that an answer is accepted; the same again under its key is the same.

        Another one is accepted after the first was taken back.
        """
        known = self._answers.setdefault(point, {})
        if key not in known and len(known) > len(self._taken_back(taken.execution_id, point)):
            before = ", ".join(f"{one.data!r}" for one in known.values())
            self._oracle.breaks("ANSWER_ONCE", f"two answers to {point} were accepted: {before} and {data!r}")
        known.setdefault(key, _Accepted(taken.execution_id, key, data))

    def decided(self, point: str, by: str, taken: Reserved, *, approved: bool) -> None:
        """Take note that a decision is accepted; another one is accepted after the first was taken back."""
        known = self._decisions.setdefault((point, by), {})
        if known and approved not in known and by not in self._taken_back(taken.execution_id, point):
            self._oracle.breaks("ANSWER_ONCE", f"two decisions of {by} at {point} were accepted")
        known.setdefault(approved, _Accepted(taken.execution_id, "", approved))

    def _taken_back(self, execution_id: str, point: str) -> list[str]:
        """Return the people who have taken back an answer to a point, as often as they did, also if that is unread."""
        events = self._oracle.log(execution_id)
        read = [one.by for one in events if isinstance(one, ev.PausePointTakenBack) and one.point == point]
        unread = [one for one in self._oracle.unread(execution_id) if isinstance(one, cmd.TakeBack)]
        return read + [one.by for one in unread if one.point == point]

    def called_back(self, execution_id: str, point: str, reply: Reply | None) -> None:
        """Take note that a reply is accepted, or word of a failure: there is one of them."""
        if point in self._replies:
            self._oracle.breaks("CALLBACK_ONCE", f"two replies to {point} were accepted")
        self._replies[point] = _Accepted(execution_id, "", reply)

    def signalled(self, name: str, key: str, taken: SignalReceipt) -> None:
        """Take note that a signal is taken: under one id it is new once.

        Who repeats it may hear so before the first is told that it was new: its instance may have stood still.
        """
        if not taken.repeated:
            if taken.id in self._new:
                self._oracle.breaks("SIGNAL_ONCE", f"the signal {taken.id} was taken twice")
            self._new[taken.id] = None
        self._signals += [_Told(id_, self._oracle.last_seq(id_), name, key) for id_ in taken.matched]

    # At the end

    def look(self) -> None:
        """Hold everything against the logs."""
        for point, answers in self._answers.items():
            for answer in answers.values():
                found = [one.output for one in self._answers_in_log(answer, point)]
                times = 1 + len(self._taken_back(answer.execution_id, point))
                self._compare("ANSWER_ONCE", f"an answer to {point}", answer, found, point, times)
        for (point, by), decisions in self._decisions.items():
            for decision in decisions.values():
                events = self._oracle.log(decision.execution_id)
                made = [one.decision for one in events if isinstance(one, ev.PausePointDecided) and one.point == point]
                found = [one.approved for one in made if one.by == by]
                times = 1 + self._taken_back(decision.execution_id, point).count(by)
                self._compare("ANSWER_ONCE", f"what {by} decided at {point}", decision, found, point, times)
        for point, reply in self._replies.items():
            found = [None if one.error is not None else Reply(one.output) for one in self._answers_in_log(reply, point)]
            self._compare("CALLBACK_ONCE", f"a reply to {point}", reply, found, point)
        for told in self._signals:
            self._look_at_signal(told)

    def _answers_in_log(self, accepted: _Accepted, point: str) -> list[ev.PausePointAnswered]:
        events = self._oracle.log(accepted.execution_id)
        return [one for one in events if isinstance(one, ev.PausePointAnswered) and one.point == point]

    def _compare(
        self, law: str, what: str, accepted: _Accepted, found: Sequence[object], point: str, times: int = 1
    ) -> None:
        """Look that something accepted is in the log, and no more often than others of its kind were taken back."""
        if accepted.data not in found and is_given_up(self._oracle.log(accepted.execution_id), point):
            return  # while it was open: it may have been when the answer was on its way
        if len(found) not in range(1, times + 1):
            self._oracle.breaks(law, f"{what} that was accepted is {len(found)} times in the log")
        elif accepted.data not in found:
            self._oracle.breaks(law, f"{what} is {found[0]!r} in the log, not {accepted.data!r}")

    def _look_at_signal(self, told: _Told) -> None:
        """Look whether an execution that was told of a signal let a deadline pass all the same."""
        events = self._oracle.log(told.execution_id)
        before, later = events[: told.seq + 1], events[told.seq + 1 :]
        if any(isinstance(one, _ENDS | ev.NodeRewound) for one in later):
            return
        for point in self._waiting(before, told):
            if not any(_has_come(one, point, told) for one in later):
                self._oracle.breaks("SIGNAL_ONCE", f"{told.name} for {told.execution_id} was passed over at {point}")

    def _waiting(self, events: Sequence[ev.AnyEvent], told: _Told) -> list[str]:
        """Return the points that were open by a log and waited for a signal that had not come."""
        found: dict[str, None] = {}
        for one in events:
            if isinstance(one, ev.PausePointOpened) and one.kind == "signal":
                row = self._oracle.point(one.point)
                if row is not None and (told.name, told.key) in awaited_signals(row):
                    found[one.point] = None
            elif (point := str(getattr(one, "point", ""))) in found and (
                isinstance(one, ev.PausePointExpired) or _has_come(one, point, told)
            ):
                del found[point]
            elif isinstance(one, _ENDS | ev.NodeRewound):
                found.clear()
        return list(found)

    def look_at_log(self, execution_id: str, events: Sequence[ev.AnyEvent]) -> None:
        """Look that no point has taken a signal, or an answer, twice."""
        seen: set[tuple[str, object]] = set()
        for one in events:
            if isinstance(one, ev.PausePointReceived):
                if (one.point, one.signal["id"]) in seen:
                    self._oracle.breaks("SIGNAL_ONCE", f"{one.point} of {execution_id} took {one.signal['id']} twice")
                seen.add((one.point, one.signal["id"]))
            elif isinstance(one, ev.PausePointAnswered | ev.PausePointExpired):
                if (one.point, None) in seen:
                    self._oracle.breaks("ANSWER_ONCE", f"{one.point} of {execution_id} came to its end twice")
                seen.add((one.point, None))
            elif isinstance(one, ev.PausePointTakenBack):
                seen.discard((one.point, None))


def is_given_up(events: Sequence[ev.AnyEvent], point: str) -> bool:
    """Return whether a point was given up while it was open, by the log of its execution."""
    is_open = False
    for one in events:
        if isinstance(one, ev.PausePointOpened) and one.point == point:
            is_open = True
        elif isinstance(one, ev.PausePointApplied | ev.PausePointExpired) and one.point == point:
            is_open = False
        elif isinstance(one, ev.PausePointCancelled):
            if one.point == point:
                return True
        elif is_open and isinstance(one, _ENDS | ev.NodeRewound):
            return True
    return False


def _has_come(one: ev.AnyEvent, point: str, told: _Told) -> bool:
    """Return whether a point has the signal by an event, or wants it no more."""
    if getattr(one, "point", None) != point:
        return False
    if isinstance(one, ev.PausePointReceived):
        return (one.signal["name"], one.signal["key"]) == (told.name, told.key)
    return isinstance(one, ev.PausePointAnswered | ev.PausePointCancelled)
