"""The laws of a log: each event is checked against the state that the events before it add up to.

A law is checked before its event is applied, since nothing may be applied that cannot have happened. The first
violation ends the reading: events after a fault prove nothing. Kept meanwhile are the state, and the ends of the pause
points that readers could see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events, encode_state
from layover.core.engine.evolve import evolve
from layover.core.engine.node_transitions import scope_path
from layover.core.engine.state import ExecutionState
from layover.core.engine.transitions import NODE
from layover.core.engine.undo_windows import waiting
from layover.errors import LayoverError
from layover.runtime.execution.replay import know_versions, moves_in

if TYPE_CHECKING:
    from layover.core.engine.state import NodeState, Point
    from layover.core.plan import Plan
    from layover.ports.records import Entry
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.execution.replay import Versions

LEG_CAUSES: Final = frozenset({"created", "woken", "commands", "recovered", "retry", "rewind"})

_STARTING = (ev.NodeScheduled, ev.NodeStarted, ev.PausePointOpened, ev.ScopeOpened)
_COMING_DUE = (ev.PausePointApplied, ev.PausePointExpired)
_ENDS = (ev.ExecutionCompleted, ev.ExecutionFailed, ev.ExecutionCancelled)
_OF_POINTS = (
    *(ev.PausePointDecided, ev.PausePointReceived, ev.PausePointReminded, ev.PausePointEscalated),
    *(ev.PausePointDelegated, ev.PausePointHeld, ev.PausePointReleased, ev.PausePointBeat, ev.PausePointAnswered),
    *(ev.PausePointApplied, ev.PausePointExpired, ev.PausePointCancelled, ev.PausePointSignalled),
    *(ev.PausePointTakenBack, ev.PausePointFinal),
    *(ev.PausePointClaimed, ev.PausePointClaimEnded, ev.PausePointAsked, ev.PausePointReplied),
)
_POINT_ENDS = (ev.PausePointApplied, ev.PausePointExpired, ev.PausePointCancelled)
_HOW: dict[type[ev.DomainEvent], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}
_OVER = frozenset({"completed", "failed", "skipped"})
_AT_WORK = frozenset({"ready", "scheduled", "queued", "running", "entered", "waiting", "backoff", "incident"})


class BrokenLaw(NamedTuple):
    """A violation: the code of the law, and a sentence."""

    code: str
    message: str


class Ended(NamedTuple):
    """How and when a visible pause point ended."""

    how: str
    at: int


class Log:
    """The log of one execution as far as it was read, and its state."""

    def __init__(self, row: ExecutionRow, plan: Plan, snapshot: ExecutionState | None = None) -> None:
        self.state = ExecutionState(plan)
        self.ended: dict[str, Ended] = {}
        self.finished_at: int | None = None
        self._row = row
        self._at = row.info.created_at
        self._snapshot = snapshot
        self._met = False  # whether the snapshot has been reached
        self._points: set[str] = set()

    @property
    def length(self) -> int:
        """The number of events that were read."""
        return self.state.counts["seq"]

    async def know_versions(self, entry: Entry, plans: Versions) -> None:
        """Let the states know the versions to which an entry moves them."""
        try:
            moves = moves_in(decode_events(entry.events))
        except LayoverError:
            return  # `read` says so
        for state in filter(None, (self.state, self._snapshot)):
            await know_versions(state, moves, plans)

    def read(self, entry: Entry) -> BrokenLaw | None:
        """Take one entry; return its violation, if there is one."""
        if entry.seq != self.length:
            return BrokenLaw("log_gap", f"Its log has no event {self.length}: the next entry begins with {entry.seq}.")
        if entry.at < self._at:
            return BrokenLaw("time_went_back", f"Event {entry.seq} is {self._at - entry.at} ms before the last one.")
        try:
            events = decode_events(entry.events)
        except LayoverError as error:
            return BrokenLaw("log_unreadable", f"The entry at event {entry.seq} is unreadable: {error.message}")
        if len(events) != entry.count:
            return BrokenLaw(
                "log_count", f"The entry at event {entry.seq} counts {entry.count} and holds {len(events)}."
            )
        self._at = entry.at
        fresh: set[str] = set()
        for event in events:
            if (broken := self._take(event, entry.at, fresh)) is not None:
                return broken
        self.state.undo_log.keep()
        return self._meet_snapshot(events, entry.at)

    def end(self) -> BrokenLaw | None:
        """Return the violation that shows after the whole log was read, if there is one."""
        if self.state.facts.hash != self._row.info.hash:
            return BrokenLaw("identity", "Its rows name another version than its log.")
        if self._snapshot is None:
            return None
        if not self._met:
            at = self._snapshot.counts["seq"]
            return BrokenLaw("snapshot_misplaced", f"Its snapshot covers {at} events, where no entry of its log ends.")
        if encode_state(self._snapshot) != encode_state(self.state):
            return BrokenLaw("snapshot_differs", "Its snapshot with the later events differs from all events.")
        return None

    # One event

    def _take(self, event: ev.AnyEvent, at: int, fresh: set[str]) -> BrokenLaw | None:
        state, seq = self.state, self.length
        broken = self._law(event)
        if broken is not None:
            return BrokenLaw(broken.code, f"Event {seq} ({type(event).__name__}): {broken.message}")
        name = _node_of(state, event)
        before = state.node(name).status
        self._keep_point(event, at, fresh)
        try:
            evolve(state, event, at)
        except Exception as error:  # noqa: BLE001 - an event that cannot be applied is a finding
            return BrokenLaw("log_impossible", f"Event {seq} ({type(event).__name__}) cannot have happened: {error!r}.")
        after = state.node(name).status
        if name and before != after and (before, after, type(event)) not in NODE:
            change = f"`{name}` went from {before} to {after}, which is not a legal transition."
            return BrokenLaw("illegal_transition", f"Event {seq} ({type(event).__name__}): {change}")
        if isinstance(event, _ENDS):
            self.finished_at = at
        elif isinstance(event, ev.ExecutionReopened):
            self.finished_at = None
        return None

    def _law(self, event: ev.AnyEvent) -> BrokenLaw | None:
        facts = self.state.facts
        if not self.length or isinstance(event, ev.ExecutionCreated):
            return self._law_of_beginning(event)
        if facts.closed and not isinstance(event, ev.ExecutionReopened):
            return BrokenLaw("after_end", f"it is {facts.closed} and was not reopened.")
        if facts.gate != "open" and isinstance(event, (*_STARTING, *_COMING_DUE)):
            # By a call that was out, or by the probe of a lost one.
            asked_within = isinstance(event, ev.PausePointOpened) and bool(event.key or event.doubt)
            if not asked_within:
                return BrokenLaw("behind_gate", f"it is {facts.gate}, and nothing may start or come due.")
        match event:
            case ev.NodeScheduled() | ev.NodeStarted():
                return _law_of_node(self.state, event)
            case ev.NodeCheckpointed() | ev.NodeRecorded():
                out = self.state.node(event.node).status in ("running", "waiting")
                return None if out else BrokenLaw("call_not_out", f"`{event.node}` has no call out.")
            case ev.ScopeOpened() | ev.ScopeClosed() | ev.ScopeReopened():
                return _law_of_scope(self.state, event)
            case ev.PausePointOpened():
                return (
                    BrokenLaw("point_twice", "this point was opened before.") if event.point in self._points else None
                )
            case _:
                pass
        if isinstance(event, _OF_POINTS):
            return _law_of_point(self.state.points.get(event.point), event)
        return _law_of_execution(self.state, event)

    def _law_of_beginning(self, event: ev.AnyEvent) -> BrokenLaw | None:
        if not isinstance(event, ev.ExecutionCreated):
            return BrokenLaw("log_beginning", "a log begins with the creation of its execution.")
        if self.length:
            return BrokenLaw("log_beginning", "an execution is created once.")
        head, info = self._row.head, self._row.info
        said = (event.id, event.workflow, event.user)
        rows = (head.execution_id, head.workflow, info.user)
        if said != rows or info.workflow != head.workflow:
            return BrokenLaw("identity", "its rows name another id, workflow or user.")
        return None

    # Beside the state

    def _keep_point(self, event: ev.AnyEvent, at: int, fresh: set[str]) -> None:
        if isinstance(event, ev.PausePointOpened):
            self._points.add(event.point)
            fresh.add(event.point)
        elif isinstance(event, _POINT_ENDS) and event.point not in fresh:  # else it was never visible
            self.ended[event.point] = Ended(_HOW[type(event)], at)

    def _meet_snapshot(self, events: list[ev.AnyEvent], at: int) -> BrokenLaw | None:
        snapshot = self._snapshot
        if snapshot is None:
            return None
        if self._met:
            for event in events:
                evolve(snapshot, event, at)
            snapshot.undo_log.keep()
        elif self.length == snapshot.counts["seq"]:
            self._met = True
            if encode_state(snapshot) != encode_state(self.state):
                return BrokenLaw("snapshot_differs", f"Its snapshot differs from its first {self.length} events.")
        return None


def _law_of_execution(state: ExecutionState, event: ev.AnyEvent) -> BrokenLaw | None:
    facts = state.facts
    match event:
        case ev.ExecutionStarted() if facts.started_at:
            return BrokenLaw("log_beginning", "an execution starts once.")
        case ev.LegStarted() if event.cause not in LEG_CAUSES:
            return BrokenLaw("leg_cause", f"the cause `{event.cause}` is unknown.")
        case ev.ExecutionPausing() if facts.gate != "open":
            return BrokenLaw("gate_order", f"it is {facts.gate} already.")
        case ev.ExecutionPaused() if facts.gate != "pausing":
            return BrokenLaw("gate_order", "it was not told to pause.")
        case ev.ExecutionPauseNoted() if facts.gate == "open":
            return BrokenLaw("gate_order", "it was told to pause, and did not.")
        case ev.ExecutionResumed() | ev.ExecutionResumeScheduled() if facts.gate == "open":
            return BrokenLaw("gate_order", "it was not paused.")
        case ev.ExecutionReopened() if not facts.closed:
            return BrokenLaw("reopened_open", "it was not closed.")
        case ev.ExecutionCompleted() | ev.ExecutionFailed() | ev.ExecutionCancelled() if state.points.rows:
            return BrokenLaw("points_left_open", f"the points {sorted(state.points.rows)} are still open.")
        case _:
            return None


def _law_of_node(state: ExecutionState, event: ev.NodeScheduled | ev.NodeStarted) -> BrokenLaw | None:
    node = state.node(event.node)
    if node.status in _OVER:
        return BrokenLaw("ran_again", f"`{event.node}` is {node.status}, and was neither rewound nor reopened.")
    if isinstance(event, ev.NodeStarted):
        if node.status not in ("scheduled", "queued"):
            return BrokenLaw("started_unscheduled", f"`{event.node}` is {node.status}, not scheduled.")
        if event.attempt != node.attempt:
            return BrokenLaw("attempt_order", f"attempt {node.attempt} was scheduled, not {event.attempt}.")
    elif event.attempt <= node.attempt and event.node_type not in ("loop", "parallel"):
        return BrokenLaw("attempt_order", f"attempt {event.attempt} comes after attempt {node.attempt}.")
    return None


def _law_of_scope(state: ExecutionState, event: ev.ScopeOpened | ev.ScopeClosed | ev.ScopeReopened) -> BrokenLaw | None:
    path = scope_path(event.node, event.key)
    is_open = path in state.scopes
    if state.node(event.node).status != "entered":
        return BrokenLaw("scope_order", f"`{event.node}` is not at work.")
    if isinstance(event, ev.ScopeReopened):
        halted = path in state.halted
        return None if halted else BrokenLaw("scope_order", f"the scope `{path}` neither failed nor was cancelled.")
    if isinstance(event, ev.ScopeOpened) or event.end == "skipped":
        before = is_open or (event.node, event.key) in state.collected
        return BrokenLaw("scope_twice", f"the scope `{path}` was there before.") if before else None
    if not is_open:
        return BrokenLaw("scope_order", f"the scope `{path}` is not open.")
    if event.end in ("done", "broken"):
        rows = ((planned.id, _in(state, path, planned.id)) for planned in state.graph(path).nodes)
        left = [name for name, node in rows if node.status in _AT_WORK]
        if left:
            return BrokenLaw("scope_order", f"the scope `{path}` is done while {left} are at work in it.")
    return None


def _in(state: ExecutionState, path: str, node: str) -> NodeState:
    return state.node(f"{node}:{path}")


def _law_of_point(point: Point | None, event: ev.AnyEvent) -> BrokenLaw | None:
    if point is None:
        return BrokenLaw("point_not_open", "this point is not open.")
    match event:
        case ev.PausePointAnswered() if point.status == "answered":
            return BrokenLaw("answered_twice", f"the point of `{point.node}` has an answer already.")
        case ev.PausePointApplied() if point.status != "answered":
            return BrokenLaw("point_not_open", f"the point of `{point.node}` has no answer.")
        case ev.PausePointApplied() if point.is_revocable:
            return BrokenLaw("final_order", f"the answer to the point of `{point.node}` was not final.")
        case ev.PausePointTakenBack() | ev.PausePointFinal() if not _is_waiting(point, event.by):
            return BrokenLaw("final_order", f"at the point of `{point.node}` nothing waits to become final.")
        case ev.PausePointExpired() if point.status == "answered":
            return BrokenLaw("answered_twice", f"the point of `{point.node}` was answered in time.")
        case _:
            return None


def _is_waiting(point: Point, by: str | None) -> bool:
    """Return whether the decision of a person, or the answer of a point, is not final yet."""
    if point.kind == "approval" and by is not None:
        return by in [one.by for one in waiting(point.decisions)]
    return point.is_revocable and by in (None, point.by)


def _node_of(state: ExecutionState, event: ev.AnyEvent) -> str:
    """Return the node that an event changes, if there is one."""
    name: str = getattr(event, "node", "") or ""
    if isinstance(event, ev.ExecutionFailed):
        return ""
    if not name and isinstance(event, _OF_POINTS):
        point = state.points.get(event.point)
        return point.node if point is not None else ""
    return name
