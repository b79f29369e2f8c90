"""One execution that this instance drives: what is told to it is decided, written, and only then acted upon.

At most one append is on its way. What comes in meanwhile waits for its outcome and is decided together with the next
step. If the store refuses an append because commands have come that its writer had not seen, the decision is taken back
and made again, commands first. If it refuses because somebody else drives the execution now, it is dropped and whatever
is still running here is stopped; the store's rule makes sure that nothing it might report can do harm.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.codec import encode_events, encode_state
from layover.core.engine.command_codec import decode_command
from layover.core.engine.decide import play
from layover.core.engine.effects import Call, Close, StopCalls, effects
from layover.core.engine.movement import is_within
from layover.core.engine.timing import wake_at
from layover.core.errors import LayoverError
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Append, Closed, Lease, Rest
from layover.runtime.alarm import Alarm
from layover.runtime.cache import Kept
from layover.runtime.line import Line
from layover.runtime.places import Places
from layover.runtime.point_changes import point_changes
from layover.runtime.steps import Step, in_order
from layover.runtime.stranded import is_stranded, look_again_at

if TYPE_CHECKING:
    from layover.core.engine.state import Execution
    from layover.ports.records import Command, NewExecution, Outcome
    from layover.runtime.caller import CallOut
    from layover.runtime.driver import Driver

_log = logging.getLogger("layover.driven")

# After so many refusals in a row for commands that came in, the next decision is made where no more can come.
_MOST_REFUSALS = 3


class Undecidable(LayoverError):  # noqa: N818 - it says what the execution is
    """An execution for which what follows cannot be worked out or written down."""

    code = "undecidable"


class Driven:
    """The state of an execution, the lease on it, and what is on its way."""

    __slots__ = (
        "_alarm",
        "_append",
        "_driver",
        "_inputs",
        "_line",
        "_noted",
        "_places",
        "_refusals",
        "_resters",
        "_size",
        "_snapshot_seq",
        "_stash",
        "_step",
        "_was_closed",
        "calls",
        "commands_seen",
        "created",
        "dropped",
        "epoch",
        "finished_at",
        "id",
        "last_epoch",
        "last_seq",
        "lease",
        "lease_until",
        "new",
        "parked",
        "state",
        "waits_turn",
    )

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        driver: Driver,
        execution_id: str,
        kept: Kept,
        lease: Lease,
        *,
        lease_until: int,
        commands_seen: int = 0,
        new: NewExecution | None = None,
        parked: bool = False,  # it is begun here, and driven by whoever has room for it
    ) -> None:
        self._driver = driver
        self.id = execution_id
        self.state: Execution = kept.state
        self.last_seq = kept.last_seq
        self.last_epoch = kept.last_epoch
        self.lease = lease
        self.epoch = lease.epoch
        self.lease_until = lease_until
        self.commands_seen = commands_seen
        self.new = new
        self.created: asyncio.Future[Outcome] = driver.loop.create_future()
        self.finished_at: int | None = None
        self._resters: list[asyncio.Future[None]] = []
        self.dropped = False
        self.calls: dict[str, CallOut] = {}
        self.parked = parked
        self._places = Places(driver.caller, closed=parked)
        self.waits_turn = False
        self._noted = commands_seen
        self._line = Line(self.state)
        self._snapshot_seq = kept.snapshot_seq
        self._size = kept.size
        self._was_closed = bool(self.state.facts.closed)
        self._inputs: list[cmd.AnyCommand] = []
        self._stash: dict[int, Command] = {}
        self._refusals = 0
        self._step: Step | None = None
        self._append: Append | None = None
        self._alarm = Alarm(self._ring)

    # What comes in

    def feed(self, *commands: cmd.AnyCommand) -> None:
        """Tell the execution something; it is decided as soon as the last decision is durable."""
        self._inputs.extend(commands)
        if self._append is None:
            self.go()

    def has_lease(self) -> bool:
        """Return whether the execution is surely still ours: nobody can have taken it before the lease has run out."""
        return not self.dropped and self._driver.clock.now() < self.lease_until

    def hear(self, command: Command) -> None:
        """Take a durable command that was sent to it from this process."""
        if command.n > self.commands_seen:
            self._stash[command.n] = command
            if self._append is None:
                self.go()

    def read(self, commands: tuple[Command, ...]) -> list[cmd.AnyCommand]:
        """Return durable commands as what they ask; from now on they count as seen."""
        asked: list[cmd.AnyCommand] = []
        for command in commands:
            if command.n <= self.commands_seen:
                continue
            self.commands_seen = command.n
            try:
                asked.append(decode_command(command.kind, command.body))
            except LayoverError as error:
                _log.error("command_unreadable execution=%s n=%d error=%s", self.id, command.n, error.message)
        return asked

    def start_queued(self) -> None:
        """Start one of the calls that wait for a place, of a type for which there is one."""
        if self.dropped or self._append is not None or self.state.facts.gate != "open":
            return  # after its next step it gets in line again
        caller = self._driver.caller
        name = self._line.next(caller.has_place)
        if name is not None:
            self.feed(cmd.StartQueued(node=name))
        elif self._line:
            caller.stay_in_line(self)

    # Deciding

    def go(self) -> None:
        """Decide all that has come in, and write it."""
        if self._append is not None or self.dropped:
            return
        while self._stash and (heard := self._stash.pop(self.commands_seen + 1, None)) is not None:
            self._inputs.extend(self.read((heard,)))
        if not self._inputs:
            return
        tried, self._inputs = self._inputs, []
        try:
            step = self._decide(tried, self._driver.clock.now())
            if step.events:
                self._write(step)
            else:
                self._nothing_changed(step)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take anything else with it
            _log.exception("decision_failed execution=%s", self.id)
            self._give_up(Undecidable(f"The execution {self.id} cannot go on: {error!r}"))

    def _decide(self, tried: list[cmd.AnyCommand], now: int) -> Step:
        """Return what was told leads to, with all that has come due: nothing due is left undone at a rest."""
        state, places = self.state, self._places
        events = play(state, tried[0], now, places)
        for command in tried[1:]:
            events.extend(play(state, command, now, places))
        while (due := wake_at(state)) is not None and due <= now:
            more = play(state, cmd.Wake(), now, places)
            if not more:
                break
            events.extend(more)
        return Step(tried, events, effects(state, events), self._resting(now), now)

    def _write(self, step: Step) -> None:
        append = self._prepare(step)
        reached(CommitPoint.APPEND_DECIDED)
        if self._refusals < _MOST_REFUSALS:
            self._driver.committer.submit(append, self._told)
        else:
            self._driver.committer.insist(append, self._decide_again, self._told)

    def _decide_again(self, commands: tuple[Command, ...]) -> Append:
        """Decide a step anew that is on its way, with commands that have come in; called where nobody can send more.

        That is on another thread, so no places are taken there but those that the first decision took here.
        """
        step = self._step
        if step is None:
            raise AssertionError("nothing is on its way")
        self.state.journal.revert()
        self._places.reserve()
        try:
            return self._prepare(self._decide(in_order(step.tried, self.read(commands)), step.at))
        finally:
            self._places.open()

    def _prepare(self, step: Step) -> Append:
        state, count, driver = self.state, len(step.events), self._driver
        facts = state.facts
        self._step = step
        self._append = append = Append(
            execution_id=self.id,
            owner=driver.instance,
            epoch=self.epoch,
            expected_seq=self.last_seq,
            commands_seen=self.commands_seen,
            at=step.at,
            events=encode_events(step.events),
            count=count,
            status=state.status if step.rest is not None or facts.gate != "open" else "running",
            new=self.new,
            lease_until=self.lease_until,
            rest=step.rest,
            points=point_changes(state, step.events),
            snapshot=self._snapshot(count, resting=step.rest is not None),
            closed=None if bool(facts.closed) == self._was_closed else self._how_it_closed(),
        )
        return append

    def _resting(self, now: int) -> Rest | None:
        """Return how the execution is given back with this step, if it is."""
        state, facts = self.state, self.state.facts
        if state.counts.rows["calls"] and facts.gate == "open" and not facts.closed:
            return None  # by far the most frequent
        if state.resting:
            return Rest(wake_at=wake_at(state))
        if state.counts["calls"] or not state.counts["queued"]:
            return None
        if self.parked or self._driver.stopping:
            return Rest(wake_at=now)  # what is queued is for another instance
        if is_stranded(state, self._driver.caller.can_run):
            return Rest(wake_at=look_again_at(state, now))
        return None

    def _how_it_closed(self) -> Closed:
        """Return how the execution ended; of one that was reopened there is nothing to tell."""
        facts = self.state.facts
        return Closed(outcome=facts.outcome, error_code=facts.error.code if facts.error is not None else "")

    def _snapshot(self, count: int, *, resting: bool) -> bytes | None:
        """Return the state as bytes, if the log has grown by enough since the last time to be worth it."""
        settings = self._driver.settings
        grown = self.last_seq + count - self._snapshot_seq
        enough = settings.snapshot_at_rest if resting else settings.snapshot_every
        if grown < enough or self.state.facts.closed or grown < len(self.state.nodes):
            return None
        reached(CommitPoint.SNAPSHOT_DECIDED)
        return encode_state(self.state)

    # The outcome

    def _told(self, outcome: Outcome | StoreError) -> None:
        step, append = self._step, self._append
        self._step = self._append = None
        if step is None or append is None:
            raise AssertionError("an outcome came for an append that was never sent")
        if isinstance(outcome, StoreError):
            self._failed(outcome)
        elif outcome.verdict == "passed":
            self._passed(outcome, step, append)
        elif outcome.verdict == "uninformed":
            self._uninformed(outcome, step)
        else:
            self._lost(outcome)

    def _passed(self, outcome: Outcome, step: Step, append: Append) -> None:
        reached(CommitPoint.APPEND_TOLD if step.rest is None else CommitPoint.REST_TOLD)
        state = self.state
        state.journal.keep()
        self._refusals = 0
        self.last_seq += append.count
        self.last_epoch = self.epoch
        self._noted = append.commands_seen
        self._size += len(append.events)
        self._was_closed = bool(state.facts.closed)
        if append.snapshot is not None:
            self._snapshot_seq = self.last_seq
        if self.new is not None:
            self.new = None
            self._tell_creator(outcome)
        listeners = self._driver.listeners
        if listeners.waiting:
            listeners.changed(self.id)
        self._act(step)
        self._places.give_back()
        if step.rest is not None:
            self._come_to_rest(step.rest)
            return
        if state.counts["queued"]:
            self._line.add(one.node for one in step.events if isinstance(one, ev.NodeScheduled) and one.queued)
            self._driver.caller.wait_turn(self)
        self._set_alarm()
        if self._inputs or self._stash:
            self.go()

    def _act(self, step: Step) -> None:
        """Do what the events ask of the world, now that they are durable."""
        if self.calls:
            for event in step.events:
                if isinstance(event, ev.NodeFailed):
                    self.stop_call(event.node)  # it took too long: nobody waits for it any more
        for effect in step.effects:
            match effect:
                case Call():
                    self._places.hand_over(effect.node_type)
                    self._driver.caller.call(self, effect)
                case StopCalls(path=path):
                    self.stop_calls(path)
                case Close():
                    self.finished_at = step.at
                case _:
                    pass

    def _uninformed(self, outcome: Outcome, step: Step) -> None:
        """Decide again, with the commands that the last decision did not know of."""
        self._refusals += 1
        self._take_back()
        self._inputs = [*in_order(step.tried, self.read(outcome.commands)), *self._inputs]
        self.commands_seen = max(self.commands_seen, outcome.commands_seq)
        self.go()

    def _lost(self, outcome: Outcome) -> None:
        self._take_back()
        if self.new is not None:
            self._tell_creator(outcome)
        else:
            _log.warning("lease_lost execution=%s epoch=%d", self.id, self.epoch)
        self.drop()

    def _failed(self, error: StoreError) -> None:
        if isinstance(error, StoreUnavailable) and self.new is None:
            self._take_back()
            self._driver.put_off(self, 0)  # whoever can reach the store goes on from what has landed
        else:
            self._give_up(error)

    def _give_up(self, error: LayoverError) -> None:
        """Let go of an execution that cannot be gone on with, or not begun."""
        self._step = self._append = None
        self._take_back()
        if self.new is None:
            self._driver.put_off(self)
        else:
            self._tell_creator(error)
            self.drop()

    def _tell_creator(self, what: Outcome | LayoverError) -> None:
        """Tell whoever began the execution what became of it, unless they have given up waiting."""
        if self.created.done():
            return
        if isinstance(what, LayoverError):
            self.created.set_exception(what)
        else:
            self.created.set_result(what)

    def _take_back(self) -> None:
        self.state.journal.revert()
        self._places.give_back()

    # Rest and end

    def _nothing_changed(self, step: Step) -> None:
        """Rest if nothing is under way; what was told made no difference, and whoever told it learns that it came."""
        self.state.journal.keep()
        if self._noted < self.commands_seen:
            self._write(step)
        elif self.state.resting:
            self._alarm.clear()
            self._end()
            self._driver.give_back(self, Rest(wake_at=wake_at(self.state)))

    def _come_to_rest(self, rest: Rest) -> None:
        self.stop_calls("")
        self._alarm.clear()
        self._end()
        self._driver.rested(self, rest)

    def _end(self) -> None:
        self.dropped = True
        for waiting in self._resters:
            if not waiting.done():
                waiting.set_result(None)

    async def at_rest(self) -> None:
        """Return when the execution is no longer driven here: it has come to rest, or to its end, or was lost."""
        if not self.dropped:
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._resters.append(waiting)
            await waiting

    def keep(self) -> Kept:
        """Return the state with all that is needed to go on from it."""
        return Kept(self.state, self.last_seq, self.last_epoch, self._snapshot_seq, self._size)

    def drop(self) -> None:
        """Let go of the execution: it is somebody else's now."""
        self._end()
        self._alarm.clear()
        self.stop_calls("")
        self._driver.forget(self)

    def stop_calls(self, path: str) -> None:
        """Ask the calls in a scope to stop."""
        for name in [name for name in self.calls if not path or is_within(name, path)]:
            self.stop_call(name)

    def stop_call(self, name: str) -> None:
        """Ask one call to stop; it has time to clean up, and what it reports is no longer heard."""
        out = self.calls.pop(name, None)
        if out is not None:
            out.stop()

    # Time

    def _set_alarm(self) -> None:
        """Be woken when time has something to do while calls are out."""
        due = wake_at(self.state)
        if self.state.facts.gate == "pausing":
            due = min(self._drained_by(), self._drained_by() if due is None else due)
        self._alarm.set(due, self._driver.clock.now() if due is not None else 0)

    def _drained_by(self) -> int:
        return self.state.facts.paused_at + self._driver.settings.drain

    def _ring(self) -> None:
        if self.dropped:
            return
        late = self.state.facts.gate == "pausing" and self._drained_by() <= self._driver.clock.now()
        self.feed(cmd.StopDraining() if late else cmd.Wake())
        if self._append is None and not self.dropped:
            self._set_alarm()
