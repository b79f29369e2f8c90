"""The resumes of an execution, derived from its log: what people answered, in the order in which it came.

A resume is pending from its answer until it is applied, and claimed while what it released is at work, or is to be
tried again. It is completed when that comes to rest, when the next answer has its turn, or with the execution; failed,
if the execution failed or was cancelled meanwhile, a node of it gave up, its question is asked again since the work
after it failed, or the answer never had its turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import msgspec

from layover.core.context_ids import journal_id
from layover.core.engine import events as ev
from layover.model.resumes import ResumeStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.runtime.queries.node_executions import NodeDraft

PEOPLE: Final = frozenset({"approval", "form"})
NEVER_APPLIED: Final = "The pause point was closed before the answer was applied."
_ENDED_FIRST: Final = "The execution ended before the answer was applied."

# A leg in which nothing but this came first was begun for the answer that is applied then.
_BEFORE_WORK: Final = frozenset(
    {
        ev.PausePointDecided,
        ev.PausePointDelegated,
        ev.PausePointClaimed,
        ev.PausePointClaimEnded,
        ev.PausePointAsked,
        ev.PausePointReplied,
        ev.PausePointAnswered,
        ev.PausePointTakenBack,
        ev.PausePointFinal,
        ev.ExecutionResumed,
        ev.VariableSet,
    }
)


class ResumeDraft(msgspec.Struct, kw_only=True):
    """A resume, as far as the log tells of it; `leg` is the event that began its leg, once it was applied."""

    point: str
    context_id: str
    answer: object
    by: str | None
    queued_at: int
    status: ResumeStatus = "pending"
    applied_at: int | None = None
    applied_seq: int | None = None
    leg: int | None = None
    ended_at: int | None = None
    failure_reason: str = ""

    def end(self, status: ResumeStatus, at: int, reason: str = "") -> None:
        """Come to an end."""
        self.status, self.ended_at, self.failure_reason = status, at, reason


class ResumeReader:
    """Reads resumes from events, which it is given in their order."""

    def __init__(self, *, sequential: bool) -> None:
        self.resumes: dict[str, ResumeDraft] = {}
        self.sequential = sequential
        self.closed: set[str] = set()  # points that people could answer, and whose answer is not in the log, if any
        self._contexts: dict[str, str] = {}
        self._deciders: dict[str, str] = {}
        self._claimed: list[ResumeDraft] = []
        self._retried: set[str] = set()  # nodes that have failed and were to be tried again
        self._leg: int | None = None  # as long as no work was done in it
        self._last_at = 0

    def take(self, seq: int, at: int, event: ev.AnyEvent, nodes: Mapping[str, NodeDraft]) -> None:
        """Take an event, after which nodes are as they are given."""
        kind = type(event)
        if kind is ev.LegStarted:
            if cast("ev.LegStarted", event).cause != "recovered" and not self._is_to_be_retried(nodes):
                self._end_claimed("completed", self._last_at)
            self._leg = seq
        elif kind in _OF_RESUMES:
            self._take_of_resume(seq, at, event)
        if kind is not ev.LegStarted and kind not in _BEFORE_WORK:
            self._leg = None
        self._last_at = at

    def _take_of_resume(self, seq: int, at: int, event: ev.AnyEvent) -> None:
        match event:
            case ev.PausePointOpened() if event.kind in PEOPLE:
                self._contexts[event.point] = journal_id(event.node, event.key) if event.key else event.node
            case ev.PausePointDecided():
                self._deciders[event.point] = event.decision.by or ""
            case ev.PausePointAnswered() if event.point in self._contexts:
                self._answered(at, event)
            case ev.PausePointTakenBack():
                self.resumes.pop(event.point, None)
            case ev.PausePointApplied() if event.point in self.resumes:
                self._applied(seq, at, self.resumes[event.point])
            case ev.PausePointCancelled() | ev.PausePointExpired():
                self._closed(at, event.point)
            case ev.NodeFailed():
                self._node_failed(at, event)
            case ev.NodeRewound() if event.error is not None:
                self._asked_again(at, event.node, event.error)
            case ev.ExecutionFailed():
                self._end_claimed("failed", at, _reason_of(event.error))
                self._end_pending(at, _ENDED_FIRST)
            case ev.ExecutionCancelled():
                self._end_claimed("failed", at, event.reason or "The execution was cancelled.")
                self._end_pending(at, _ENDED_FIRST)
            case ev.ExecutionCompleted():
                self._end_claimed("completed", at)
                self._end_pending(at, _ENDED_FIRST)
            case _:
                pass

    def _answered(self, at: int, event: ev.PausePointAnswered) -> None:
        self.resumes[event.point] = ResumeDraft(
            point=event.point,
            context_id=self._contexts[event.point],
            answer=event.output,
            by=event.by or self._deciders.get(event.point) or None,
            queued_at=at if event.at is None else event.at,
        )

    def _applied(self, seq: int, at: int, resume: ResumeDraft) -> None:
        if self.sequential:
            self._end_claimed("completed", at)
        resume.status, resume.applied_at, resume.applied_seq = "claimed", at, seq
        resume.leg = seq if self._leg is None else self._leg
        self._claimed.append(resume)

    def _closed(self, at: int, point: str) -> None:
        if point in self._contexts and point not in self.resumes:
            self.closed.add(point)
        self._end_pending(at, NEVER_APPLIED, point)

    def _node_failed(self, at: int, event: ev.NodeFailed) -> None:
        if event.retry_at is not None:
            self._retried.add(event.node)
        elif event.incident:
            self._end_claimed("failed", at, _reason_of(event.error))

    def _asked_again(self, at: int, node: str, error: ev.Error) -> None:
        """Take note that the work after the last answer to a node has failed, and that it asks once more."""
        for one in reversed(self.resumes.values()):
            if one.applied_at is not None and one.context_id.partition("/")[0] == node:
                one.end("failed", at, _reason_of(error))
                self._claimed = [other for other in self._claimed if other is not one]
                return

    def _is_to_be_retried(self, nodes: Mapping[str, NodeDraft]) -> bool:
        """Return whether a node waits for another attempt, which belongs to the work of what is claimed."""
        self._retried = {name for name in self._retried if name in nodes and nodes[name].status == "backoff"}
        return bool(self._retried)

    def _end_claimed(self, status: ResumeStatus, at: int, reason: str = "") -> None:
        for one in self._claimed:
            one.end(status, at, reason)
        self._claimed.clear()

    def _end_pending(self, at: int, reason: str, point: str | None = None) -> None:
        for one in self.resumes.values() if point is None else filter(None, [self.resumes.get(point)]):
            if one.status == "pending":
                one.end("failed", at, reason)


def _reason_of(error: ev.Error) -> str:
    return f"{error.code}: {error.message}"


_OF_RESUMES: Final = frozenset(
    {
        ev.PausePointOpened,
        ev.PausePointDecided,
        ev.PausePointAnswered,
        ev.PausePointTakenBack,
        ev.PausePointApplied,
        ev.PausePointCancelled,
        ev.PausePointExpired,
        ev.NodeFailed,
        ev.NodeRewound,
        ev.ExecutionFailed,
        ev.ExecutionCancelled,
        ev.ExecutionCompleted,
    }
)
