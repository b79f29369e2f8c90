"""What people did at pause points besides answering: undo windows, claims, questions, replies, held against the logs.

A take-back that was accepted is in the log. A window ends when it should: nothing is applied before, and nothing is
taken back after. A claim that stands stops others. What was asked and replied is there once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.testing.simulation.promises import is_given_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.engine.conversations import TalkCommand
    from layover.model.executions import Execution
    from layover.testing.simulation.oracle import Oracle
    from layover.testing.simulation.world import World

_OF_WINDOWS = ev.PausePointFinal | ev.PausePointTakenBack | ev.PausePointClaimed


class _TakeBack(NamedTuple):
    """A take-back that a person was told is accepted, and how far the log went when it was asked for."""

    execution_id: str
    point: str
    by: str
    seq: int


class _Answer(NamedTuple):
    """An answer, or a decision, that the log has: until when it can be taken back, and whether it is final."""

    final_at: int | None
    is_final: bool


class Spoken:
    """Knows what people were told, and looks at the logs when all is over."""

    def __init__(self, world: World, oracle: Oracle) -> None:
        self._world = world
        self._oracle = oracle
        self._take_backs: dict[_TakeBack, None] = {}
        self._said: dict[tuple[str, str, str], None] = {}  # execution, point and text of questions and replies
        self._claims: dict[tuple[str, str, str, int], None] = {}  # execution, point, person and end

    def took_back(self, point: str, by: str, seq: int, view: Execution) -> None:
        """Note that a person was told that their take-back is taken."""
        self._oracle.told("take back", view)
        told = _TakeBack(view.id, point, by, seq)
        head = self._world.database.heads[view.id]
        if head.commands_done == head.commands_seq:
            self._look_at_take_back(told)  # the execution has read it, and nothing that came later
        self._take_backs[told] = None

    def said(self, execution_id: str, act: TalkCommand, *, repeated: bool) -> None:
        """Note that a person was told that an act is taken; a repeated one is the first one, with its moment."""
        match act:
            case cmd.AskBack():
                self._said[execution_id, act.point, act.question] = None
            case cmd.ReplyBack():
                self._said[execution_id, act.point, act.text] = None
            case cmd.ClaimPoint() if not repeated:
                self._claims[execution_id, act.point, act.by, act.until] = None

    # At the end

    def look(self) -> None:
        """Hold everything against the logs."""
        for told in self._take_backs:
            self._look_at_take_back(told)
        for id_, point, text in self._said:
            found = sum(_text_of(one) == (point, text) for one in self._oracle.log(id_))
            if found > 1 or (not found and not is_given_up(self._oracle.log(id_), point)):
                self._oracle.breaks("SAID_ONCE", f"what was said at {point} is {found} times in the log: {text}")
        for id_, point, by, until in self._claims:
            events = self._oracle.log(id_)
            claims = [one for one in events if isinstance(one, ev.PausePointClaimed) and one.point == point]
            if (by, until) not in [(one.by, one.until) for one in claims] and not is_given_up(events, point):
                self._oracle.breaks("SAID_ONCE", f"{by} has claimed {point}, which is not in the log")

    def _look_at_take_back(self, told: _TakeBack) -> None:
        events = self._oracle.log(told.execution_id)
        later = [one for one in events[told.seq + 1 :] if isinstance(one, ev.PausePointTakenBack)]
        if (told.point, told.by) not in [(one.point, one.by) for one in later] and not is_given_up(events, told.point):
            self._oracle.breaks("UNDO_HOLDS", f"{told.by} took back an answer to {told.point}, and it stays")

    def look_at_log(self, execution_id: str, events: Sequence[ev.AnyEvent]) -> None:
        """Look at the windows and claims of an execution, if it had any."""
        if not any(isinstance(one, _OF_WINDOWS) for one in events):
            return
        windows, claims = _Windows(self._oracle), _Claims(self._oracle)
        for at, event in self._timed(execution_id):
            windows.take(at, event)
            claims.take(at, event)

    def _timed(self, execution_id: str) -> Iterator[tuple[int, ev.AnyEvent]]:
        for entry in self._world.database.logs[execution_id]:
            for event in decode_events(entry.events):
                yield entry.at, event


class _Windows:
    """Follows answers through one log: nothing is applied or expires in a window, nothing is taken back after it."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._answers: dict[str, _Answer] = {}  # by point
        self._decisions: dict[tuple[str, str], _Answer] = {}  # by point and person

    def take(self, at: int, event: ev.AnyEvent) -> None:
        """Look at the next event."""
        match event:
            case ev.PausePointDecided():
                self._decisions[event.point, event.decision.by] = _Answer(event.decision.final_at, is_final=False)
            case ev.PausePointAnswered():
                self._answers[event.point] = _Answer(event.final_at, event.final_at is None)
            case ev.PausePointFinal():
                self._make_final(at, event)
            case ev.PausePointTakenBack():
                self._take_back(event)
            case ev.PausePointApplied() | ev.PausePointExpired():
                found = self._answers.get(event.point)
                if found is not None and not found.is_final:
                    self._breaks(f"{event.point} {type(event).__name__} before its answer was final")
                elif found is None and isinstance(event, ev.PausePointApplied):
                    self._breaks(f"{event.point} was applied, and its answer was taken back")

    def _make_final(self, at: int, event: ev.PausePointFinal) -> None:
        answers: dict[str, _Answer] = self._answers
        found = self._decisions.get((event.point, event.by)) if event.by is not None else answers.get(event.point)
        if found is None or found.final_at is None or at < found.final_at:
            self._breaks(f"what {event.by} said at {event.point} was final at {at}, and not at {found}")
            return
        if event.by is not None:
            self._decisions[event.point, event.by] = found._replace(is_final=True)
        else:
            answers[event.point] = found._replace(is_final=True)

    def _take_back(self, event: ev.PausePointTakenBack) -> None:
        decision = self._decisions.pop((event.point, event.by), None)
        answer = self._answers.pop(event.point, None)
        for one in (decision, answer):
            if one is not None and one.is_final:
                self._breaks(f"{event.by} took back at {event.point} what was final")
        if decision is None and answer is None:
            self._breaks(f"{event.by} took back at {event.point} what nobody has said")

    def _breaks(self, seen: str) -> None:
        self._oracle.breaks("UNDO_HOLDS", seen)


class _Claims:
    """Follows claims through one log: no other person answers while one stands."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._claims: dict[str, ev.PausePointClaimed] = {}  # by point

    def take(self, at: int, event: ev.AnyEvent) -> None:
        """Look at the next event."""
        match event:
            case ev.PausePointClaimed():
                self._claims[event.point] = event
            case ev.PausePointClaimEnded() | ev.PausePointEscalated():
                self._claims.pop(event.point, None)
            case ev.PausePointDecided():
                self._answer(event.point, event.decision.by, event.decision.at)
            case ev.PausePointAnswered():
                self._answer(event.point, event.by, at if event.at is None else event.at)

    def _answer(self, point: str, by: str | None, at: int) -> None:
        claim = self._claims.pop(point, None)
        if claim is not None and by is not None and claim.by != by and at < claim.until:
            self._oracle.breaks(
                "CLAIM_HOLDS", f"{by} answered {point} at {at}, which {claim.by} has until {claim.until}"
            )


def _text_of(event: ev.AnyEvent) -> tuple[str, str] | None:
    """Return the point and the text of a question or a reply."""
    if isinstance(event, ev.PausePointAsked):
        return event.point, event.question
    return (event.point, event.reply) if isinstance(event, ev.PausePointReplied) else None
