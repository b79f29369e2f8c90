"""The oracle: what was promised, checked at the moment against the tables, and once more when all is over.

The oracle sees what no instance can see: the tables as they are, and who is out of touch for which reason.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.core.engine.command_codec import decode_command
from layover.ports.records import CLOSED
from layover.testing.simulation.endings import look_at_the_end
from layover.testing.simulation.laws import LAWS, Broken
from layover.testing.simulation.limits import Limits
from layover.testing.simulation.promises import Promises
from layover.testing.simulation.resumed import ResumedWorkflows
from layover.testing.simulation.spoken import Spoken
from layover.testing.simulation.timeliness import Timeliness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.commands import AnyCommand
    from layover.core.engine.state import Point
    from layover.model.executions import Execution
    from layover.model.signals import SignalReceipt
    from layover.nodes.context import CallContext
    from layover.ports.records import Entry, Head, Reserved
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.operations.workflow_status import WorkflowStatusChange
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.promises import Reply
    from layover.testing.simulation.scenario import Start
    from layover.testing.simulation.world import World

__all__ = ["LAWS", "Broken", "Oracle"]

_IN_TOUCH = 5.0  # seconds since the last disturbance, after which it explains nothing
_LOOKS_AT_HEALTH = 5  # once in so many: who is not well does not get well by itself
_STANDINGS_COUNT = 1_000  # milliseconds within which every instance knows that a workflow is paused
_TAKEN_UP = ev.LegStarted | ev.NodeScheduled | ev.NodeStarted | ev.NodeInDoubt | ev.NodeUndone
_OF_GATE = ev.ExecutionPausing | ev.ExecutionResumed | ev.ExecutionReopened  # who reopens it lets it go on
_STATUSES: dict[type[ev.DomainEvent], str] = {
    ev.ExecutionCompleted: "completed",
    ev.ExecutionFailed: "failed",
    ev.ExecutionCancelled: "cancelled",
    ev.ExecutionPausing: "pausing",
    ev.ExecutionPaused: "paused",
    ev.ExecutionResumed: "",
    ev.ExecutionReopened: "",
}


class _View(NamedTuple):
    """What a caller was told of an execution: how far its log goes, and its status there."""

    id: str
    last_seq: int
    status: str


class Oracle:
    """Knows what was told to whom, and holds it against the tables."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.broken: dict[str, Broken] = {}  # the first of each law
        self.held: dict[str, None] = {}  # executions whose pause was told
        self.kills: Counter[tuple[str, str]] = Counter()  # instances, by the call that ended them
        self.losses: Counter[str] = Counter()  # leases that ran out with an owner, by execution
        self._kills_at: dict[str, list[int]] = {}  # how far the log went, by execution
        self.promises = Promises(self)
        self.spoken = Spoken(world, self)
        self.limits = Limits(world, self)
        self.resumed = ResumedWorkflows(world, self)
        self._timeliness = Timeliness(world, self)
        self._held_workflows: dict[str, int] = {}  # since when, by the clock of the database
        self._ordered: dict[str, int] = {}  # executions that were to be paused with their workflow: their logs then
        self._out: dict[tuple[str, str], list[tuple[Life, CallOut]]] = {}  # calls, by execution and node
        self._looks = 0
        self._views: dict[_View, None] = {}
        self._logs: dict[str, tuple[int, list[ev.AnyEvent]]] = {}

    def breaks(self, law: str, seen: str) -> None:
        """Take note that a law does not hold."""
        loop = self._world.loop
        self._world.noted(None, f"BROKEN {law}: {seen}")
        self.broken.setdefault(law, Broken(law, loop.time(), loop.steps, seen))

    # The tables

    def log(self, id_: str) -> list[ev.AnyEvent]:
        """Return what is durable of an execution."""
        entries = self._world.database.logs.get(id_, [])
        known, events = self._logs.setdefault(id_, (0, []))
        if known < len(entries):
            events += [one for entry in entries[known:] for one in _decoded(entry)]
            self._logs[id_] = len(entries), events
        return events

    def last_seq(self, id_: str) -> int:
        """Return how far a log goes."""
        head = self._world.database.heads.get(id_)
        return head.last_seq if head is not None else -1

    def unread(self, id_: str) -> list[AnyCommand]:
        """Return the commands that an execution has not read."""
        head = self._world.database.heads[id_]
        commands = self._world.database.commands.get(id_, ())
        return [decode_command(one.kind, one.body) for one in commands if one.n > head.commands_done]

    def point(self, id_: str) -> Point | None:
        """Return a pause point."""
        row = self._world.database.points.get(id_)
        return row.point if row is not None else None

    # What callers are told

    def told(self, what: str, view: Execution) -> None:
        """Check what a caller is told of an execution: it must be in the log by then."""
        seen = _View(view.id, view.last_seq, view.status)
        durable = self.last_seq(view.id)
        if view.last_seq > durable:
            self.breaks("TOLD_IS_DURABLE", f"{what} of {view.id} told {view.status} at {view.last_seq} of {durable}")
        else:
            self.is_still_true(seen, what)
        self._views[seen] = None

    def is_still_true(self, view: _View, what: str = "somebody") -> None:
        """Hold a status that was told against the log up to there."""
        events = self.log(view.id)[: view.last_seq + 1]
        last = next((_STATUSES[type(one)] for one in reversed(events) if type(one) in _STATUSES), "")
        told = view.status if view.status in _STATUSES.values() else ""
        if "paused" in (told, last):  # who waits for people is paused without an event that says so
            return
        if told != last:
            self.breaks("TOLD_IS_DURABLE", f"{what} of {view.id} told {view.status} at {view.last_seq}; it was {last}")

    def started(self, start: Start, view: Execution) -> None:
        """Check an execution that a caller was told it has started."""
        self.told("start", view)
        events = self.log(view.id)
        first = events[0] if events else None
        if isinstance(first, ev.ExecutionCreated) and first.input != start.input:
            self.breaks("KEY_ONCE", f"who began {view.id} with {start.input!r} was told of one with {first.input!r}")

    def paused(self, view: Execution) -> None:
        """Note that a caller was told of a pause."""
        self.told("pause", view)
        if view.status in ("paused", "pausing"):
            self.held[view.id] = None

    def resumes(self, id_: str) -> None:
        """Note that a caller is about to resume an execution."""
        self.held.pop(id_, None)
        self._ordered.pop(id_, None)

    def workflow_paused(self, workflow: str, moved: WorkflowStatusChange, known: Sequence[str]) -> None:
        """Note that a caller was told that a workflow is paused, with its executions that were known then."""
        if moved.status.state != "paused":
            return
        self._held_workflows[workflow] = self._world.database.clock()
        for id_ in known if not moved.more else ():
            head = self._world.database.heads[id_]
            if head.workflow == workflow and head.status not in CLOSED and not self._is_by_leg(id_):
                self._ordered[id_] = head.last_seq

    def workflow_resumes(self, workflow: str) -> None:
        """Note that a caller is about to resume a workflow."""
        self._held_workflows.pop(workflow, None)
        heads = self._world.database.heads
        self._ordered = {id_: seq for id_, seq in self._ordered.items() if heads[id_].workflow != workflow}

    def _is_by_leg(self, id_: str) -> bool:
        """Return whether what an execution has acted upon may not be in its log yet."""
        return b'"durability":"leg"' in self._document_of(id_)

    def _document_of(self, id_: str) -> bytes:
        database = self._world.database
        hash_ = database.infos[id_].hash
        return next(one.document for one in database.versions if one.hash == hash_)

    def answered(self, point: str, key: str, data: object, taken: Reserved) -> None:
        """Note that a caller was told that its answer is accepted."""
        self.promises.answered(point, key, data, taken)

    def decided(self, point: str, by: str, taken: Reserved, *, approved: bool) -> None:
        """Note that a caller was told that its decision is accepted."""
        self.promises.decided(point, by, taken, approved=approved)

    def called_back(self, execution_id: str, point: str, reply: Reply | None) -> None:
        """Note that a system was told that its reply is accepted."""
        self.promises.called_back(execution_id, point, reply)

    def signalled(self, name: str, key: str, taken: SignalReceipt) -> bool:
        """Note that a system was told that its signal is taken; return whether it is new."""
        self.promises.signalled(name, key, taken)
        return not taken.repeated

    # What an instance does

    def claimed(self, life: Life, before: Head) -> None:
        """Check a claim: an instance never takes over what it drives itself.

        Who tries to begin what an earlier try of its own has begun without its hearing of it does not drive that; nor
        does a slow start that is the same as another one, which was begun and has gone on since.
        """
        instance, id_ = life.instance, before.execution_id
        if instance is None or before.owner != instance.id or (driven := instance.driver.active.get(id_)) is None:
            return
        is_begun = driven.new == self._world.database.infos[id_] and driven.epoch == before.epoch
        if driven.new is None or is_begun:
            self.breaks("NOT_FROM_ITSELF", f"{life.name} takes over {id_} with {len(driven.calls)} calls out")

    def begins(self, life: Life, out: CallOut) -> None:
        """Look at a call that begins."""
        id_, call = out.execution.id, out.call
        head = self._world.database.heads[id_]
        where = f"{life.name} calls {call.node} ({call.attempt}) of {id_}"
        if head.owner != life.name:
            self.breaks("CALL_HAS_LEASE", f"{where}; its owner is {head.owner}, it is {head.status}")
        if head.takeovers > self._world.mixture.settings.max_takeovers:
            self.breaks("POISON_CONTAINED", f"{where}, which has lost {head.takeovers} instances")
        log = self.log(id_)
        self._look_at_gate(out, log, where)
        self._look_at_node(out, log, where)
        if f'"id":"{call.node.partition(":")[0]}"'.encode() not in self._document_of(id_):
            self.breaks("VERSION_KEPT", f"{where}, and its version has no such node")
        others = self._out.setdefault((id_, call.node), [])
        for other, theirs in others:
            if other is not life and self._is_out(other, theirs):
                self.breaks("ONE_AT_A_TIME", f"{where}, and it is out on {other.name}")
        others.append((life, out))

    def _look_at_gate(self, out: CallOut, log: list[ev.AnyEvent], where: str) -> None:
        id_, call = out.execution.id, out.call
        gate = [one for one in log if isinstance(one, _OF_GATE)]
        is_resumed = bool(gate) and not isinstance(gate[-1], ev.ExecutionPausing)
        is_closed = bool(gate) and not is_resumed
        if is_closed and id_ in self.held:
            self.breaks("PAUSE_HOLDS", f"{where} after its pause was told")
        head = self._world.database.heads[id_]
        if is_closed and out.execution.epoch == head.epoch and not self._is_by_leg(id_):
            self.breaks("PAUSE_HOLDS", f"{where} after its pause was written: anybody may have been told")
        info = self._world.database.infos[id_]
        since = self._held_workflows.get(info.workflow)
        if since is not None and info.created_at > since + _STANDINGS_COUNT and not is_resumed:
            self.breaks("PAUSE_HOLDS", f"{where}, which began after the pause of {info.workflow} was told")
        if (seq := self._ordered.get(id_)) is not None and not is_resumed:
            later = [one for one in log[seq + 1 :] if isinstance(one, ev.NodeStarted) and one.node == call.node]
            if any(one.attempt == call.attempt for one in later):
                self.breaks("PAUSE_HOLDS", f"{where}, which started after the pause of {info.workflow} was told")

    def _look_at_node(self, out: CallOut, log: list[ev.AnyEvent], where: str) -> None:
        call = out.call
        if any(isinstance(one, ev.NodeCompleted) and one.node == call.node for one in _since_rewound(log)):
            self.breaks("DONE_ONCE", f"{where}, which is completed")
        rounds = [one for one in log if isinstance(one, ev.NodeStarted) and one.node == call.node]
        started = [one for one in rounds if one.attempt == call.attempt]
        if started and call.purpose == "work" and started[-1].input != call.input:
            self.breaks("INPUT_IS_LOGGED", f"{where} with {call.input!r}; the log says {started[-1].input!r}")

    def _is_out(self, other: Life, out: CallOut) -> bool:
        """Return whether a call is out on an instance that has been in touch for a lease."""
        lease = self._world.mixture.settings.lease_ttl / 1000
        if other.dead or other.instance is None or other.faulty_until > self._world.loop.time() - lease - _IN_TOUCH:
            return False
        return out.worker is not None and not out.stopped

    def kills_instance(self, execution_id: str, node: str) -> None:
        """Take note that a call ends its instance: it may do so as often in a row as is allowed, and once more."""
        self.kills[execution_id, node] += 1
        events, kills = self.log(execution_id), self._kills_at.setdefault(execution_id, [])
        kills.append(len(events))
        progress = max((n for n, one in enumerate(events) if not isinstance(one, _TAKEN_UP)), default=-1)
        count, most = sum(at > progress + 1 for at in kills), self._world.mixture.settings.max_takeovers
        if count > most + 1:
            self.breaks("POISON_CONTAINED", f"{node} of {execution_id} has ended {count} instances in a row")

    def does(self, life: Life, context: CallContext, key: str, *, at_once: bool) -> None:
        """Look at something that a function is about to do once, under a key: it is not recorded yet.

        Who began it long ago, has lost the execution since, and has not heard of it, may do it: nobody can prevent
        that. What is done `at_once` is done under a lease.
        """
        id_, node = context.execution_id, context.context_id
        head = self._world.database.heads[id_]
        theirs = [out for one, out in self._out[id_, node] if one is life and out.call.attempt == context.attempt]
        if head.owner != life.name or not theirs or theirs[-1].execution.epoch != head.epoch:
            if at_once:
                self.breaks("CALL_HAS_LEASE", f"{life.name} does {key} at {node} of {id_}; its owner is {head.owner}")
            return
        for one in reversed(_since_rewound(self.log(id_))):
            if isinstance(one, ev.NodeCompleted) and one.node == node:
                return
            if isinstance(one, ev.NodeRecorded) and (one.node, one.key) == (node, key):
                self.breaks("RECORDED_ONCE", f"{life.name} does {key} at {node} of {id_}, which is recorded")
                return

    # Now and then, and at the end

    def look(self) -> None:
        """Look whether what is owned is driven, what is due is taken up, and who works is well."""
        self._timeliness.look()
        self.resumed.look()
        self._looks += 1
        if self._looks % _LOOKS_AT_HEALTH:
            return
        for life in self._world.instances.ready():
            if life.engine is not None and not life.engine.is_healthy:
                self.breaks("NO_INTERNAL_ERROR", f"{life.name} is not healthy: {life.engine.failing_services}")

    async def final(self) -> None:
        """Look at everything once more."""
        for view in self._views:
            self.is_still_true(view)
        self.promises.look()
        self.spoken.look()
        await look_at_the_end(self._world, self)


def _since_rewound(log: list[ev.AnyEvent]) -> list[ev.AnyEvent]:
    """Return what a log has since its last results were dropped."""
    for index in range(len(log) - 1, -1, -1):
        if isinstance(log[index], ev.NodeRewound):
            return log[index:]
    return log


def _decoded(entry: Entry) -> list[ev.AnyEvent]:
    return list(decode_events(entry.events))
