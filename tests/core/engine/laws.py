"""Laws of every log and of every state, whatever commands the execution was given.

The ledger reads the log alone and knows nothing of the engine: everything that is opened is closed once, a closed thing
has no further events, and behind a closed gate nothing starts. The state is then checked against itself: the counts
equal the rows, and nothing is left of what has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from layover.core.context_ids import within
from layover.core.engine import events as ev
from layover.core.engine.state import CALLING, COUNTS, PEOPLE, ExecutionState
from layover.core.engine.tables import Table
from layover.core.engine.timing import wake_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.state import NodeState
    from layover.core.plan import Plan

_STARTING = (ev.NodeScheduled, ev.NodeStarted, ev.PausePointOpened, ev.ScopeOpened)
_COMING_DUE = (ev.PausePointApplied, ev.PausePointExpired)
_SETTLED = frozenset({"completed", "failed", "skipped"})

Tables = dict[str, dict[object, object]]


def tables(state: ExecutionState) -> Tables:
    """Return a copy of all tables of a state."""
    parts = {name: getattr(state, name) for name in ExecutionState.__slots__}
    return {name: dict(part.rows) for name, part in parts.items() if isinstance(part, Table)}


_OfCall: TypeAlias = ev.NodeCheckpointed | ev.NodeHandedOver | ev.NodeProbed
_OfLostCall: TypeAlias = ev.NodeInDoubt | ev.NodeUndoRequested | ev.NodeUndone | ev.NodeUndoFailed


class Ledger:
    """Everything that is open according to the log."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.closed = False
        self.gate_closed = False
        self.points: dict[str, str] = {}
        self.scopes: set[str] = set()
        self.attempts: dict[str, int] = {}
        self.open_attempts: dict[str, str] = {}
        self._answered: set[str] = set()
        self._final_points: set[str] = set()
        self._final_decisions: set[tuple[str, str | None]] = set()
        self._seen_points: set[str] = set()
        self._seen_scopes: set[str] = set()
        self._final: set[str] = set()
        self._completed: set[str] = set()
        self._unhandled: set[str] = set()  # failures without a port, and containers that were cut short
        self._halted: set[str] = set()
        self._containers: set[str] = set()
        self._resting: set[str] = set()
        self._starts: set[tuple[str, int]] = set()
        self._in_flight: set[str] = set()
        self._children: set[str] = set()
        self._callbacks: set[str] = set()
        self._held = False
        self.started = False

    def read(self, events: Iterable[ev.AnyEvent]) -> None:
        """Read the events that were added to the log."""
        for event in events:
            assert not self.closed or isinstance(event, ev.ExecutionReopened), f"after the end: {event}"
            if self.gate_closed and not (isinstance(event, ev.PausePointOpened) and (event.key or event.doubt)):
                assert not isinstance(event, (*_STARTING, *_COMING_DUE)), f"behind a closed gate: {event}"
            if isinstance(event, ev.PausePointTakenBack | ev.PausePointFinal):
                self._read_window(event)
            else:
                self._read_one(event)
        if self.closed:
            assert not self.points, "the end leaves points open"

    def _read_one(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.NodeScheduled() | ev.NodeStarted() | ev.NodeCompleted() | ev.NodeFailed():
                self._read_node(event)
            case ev.NodeRecorded():
                assert event.node in self._resting or self.open_attempts[event.node] == "started"
            case ev.NodeCheckpointed() | ev.NodeHandedOver() | ev.NodeProbed():
                self._read_call(event)
            case ev.ScopeReopened():
                self._read_reopened(event)
            case ev.ScopeOpened() | ev.ScopeClosed():
                self._read_scope(event)
            case ev.VariableSet():
                assert not event.scope or event.scope in self.scopes
            case ev.PausePointOpened():
                self._read_opened(event)
            case ev.PausePointAnswered() | ev.PausePointBeat() | ev.PausePointSignalled():
                assert event.point in self.points
                assert event.point not in self._answered
                if isinstance(event, ev.PausePointAnswered):
                    self._answered.add(event.point)
                    if event.final_at is None:
                        self._final_points.add(event.point)
                assert event.point in self._callbacks or not isinstance(event, ev.PausePointBeat)
            case ev.PausePointApplied() | ev.PausePointExpired() | ev.PausePointCancelled():
                self._read_end_of_point(event)
            case _:
                self._read_execution(event)

    def _read_window(self, event: ev.PausePointTakenBack | ev.PausePointFinal) -> None:
        """Check that nothing becomes final twice, and that nothing that is final is taken back."""
        assert event.point in self.points
        assert event.point not in self._final_points, f"it is final: {event}"
        assert (event.point, event.by) not in self._final_decisions, f"it is final: {event}"
        if isinstance(event, ev.PausePointTakenBack):
            self._answered.discard(event.point)
        elif event.by is not None:
            self._final_decisions.add((event.point, event.by))
        else:
            assert event.point in self._answered
            self._final_points.add(event.point)

    def _read_call(self, event: _OfCall) -> None:
        how = self.open_attempts[event.node]
        assert how == "started" or (how == "queued" and isinstance(event, ev.NodeHandedOver))
        match event:
            case ev.NodeHandedOver():
                assert event.node in self.points.values(), f"it waits nowhere: {event}"
                self.open_attempts[event.node] = "handed over"
            case ev.NodeProbed():
                assert event.attempt == self.attempts[event.node]
                if event.happened is False:
                    del self.open_attempts[event.node]
            case _:
                pass

    def _read_lost_call(self, event: _OfLostCall) -> None:
        """Check that an undo is out when it ends; when it fails for good, it may have waited for another attempt."""
        name = event.node
        assert event.attempt == self.attempts[name]
        assert name not in self.points.values(), f"it is asked about: {event}"
        match event:
            case ev.NodeUndone():
                assert self.open_attempts.pop(name) == "started"
            case ev.NodeUndoFailed() if event.retry_at is not None:
                assert self.open_attempts.pop(name) == "started"
            case ev.NodeUndoFailed():
                assert self.open_attempts.get(name, "started") == "started"
            case _:
                pass

    def _read_opened(self, event: ev.PausePointOpened) -> None:
        assert event.point not in self._seen_points
        self._in_open_scopes(event.node)
        assert event.node not in self._final
        assert event.node not in self.points.values()
        self._seen_points.add(event.point)
        if event.key or event.doubt:  # the function rests, and its call is over
            how = self.open_attempts.pop(event.node, "")
            assert how == "started" or event.doubt
            self._resting.add(event.node)
        if event.kind == "callback":
            self._callbacks.add(event.point)
        self.points[event.point] = event.node
        if event.kind == "child":
            child = str(event.details["child"])
            assert child not in self._children, f"a late result would fit: {event}"
            self._children.add(child)

    def _read_execution(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.NodeInDoubt() | ev.NodeUndoRequested() | ev.NodeUndone() | ev.NodeUndoFailed():
                self._read_lost_call(event)
            case ev.ExecutionCreated():
                self._held = event.hold
            case ev.ExecutionAdmitted():
                assert self._held
                self._held = False
            case ev.ExecutionStarted():
                assert not self.started
                assert not self._held
                assert not self.gate_closed
                self.started = True
            case ev.ExecutionPausing():
                assert not self.gate_closed
                self.gate_closed = True
                self._in_flight = self._calls()
            case ev.ExecutionPaused():
                assert self.gate_closed
                assert set(event.fates) == self._in_flight, "something else was in flight"
                in_doubt = {name for name, fate in event.fates.items() if fate == "in_doubt"}
                assert self._calls() == in_doubt, "calls are still out"
                for name, fate in event.fates.items():
                    assert fate != "completed" or name in self._final
                    assert (fate == "waiting") == (name in self.points.values() and name not in in_doubt)
            case ev.ExecutionResumed() | ev.ExecutionResumeScheduled():
                assert self.gate_closed
                self.gate_closed = isinstance(event, ev.ExecutionResumeScheduled)
            case ev.ExecutionReopened():
                self._reopen_execution(event)
            case ev.NodeRewound():
                self._rewind(event.node)
            case ev.ExecutionCompleted() | ev.ExecutionFailed() | ev.ExecutionCancelled():
                self.closed = True
                self.gate_closed = False
            case _:
                pass

    def _calls(self) -> set[str]:
        """Return the nodes whose calls are out."""
        out = {name for name, how in self.open_attempts.items() if how == "started"}
        return out - self._containers

    def _read_node(self, event: ev.NodeScheduled | ev.NodeStarted | ev.NodeCompleted | ev.NodeFailed) -> None:
        name = event.node
        self._in_open_scopes(name)
        assert name not in self._final, f"after its end: {event}"
        assert name not in self.points.values() or self._calls_again(event), f"its point is still open: {event}"
        self._resting.discard(name)
        match event:
            case ev.NodeScheduled():
                container = event.node_type in ("loop", "parallel")
                assert container or name not in self.attempts or event.attempt == self.attempts[name] + 1
                assert name not in self.open_attempts or event.cause == "recovered"
                self.attempts[name] = event.attempt
                assert container or (name, event.attempt) not in self._starts, f"a late result would fit: {event}"
                self._starts.add((name, event.attempt))
                if container:
                    self._containers.add(name)
                self.open_attempts[name] = "queued" if event.queued else "scheduled"
            case ev.NodeStarted():
                assert self.open_attempts.get(name) in ("scheduled", "queued"), f"never scheduled: {event}"
                assert event.attempt == self.attempts[name]
                self.open_attempts[name] = "started"
            case ev.NodeCompleted():
                self.open_attempts.pop(name, None)
                self._final.add(name)
                self._completed.add(name)
            case ev.NodeFailed():
                final = event.retry_at is None and not event.incident
                assert final or name in self.open_attempts
                self.open_attempts.pop(name, None)
                if final:
                    self._final.add(name)
                    self._unhandled.update({name} if event.port is None else ())

    def _calls_again(self, event: ev.AnyEvent) -> bool:
        """Whether a callback node is called again because the instance of its first call was lost."""
        if not isinstance(event, ev.NodeScheduled | ev.NodeStarted):
            return False
        again = isinstance(event, ev.NodeStarted) or event.cause == "recovered"
        return again and any(name == event.node for point, name in self.points.items() if point in self._callbacks)

    def _read_scope(self, event: ev.ScopeOpened | ev.ScopeClosed) -> None:
        path = _scope_path(event.node, event.key)
        self._in_open_scopes(event.node)
        assert event.node not in self._final
        if isinstance(event, ev.ScopeOpened):
            assert path not in self._seen_scopes, f"opened twice: {event}"
            self._seen_scopes.add(path)
            self.scopes.add(path)
            return
        if event.end == "skipped":
            assert path not in self._seen_scopes
            self._seen_scopes.add(path)
            return
        assert path in self.scopes, f"not open: {event}"
        inside = {other for other in self.scopes if other.startswith(f"{path}:")}
        left = {name for name in self.open_attempts if _is_within(name, path)}
        if event.end in ("done", "broken"):
            assert not inside, "a scope is done while one within it is open"
            assert not left, "a scope is done while calls are out in it"
        assert not any(_is_within(name, path) for name in self.points.values()), "a closed scope leaves points open"
        self.scopes -= {path, *inside}
        self._halted |= {path, *inside} if event.end in ("failed", "cancelled") else set()
        for name in left:
            del self.open_attempts[name]
            self._unhandled.update({name} & self._containers)

    def _read_reopened(self, event: ev.ScopeReopened) -> None:
        path = _scope_path(event.node, event.key)
        self._in_open_scopes(event.node)
        assert self.open_attempts.get(event.node) == "started", f"its container is not at work: {event}"
        assert path in self._halted, f"it neither failed nor was cancelled: {event}"
        self._halted.remove(path)
        self.scopes.add(path)
        for name in event.nodes:
            self._reopen(name)
        for name in [name for name in self._unhandled if name.partition(":")[2] == path]:
            self._enter_again(name)

    def _reopen_execution(self, event: ev.ExecutionReopened) -> None:
        assert self.closed
        self.closed = False
        for name in event.nodes:
            self._reopen(name)
        for name in event.containers:
            self._enter_again(name)

    def _reopen(self, name: str) -> None:
        """Forget the end of a node that was given up: completed nodes stay completed, with everything in them."""
        inner = _scope_path(name, "")
        assert name not in self._completed, f"it was completed: {name}"
        assert not any(done.partition(":")[2].startswith(inner) for done in self._completed), f"repeated: {name}"
        self._take_back(name)

    def _enter_again(self, name: str) -> None:
        """Mark a container as running again, with everything that it has done."""
        assert name not in self._completed, f"it was completed: {name}"
        self._final.discard(name)
        self._unhandled.discard(name)
        self.open_attempts[name] = "started"

    def _read_end_of_point(self, event: ev.PausePointApplied | ev.PausePointExpired | ev.PausePointCancelled) -> None:
        assert event.point in self.points, f"not open: {event}"
        if isinstance(event, ev.PausePointApplied):
            assert event.point in self._answered
            assert event.point in self._final_points
        if isinstance(event, ev.PausePointExpired):
            assert event.point not in self._answered
        del self.points[event.point]

    def _take_back(self, name: str) -> None:
        """Forget the end of a node, and everything in it."""
        self._final.discard(name)
        self.open_attempts.pop(name, None)
        inner = _scope_path(name, "")
        self.scopes = {path for path in self.scopes if not path.startswith(inner)}
        self._seen_scopes = {path for path in self._seen_scopes if not path.startswith(inner)}
        self._halted = {path for path in self._halted if not path.startswith(inner)}
        for ended in (self._final, self._completed, self._unhandled):
            ended -= {other for other in ended if other == name or other.partition(":")[2].startswith(inner)}
        for other in [other for other in self.attempts if other.partition(":")[2].startswith(inner)]:
            self.attempts.pop(other)
            self.open_attempts.pop(other, None)

    def _rewind(self, name: str) -> None:
        """Forget the end of a node, and of every node after it."""
        first, _, path = name.partition(":")
        graph = self._plan.graph
        for step in path.split(":") if path else ():
            container, _, key = step.partition(".")
            bodies = graph.node(container).bodies
            graph = bodies.get("") or bodies[key]
        behind = [graph.node(first)]
        for planned in behind:
            after = {target for targets in planned.ports.values() for target in targets}
            behind += (graph.nodes[target] for target in sorted(after) if graph.nodes[target] not in behind)
        for planned in behind:
            self._take_back(_address(path, planned.id))

    def _in_open_scopes(self, name: str) -> None:
        path = name.partition(":")[2]
        assert not path or path in self.scopes, f"{name} is in no open scope"


def check_state(state: ExecutionState, ledger: Ledger, length: int) -> None:
    """Check a state against its log, and against itself."""
    assert state.counts["seq"] == length
    assert bool(state.facts.closed) == ledger.closed
    assert set(state.points.rows) == set(ledger.points)
    _check_halted(state)
    if ledger.closed:
        assert wake_at(state) is None
        assert state.status in ("completed", "failed", "cancelled")
        return
    assert bool(state.facts.started_at) == ledger.started
    assert set(state.scopes.rows) == ({"", *ledger.scopes} if ledger.started else set())
    calls = {name for name, node in state.nodes.rows.items() if node.status in CALLING}
    entered = {name for name, node in state.nodes.rows.items() if node.status == "entered"}
    called = {point.node for point in state.points.rows.values() if point.kind in ("callback", "child", "delivery")}
    queued = {name for name, node in state.nodes.rows.items() if node.status == "queued"}
    assert calls | entered | called | queued == set(ledger.open_attempts)
    check_itself(state)
    if length:
        _check_rest(state)


def check_itself(state: ExecutionState) -> None:
    """Check an open state against itself."""
    assert state.counts["queued"] == sum(node.status == "queued" for node in state.nodes.rows.values())
    _check_counts(state, sum(node.status in CALLING for node in state.nodes.rows.values()))
    _check_queue(state)
    answered = [point for point in state.points.rows.values() if point.status == "answered"]
    waiting = {point.turn: point.id for point in answered if not point.is_revocable}
    assert state.answered.rows == waiting
    _check_timers(state)
    _check_scopes(state)


def _check_counts(state: ExecutionState, calls: int) -> None:
    assert set(state.counts.rows) == set(COUNTS)
    assert state.counts["calls"] == calls
    asked = sum(1 for point in state.points.rows.values() if point.kind in PEOPLE and point.status == "open")
    incidents = sum(1 for node in state.nodes.rows.values() if node.status == "incident")
    assert state.counts["people"] == asked + incidents
    children = [point for point in state.points.rows.values() if point.kind == "child" and point.status == "open"]
    assert state.counts["children"] == sum(1 for point in children if not point.held)
    assert all(point in children for point in state.points.rows.values() if point.held)


def _check_queue(state: ExecutionState) -> None:
    ready = {node.ticket: name for name, node in state.nodes.rows.items() if node.status == "ready"}
    assert state.queue.rows == ready
    assert all(node.ticket == -1 for node in state.nodes.rows.values() if node.status not in ("ready", "idle"))
    assert state.counts["first_ticket"] == min(ready, default=state.counts["next_ticket"])


def _check_timers(state: ExecutionState) -> None:
    for key, at in state.timers.rows.items():
        point = state.points.get(key)
        if point is not None:
            finals = [point.final_at, *(one.final_at for one in point.decisions if not one.final)]
            if point.is_revocable:
                assert at in finals
            else:
                assert point.status == "open"
                assert at in (point.deadline, point.beat_by, point.escalate_at, *point.remind_at, *finals)
        else:
            assert state.node(key).status in ("running", "backoff")
    for point in state.points.rows.values():
        assert point.status != "open" or point.deadline is None or state.timers[point.id] <= point.deadline
        assert not point.is_revocable or state.timers[point.id] <= (point.final_at or 0)
        assert point.status != "open" or point.beat_by is None or state.timers[point.id] <= point.beat_by
        status = state.node(point.node).status
        assert status == "waiting" or (point.kind == "callback" and status in ("running", "queued"))
        assert status != "queued" or point.status == "open", "who has replied would be called"
        assert state.node(point.node).point == point.id
        assert not point.doubt or state.node(point.node).doubt
    for name, node in state.nodes.rows.items():
        assert node.status != "backoff" or name in state.timers
        assert node.status != "waiting" or node.point in state.points
        assert not node.point or node.point in state.points


def _check_scopes(state: ExecutionState) -> None:
    """Check that every row belongs to an open scope."""
    for path, scope in state.scopes.rows.items():
        rows = [state.node(_address(path, planned.id)) for planned in state.graph(path).nodes]
        assert scope.open == sum(1 for row in rows if not _is_settled(row)), f"scope {path or 'root'}"
        if path:
            assert _scope_path(scope.node, scope.key) == path
            assert state.node(scope.node).status == "entered"
    for name, node in state.nodes.rows.items():
        path = name.partition(":")[2]
        assert path in state.scopes, f"{name} is left of a closed scope"
        assert node.open_scopes == sum(1 for scope in state.scopes.rows.values() if scope.node == name)
        due = [path for path, halted in state.halted.rows.items() if halted.scope.node == name and halted.due]
        assert node.due_scopes == len(due)
    for container, _ in state.collected.rows:
        assert _is_unsettled(state, container), f"{container} left what it collected"


def _check_halted(state: ExecutionState) -> None:
    """Check that a halted scope belongs to a container that has not settled, and that nothing in it is running."""
    for path, halted in state.halted.rows.items():
        assert path not in state.scopes
        assert _scope_path(halted.scope.node, halted.scope.key) == path
        assert _is_unsettled(state, halted.scope.node), f"{halted.scope.node} left what was halted"
        rows = [halted.nodes.get(planned.id) for planned in state.graph(path).nodes]
        assert halted.scope.open == sum(1 for row in rows if row is None or not _is_settled(row))
        for node in halted.nodes.values():
            assert node.status in ("idle", "ready", "entered", "stopped", *_SETTLED)
            assert (node.ticket, node.point, node.open_scopes) == (-1, "", 0)


def _is_unsettled(state: ExecutionState, container: str) -> bool:
    """Whether a container is running, or would be reopened with its scope."""
    name, _, path = container.partition(":")
    halted = state.halted.get(path)
    node = state.node(container) if halted is None else halted.nodes[name]
    given_up = halted is not None or bool(state.facts.closed)
    return node.status == "entered" or (given_up and node.status == "failed" and not node.port)


def _check_rest(state: ExecutionState) -> None:
    """Check that an execution at rest has a reason."""
    if state.facts.gate != "open":
        assert state.status == state.facts.gate
        assert state.facts.paused_reason
        assert state.facts.gate == "paused" or state.counts["calls"] or state.counts["children"]
        return
    if not state.facts.started_at:
        assert state.status == "pending"
        assert state.resting
        assert wake_at(state) == (None if state.facts.hold else state.facts.start_at)
        assert state.facts.hold or wake_at(state) is not None, "nothing keeps it from starting"
        return
    assert not state.queue.rows or _is_held_next(state), "a node is ready and does not begin"
    answered = [point for point in state.points.rows.values() if point.status == "answered" and not point.is_revocable]
    if state.counts["calls"] or state.counts["queued"]:
        assert state.status == "running"
        return
    assert not answered, "an answer is not applied although nothing is at work"
    assert state.status == ("paused" if state.counts["people"] else "waiting")
    assert state.points.rows or state.counts["people"] or wake_at(state) is not None, "nobody knows what it waits for"
    machines = [
        point for point in state.points.rows.values() if point.kind in ("signal", "callback", "child", "delivery")
    ]
    assert state.counts["people"] or machines or wake_at(state) is not None


def _scope_path(container: str, key: int | str) -> str:
    name, _, path = container.partition(":")
    return within(path, name, key)


def _is_settled(node: NodeState) -> bool:
    return node.status in _SETTLED and (node.status != "failed" or bool(node.port))


def _is_within(name: str, path: str) -> bool:
    around = name.partition(":")[2]
    return around == path or around.startswith(f"{path}:")


def _address(path: str, node: str) -> str:
    return f"{node}:{path}" if path else node


def _is_held_next(state: ExecutionState) -> bool:
    """Whether there is a breakpoint before the next node: a step that begins calls leaves the stop to the next one."""
    name = state.queue.rows[state.counts["first_ticket"]]
    return any(one in state.breakpoints or one in state.facts.breakpoints for one in (name, name.partition(":")[0]))
