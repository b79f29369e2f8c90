"""The laws: what was promised, checked at the moment against the tables, and once more when all is over.

The oracle sees what nobody in the run can see: the tables as they are, and who is out of touch for which reason.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.ports.records import CLOSED
from layover.runtime.plans import Plans
from layover.runtime.verify import violations
from layover.stores.memory import MemoryStore

if TYPE_CHECKING:
    from layover.ports.records import Head, Reserved
    from layover.runtime.caller import CallOut
    from layover.runtime.views import Execution
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

_SOON = 1.5  # seconds in which what is claimed is driven, and what is lost noticed
_IN_TOUCH = 5.0  # seconds since the last disturbance, after which it explains nothing
# All that an execution says about itself before a call has come to anything.
_TAKEN_UP = (ev.LegStarted, ev.NodeInDoubt, ev.NodeScheduled, ev.NodeStarted)
_A_WHILE = 5.0  # seconds beyond what the settings say, in which due work is taken up

LAWS = {
    "TOLD_IS_DURABLE": "Nothing that is told is ahead of the log.",
    "ANSWER_ONCE": "An accepted answer is in the log once, with its data, unless the execution ended first.",
    "PAUSE_HOLDS": "No call begins between a pause that was told and a resume.",
    "DONE_ONCE": "No call begins for what the log has completed.",
    "CALL_HAS_LEASE": "Who begins a call owns the execution.",
    "ONE_AT_A_TIME": "A call is never out on two instances that are both in touch.",
    "NOT_FROM_ITSELF": "Nobody takes over what it drives itself.",
    "OWNED_IS_DRIVEN": "What a live instance owns it drives.",
    "POISON_CONTAINED": "A call that kills its instance is not made for ever.",
    "INNOCENT_GOES_ON": "Nobody fails for what a neighbour did.",
    "LIVENESS": "Some time after the last fault everything is closed, or held by a person.",
    "ENDS_OR_SAYS_WHY": "What stands still can say why.",
    "PROMPT": "What is due is taken up soon.",
    "VERIFY": "The history checker finds nothing.",
    "INPUT_IS_LOGGED": "A call is given what the log says.",
    "NO_INTERNAL_ERROR": "No error is logged that was not caused from outside.",
}


class Broken(NamedTuple):
    """A law that does not hold: which, when, at which step, and what was seen."""

    law: str
    at: float
    step: int
    seen: str


class Answer(NamedTuple):
    """An answer that somebody was told is accepted."""

    execution_id: str
    data: object


class Oracle:
    """Knows what was told to whom, and holds it against the tables."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.broken: dict[str, Broken] = {}  # the first of each law
        self.held: dict[str, None] = {}  # executions whose pause was told
        self.answers: dict[str, Answer] = {}  # by point
        self.kills: Counter[tuple[str, str]] = Counter()  # instances, by the call that ended them
        self._kills_at: dict[str, list[int]] = {}  # how long the log was then, by execution
        self._begun: dict[CallOut, None] = {}
        self._idle: dict[tuple[str, int], float] = {}  # what is owned and not driven, since when
        self._due: dict[tuple[str, int], float] = {}  # what is due and not taken up, since when

    def breaks(self, law: str, seen: str) -> None:
        """Take note that a law does not hold."""
        loop = self._world.loop
        self._world.noted(None, f"BROKEN {law}: {seen}")
        self.broken.setdefault(law, Broken(law, loop.time(), loop.steps, seen))

    def owners(self) -> dict[str, str | None]:
        """Return who owns what."""
        return {id_: head.owner for id_, head in self._world.database.heads.items()}

    # What somebody is told

    def told(self, what: str, view: Execution) -> None:
        """Look at something that anybody is told of an execution: it is in its log by then."""
        head = self._world.database.heads.get(view.id)
        if head is None or view.last_seq > head.last_seq:
            durable = head.last_seq if head is not None else None
            self.breaks("TOLD_IS_DURABLE", f"{what} of {view.id} told {view.status} at {view.last_seq} of {durable}")
        elif view.closed and head.last_seq == view.last_seq and head.status != view.status:
            self.breaks("TOLD_IS_DURABLE", f"{what} of {view.id} told {view.status}; it is {head.status}")

    def paused(self, view: Execution) -> None:
        """Take note that somebody was told of a pause."""
        self.told("pause", view)
        if view.status in ("paused", "pausing"):
            self.held[view.id] = None

    def answered(self, point: str, data: object, taken: Reserved) -> None:
        """Take note that somebody was told that an answer is accepted."""
        if not taken.repeated:
            self.answers[point] = Answer(taken.execution_id, data)

    # What an instance does

    def claimed(self, life: Life, execution_id: str, owner: str | None) -> None:
        """Look at a claim: nobody takes over what it drives itself.

        What comes to be driven while the claim is on its way, with a lease that has run out by then, is no harm: its
        calls do not begin before the lease is renewed, and then it turns out to be lost.
        """
        instance = life.instance
        driven = instance.driver.driven.get(execution_id) if instance is not None and owner == instance.id else None
        begun = [out for out in driven.calls.values() if out in self._begun] if driven is not None else []
        if begun:
            self.breaks("NOT_FROM_ITSELF", f"{life.name} takes over {execution_id} with {len(begun)} calls out")

    def begins(self, life: Life, out: CallOut) -> None:
        """Look at a call that begins."""
        id_, call = out.driven.id, out.call
        head = self._world.database.heads[id_]
        where = f"{life.name} calls {call.node} ({call.attempt}) of {id_}"
        if head.owner != life.name:
            self.breaks("CALL_HAS_LEASE", f"{where}; its owner is {head.owner}, it is {head.status}")
        if head.takeovers > self._world.mixture.settings.max_takeovers:
            self.breaks("POISON_CONTAINED", f"{where}, which has lost {head.takeovers} instances")
        log = self.log(id_)
        gate = [one for one in log if isinstance(one, ev.ExecutionPausing | ev.ExecutionResumed)]
        if id_ in self.held and gate and isinstance(gate[-1], ev.ExecutionPausing):
            self.breaks("PAUSE_HOLDS", f"{where} after its pause was told")
        of_node = [one for one in log if getattr(one, "node", None) == call.node]
        rounds = [one for one in of_node if isinstance(one, ev.NodeScheduled | ev.NodeStarted | ev.NodeCompleted)]
        if rounds and isinstance(rounds[-1], ev.NodeCompleted):
            self.breaks("DONE_ONCE", f"{where}, which is completed")
        started = [one for one in rounds if isinstance(one, ev.NodeStarted) and one.attempt == call.attempt]
        if started and not call.probe and started[-1].input != call.input:
            self.breaks("INPUT_IS_LOGGED", f"{where} with {call.input!r}; the log says {started[-1].input!r}")
        for other in self._world.lives:
            if other is not life and self._is_out_on(other, out):
                self.breaks("ONE_AT_A_TIME", f"{where}, and it is out on {other.name}")
        self._begun[out] = None

    def _is_out_on(self, other: Life, out: CallOut) -> bool:
        """Return whether a call is out on an instance that has been in touch for a lease."""
        lease = self._world.mixture.settings.lease_ttl / 1000
        if other.dead or other.instance is None or other.faulty_until > self._world.loop.time() - lease - _IN_TOUCH:
            return False
        driven = other.instance.driver.driven.get(out.driven.id)
        theirs = driven.calls.get(out.call.node) if driven is not None else None
        return theirs is not None and theirs in self._begun and not theirs.stopped

    def kills_instance(self, execution_id: str, node: str) -> None:
        """Take note that a call ends its instance: it may do so as often in a row as is allowed, and once more."""
        self.kills[execution_id, node] += 1
        events, kills = self.log(execution_id), self._kills_at.setdefault(execution_id, [])
        kills.append(len(events))
        progress = max((n for n, one in enumerate(events) if not isinstance(one, _TAKEN_UP)), default=-1)
        count, most = sum(at > progress + 1 for at in kills), self._world.mixture.settings.max_takeovers
        if count > most + 1:
            self.breaks("POISON_CONTAINED", f"{node} of {execution_id} has ended {count} instances in a row")

    # Now and then

    def look(self) -> None:
        """Look at what is owned and not driven, and at what is due and not taken up."""
        now, idle = self._world.loop.time(), dict[tuple[str, int], float]()
        for life in self._world.lives:
            instance = life.instance
            if life.dead or instance is None or life.faulty_until > now - _IN_TOUCH:
                continue
            for id_, head in self._world.database.heads.items():
                if head.owner == instance.id and id_ not in instance.driver.driven and not self._is_due(head):
                    since = idle[id_, head.epoch] = self._idle.get((id_, head.epoch), now)
                    if now - since > _SOON:
                        self.breaks("OWNED_IS_DRIVEN", f"{life.name} owns {id_} ({head.status}) and does not drive it")
        self._idle = idle
        self._look_for_due(now)

    def _look_for_due(self, now: float) -> None:
        world = self._world
        settings, due = world.mixture.settings, dict[tuple[str, int], float]()
        patience = (settings.poll + settings.lease_ttl) / 1000 + _A_WHILE
        if now < world.heals_at + patience or not world.has_room():
            self._due = {}
            return
        for id_, head in world.database.heads.items():
            if head.owner is None and not head.missing and head.takeovers == 0 and self._is_due(head):
                since = due[id_, head.last_seq] = self._due.get((id_, head.last_seq), now)
                if now - since > patience:
                    self.breaks("PROMPT", f"{id_} ({head.workflow}, {head.status}) is due and nobody takes it up")
        self._due = due

    def _is_due(self, head: Head) -> bool:
        return head.status not in CLOSED and head.wake_at is not None and head.wake_at <= self._world.database.clock()

    # At the end

    async def final(self) -> None:
        """Look at everything once more."""
        database = self._world.database
        for point, answer in self.answers.items():
            self._look_at_answer(point, answer)
        for id_, head in database.heads.items():
            await self._look_at_end(id_, head)
        store = MemoryStore(database)
        await store.open("oracle")
        plans = Plans(store)
        plans.read = self._world.scenario.read_plan
        for one in await violations(store, plans):
            self.breaks("VERIFY", f"{one.execution_id} {one.code}: {one.message}")

    def _look_at_answer(self, point: str, answer: Answer) -> None:
        log = self.log(answer.execution_id)
        found = [one for one in log if isinstance(one, ev.PausePointAnswered) and one.point == point]
        ended = any(isinstance(one, ev.ExecutionCancelled | ev.ExecutionFailed | ev.PausePointCancelled) for one in log)
        if len(found) != 1 and not (ended and not found):
            self.breaks("ANSWER_ONCE", f"an answer to {point} that was accepted is {len(found)} times in the log")
        elif found and found[0].output != answer.data:
            self.breaks("ANSWER_ONCE", f"an answer to {point} is {found[0].output!r} in the log, not {answer.data!r}")

    async def _look_at_end(self, id_: str, head: Head) -> None:
        if head.status not in CLOSED:
            why: Any = await self._world.ask(lambda engine: engine.why(id_))
            if why is None or not why.reasons:
                said = why.summary if why is not None else "no answer"
                self.breaks("ENDS_OR_SAYS_WHY", f"{id_} ({head.workflow}) is {head.status}: {said}")
            elif head.status != "paused":
                self.breaks("LIVENESS", f"{id_} ({head.workflow}) is still {head.status}: {why.summary}")
        if any(kill[0] == id_ for kill in self.kills):
            return
        for event in self.log(id_):
            if isinstance(event, ev.NodeFailed) and event.error.code == "max_recoveries" and not self._is_crashing():
                self.breaks("INNOCENT_GOES_ON", f"{event.node} of {id_} failed for what others did to its instances")

    def _is_crashing(self) -> bool:
        """Return whether instances die so often by themselves that a call may be lost with each of its tries."""
        mixture = self._world.mixture
        return bool(mixture.crashes or mixture.crashes_at_points or mixture.stops or mixture.stops_at_points)

    def log(self, id_: str) -> list[ev.AnyEvent]:
        """Return what is durable of an execution."""
        return [one for entry in self._world.database.logs.get(id_, ()) for one in decode_events(entry.events)]
