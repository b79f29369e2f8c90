"""Random play: every possible command is sent to an execution, at any moment, sensible or not.

After each command the player checks the laws: deciding leaves no trace and is deterministic, stale and repeated
commands change nothing, and folding the log gives the very state that the decisions led to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.decide import decide, play
from layover.core.engine.effects import MakeCall, Scan, SendLetter, StartChild, TellChild, TellParent, effects
from layover.core.engine.evolve import fold
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.in_doubt import purpose_of
from layover.core.engine.past import Past
from layover.core.engine.rewind import can_go_back
from layover.core.engine.state import ExecutionState, NodeState, Point
from layover.core.engine.timing import wake_at
from layover.core.plan import load
from layover.core.resume_waits import ResumeWait

from .graphs import INPUTS, behave, reply, workflow
from .laws import Ledger, Tables, check_state, tables

if TYPE_CHECKING:
    from layover.core.plan import Plan
    from tests.core.definitions.dice import Dice

_MOST_STEPS_TO_END = 1_000
_ERROR = ev.Error(code="failed", type="OSError", message="lost")
_DECODER = msgspec.json.Decoder(tuple[int, ev.AnyEvent])
_FROM_NODE = (cmd.Complete, cmd.Fail, cmd.Probed, cmd.Undone, cmd.Checkpoint, cmd.Record, cmd.Ask, cmd.Sleep)
_UNDOS = frozenset({"steady", "moody"})  # functions that can be undone
# These commands are new each time: a node has come further, an instance is lost, time has passed, a retry.
_NEW_EACH_TIME = (
    *(cmd.Checkpoint, cmd.Recover, cmd.Wake, cmd.Rewind, cmd.Retry, cmd.RunNow),
    *(cmd.StartLeg, cmd.StartQueued),
)


class Places(FreeSlots):
    """Call slots at random: each bit says whether the next one is taken."""

    taken: int = 0

    def take(self, _node_type: str) -> bool:
        """Take the next slot, if it is free."""
        self.taken, taken = divmod(self.taken, 2)
        return not taken


class Player:
    """An execution under random play, with everything that the laws compare it with."""

    def __init__(self, plan: Plan, dice: Dice) -> None:
        self.plan = plan
        self.document: dict[str, Any] = {}
        self.dice = dice
        self.now = 1_000
        self.state = ExecutionState(plan)
        self.shadow = ExecutionState(plan)
        self.log: list[tuple[int, ev.AnyEvent]] = []
        self.sent: list[cmd.AnyCommand] = []
        self.ledger = Ledger(plan)
        self.few_places = dice.chance(3)
        self.children: dict[str, str] = {}
        self.called: dict[str, MakeCall] = {}
        self.to_undo: dict[
            str, object
        ] = {}  # the input of lost calls that may not be made again before they are undone
        self.asked_about: dict[str, str] = {}  # nodes in doubt by the points that ask
        self.messages: set[tuple[int, str]] = set()
        self.workflow_stops = {"n2": "look", "n3": "look"} if dice.chance(6) else {}
        self.own_stops: set[str] = set()
        self.takes_back = False  # a rewind gives variables their earlier values, which takes a reading of the log
        self.stopped: set[str] = set()
        self.state.breakpoints = self.workflow_stops
        self.state.undos = _UNDOS

    def send(self, command: cmd.AnyCommand) -> list[ev.AnyEvent]:
        """Send a command, and check all laws."""
        before, closed = tables(self.state), self.state.facts.closed
        slots = self.dice.integer(0, 15) if self.few_places else 0
        events = decide(self.state, command, self.now, Places(taken=slots))
        assert tables(self.state) == before, "deciding left a trace"
        assert decide(self.state, command, self.now, Places(taken=slots)) == events, (
            "deciding again gave something else"
        )
        if self.dice.chance(8):
            play(self.state, command, self.now, Places(taken=slots))
            self.state.revert()
            assert tables(self.state) == before, "going back left a trace"
        assert play(self.state, command, self.now, Places(taken=slots)) == events
        self.state.undo_log.keep()
        if isinstance(command, _FROM_NODE) and not _is_awaited(before, command.node, command.attempt):
            assert events == [], "a stale attempt did something"
        if isinstance(command, cmd.Answer) and not _is_open(before, command.point):
            assert events == [], "a point was answered that is not open"
        if closed and not isinstance(command, cmd.Retry | cmd.Rewind):
            assert events == [], "a closed execution accepted something"
        self._commit(events)
        self.sent.append(command)
        if self.state.queue.rows and self.state.facts.gate == "open" and not self.state.facts.closed:
            self.send(cmd.Wake())  # a breakpoint has put off the rest of the step
        elif not (isinstance(command, _NEW_EACH_TIME) or self._released_by(command) or _opened_for(command, events)):
            assert decide(self.state, command, self.now) == [], "a repeated command did something"
        return events

    def _released_by(self, command: cmd.AnyCommand) -> bool:
        """Whether a repeated command has another effect, on an incident that came after the first time."""
        return isinstance(command, cmd.Resume) and any(n.status == "incident" for n in self.state.nodes.rows.values())

    def _commit(self, events: list[ev.AnyEvent]) -> None:
        entries = [(self.now, event) for event in events]
        self.log += entries
        fold(self.shadow, entries)
        assert tables(self.shadow) == tables(self.state), "folding in parts gave another state"
        self.ledger.read(events)
        check_state(self.state, self.ledger, len(self.log))
        self._watch_children(events)
        self._watch_messages(events)
        self._watch_calls(events)
        self._watch_stops(events)

    def _watch_stops(self, events: list[ev.AnyEvent]) -> None:
        """Check that no node with a breakpoint is begun without a stop before it."""
        for event in events:
            match event:
                case ev.BreakpointSet():
                    self.own_stops.add(event.node)
                case ev.BreakpointCleared():
                    self.own_stops.discard(event.node)
                case ev.ExecutionPausing() if event.before:
                    names = {event.before, event.before.partition(":")[0]}
                    assert names & (self.own_stops | self.workflow_stops.keys()), "it stopped without a breakpoint"
                    self.own_stops -= names
                    self.stopped.add(event.before)
                case ev.NodeScheduled() if event.cause == "reached":
                    names = {event.node, event.node.partition(":")[0]}
                    if names & (self.own_stops | self.workflow_stops.keys()):
                        assert event.node in self.stopped, "a breakpoint was passed"
                    self.stopped.discard(event.node)
                case _:
                    pass
        assert set(self.state.facts.breakpoints) == self.own_stops

    def _watch_children(self, events: list[ev.AnyEvent]) -> None:
        """Check that exactly the awaited children were started and not cancelled."""
        for event in events:
            if isinstance(event, ev.PausePointAnswered):
                self.children.pop(event.point, None)
        for effect in effects(self.state, events):
            if isinstance(effect, StartChild) and not effect.detached:
                self.children[effect.point] = effect.child
            elif isinstance(effect, TellChild):
                [point] = [point for point, child in self.children.items() if child == effect.child]
                if effect.what == "cancel":
                    del self.children[point]
        assert self.children == {point.id: point.child for point in self.state.points.rows.values() if point.child}

    def _watch_messages(self, events: list[ev.AnyEvent]) -> None:
        """Check that one event sends at most one message to each execution."""
        for effect in effects(self.state, events):
            match effect:
                case StartChild() | TellChild():
                    to = effect.child
                case TellParent():
                    to = effect.parent
                case Scan():
                    to = effect.point
                case SendLetter():
                    to = "notify"
                    self._check_letter(effect)
                case _:
                    continue
            assert len(self.log) - len(events) <= effect.seq < len(self.log)
            assert (effect.seq, to) not in self.messages, "an event says two things at once"
            self.messages.add((effect.seq, to))

    def _check_letter(self, effect: SendLetter) -> None:
        """Check that what is sent is in the log, with the very event that sends it; and that its outcome is awaited."""
        event = self.log[effect.seq][1]
        if effect.point:
            assert isinstance(event, ev.PausePointOpened)
            assert self.state.points[effect.point].kind == "delivery"
        else:
            assert isinstance(event, ev.NodeStarted)
        assert effect.sent.awaited == bool(effect.point)
        assert (effect.sent.via, effect.sent.to) == ("post", ("ann@example.org",))

    def _watch_calls(self, events: list[ev.AnyEvent]) -> None:
        """Check that every running node was called, with everything that its call needs."""
        self._watch_undos(events)
        for effect in effects(self.state, events):
            if isinstance(effect, MakeCall):
                assert effect.purpose != "work" or effect.node not in self.to_undo, "it was not undone"
                assert effect.purpose != "undo" or effect.input == self.to_undo[effect.node], "another call is undone"
                self.called[effect.node] = effect
        if self.state.facts.closed:
            return
        for name, node in self.state.nodes.rows.items():
            if node.status == "running":
                call = self.called[name]
                assert (call.attempt, call.point) == (node.attempt, node.point)
                assert call.purpose == purpose_of(self.state, name)
                assert call.node_type == self.state.planned(name).calls

    def _watch_undos(self, events: list[ev.AnyEvent]) -> None:
        """Take note of the calls that have to be undone, and of those for which that is over."""
        for event in events:
            match event:
                case ev.NodeInDoubt() if getattr(self.state.planned(event.node).node, "on_crash", "") == "undo":
                    self.to_undo.setdefault(event.node, self.called[event.node].input)
                case ev.NodeUndoRequested():
                    self.to_undo[event.node] = self.called[event.node].input
                case ev.NodeUndone():
                    node = self.state.node(event.node)
                    assert events[-1] is not event or not (node.journal or node.checkpoint), "its records are left"
                    del self.to_undo[event.node]
                case ev.PausePointApplied():
                    self.to_undo.pop(self.asked_about.pop(event.point, ""), None)
                case ev.PausePointOpened() if event.doubt:
                    self.asked_about[event.point] = event.node
                case ev.NodeCompleted():
                    self.to_undo.pop(event.node, None)
                case ev.NodeRewound():
                    self.to_undo = {name: given for name, given in self.to_undo.items() if self.state.node(name).doubt}
                case _:
                    pass

    def crash(self) -> None:
        """Lose everything except the log."""
        stored = [msgspec.json.encode(entry) for entry in self.log]
        self.state = fold(ExecutionState(self.plan), map(_DECODER.decode, stored))
        self.state.breakpoints, self.state.undos = self.workflow_stops, _UNDOS
        assert tables(self.state) == tables(self.shadow), "replay gave another state"

    # Commands

    def step(self) -> None:
        """Send a command: mostly an expected one, often enough an unexpected one."""
        if self.state.facts.closed and self.dice.chance(3):
            self.send(cmd.Retry(by="op") if self.dice.chance() else self._rewind())
            return
        choice = self.dice.integer(0, 19)
        if choice < 9:
            self.go_on()
        elif choice < 11:
            self.send(self._report())
        elif choice < 13:
            self.send(self._answer())
        elif choice < 15:
            self.now += self.dice.pick((1, 1_000, 60_000, 3_600_000, 86_400_000))
            self.send(cmd.Wake())
        elif choice == 15:
            again = self.dice.pick(self.sent)
            self.send(self._rewind(again.to) if isinstance(again, cmd.Rewind) else again)
        elif choice == 16:
            self._pause()
        elif choice == 17:
            self.send(cmd.Resume(by="op", data=self.dice.pick(({}, {"v": 2}))))
        elif choice == 18:
            self.crash()
            if self.dice.chance():
                self.send(cmd.Recover())
        else:
            self.send(self._act_of_an_operator())

    def _pause(self) -> None:
        """Pause it, perhaps with an end, which may come."""
        dice = self.dice
        at = self.now + 1_000 if dice.chance(8) else None
        on = ResumeWait(signal="go") if at is None and dice.chance(8) else None
        self.send(cmd.Pause(reason="hold", by="op", order=dice.pick((0, 0, 1, 2)), resume_at=at, resume_on=on))
        if dice.chance(8):
            self.send(cmd.ScheduleResume(at=dice.pick((None, self.now + 2_000)), by="op"))
        if dice.chance(8):
            self.send(cmd.ScheduleResume(on=ResumeWait(signal="go", filter="signal.data"), by="op"))
        if dice.chance(8):
            self.send(cmd.Deliver(id=f"go{self.now}", name="go", data=dice.pick((True, False, None))))

    def _reached(self) -> list[str]:
        """Return the nodes to which a rewind is possible, those in halted scopes included."""
        halted = ((path, id_) for path, one in self.state.halted.rows.items() for id_ in one.nodes)
        return sorted((*self.state.nodes.rows, *(f"{id_}:{path}" for path, id_ in halted))) or ["n1"]

    def _rewind(self, to: str = "") -> cmd.Rewind:
        """Return a rewind as an operator asks for it: what the dropped nodes had set is taken back."""
        to = to or self.dice.pick(self._reached())
        command = cmd.Rewind(to=to, by="op")
        if not self.takes_back or not can_go_back(self.state, to):
            return command
        return Past(self.plan).read(self.log).restored(to).within(command)

    def _act_of_an_operator(self) -> cmd.AnyCommand:
        dice = self.dice
        names = sorted(self.state.nodes.rows) or ["n1"]
        points = sorted(self.state.points.rows) or ["nowhere"]
        stops = sorted(self.state.facts.breakpoints)
        if stops and dice.chance(3):
            return cmd.ClearBreakpoint(node=dice.pick(("", *stops)))
        options: tuple[cmd.AnyCommand, ...] = (
            cmd.Recover(),
            cmd.Recover(),
            cmd.StartQueued(node=dice.pick(names)),
            cmd.Retry(by="op"),
            self._rewind(),
            cmd.RunNow(node=dice.pick(("", *names)), by="op"),
            cmd.CancelRetry(node=dice.pick(names), by="op"),
            cmd.SetBreakpoint(node=dice.pick(("n1", "n2", "n4", *names)), by="op"),
            cmd.ClearBreakpoint(node=dice.pick(("", "n2"))),
            cmd.CancelPoint(point=dice.pick(points)),
            cmd.ChildPaused(point=dice.pick(points), order=dice.integer(0, self.state.facts.pauses + 1)),
            cmd.ChildPaused(point=dice.pick(points)),
            cmd.Beat(point=dice.pick(points)),
            cmd.Admit(),
            cmd.ChildResumed(point=dice.pick(points)),
            cmd.Create(id="x"),
            cmd.StopDraining(),
            cmd.StartLeg(cause="wake", instance="i", losses=dice.pick((0, 0, 2))),
            cmd.Cancel(by="op"),
        )
        return dice.pick(options)

    def finish(self) -> None:
        """Give the execution everything that it waits for, until it ends."""
        for _ in range(_MOST_STEPS_TO_END):
            if self.state.facts.closed:
                return
            running = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "running")
            points = sorted(self.state.points.rows.values(), key=lambda point: point.id)
            queued = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "queued")
            self.few_places = False
            if self.state.facts.gate != "open":
                self.send(cmd.Resume(by="op"))
            elif self.state.facts.hold:
                assert self.send(cmd.Admit()), "it is held for ever"
            elif queued:
                self.send(cmd.StartQueued(node=queued[0]))
            elif running:
                self.send(cmd.Complete(node=running[0], attempt=self.state.node(running[0]).attempt, output=1))
            elif points and points[0].kind in ("callback", "child"):
                self.send(cmd.Report(point=points[0].id))
            elif points and points[0].kind == "delivery":
                self.send(cmd.Delivered(point=points[0].id, id="d", at=self.now))
            elif points and points[0].kind != "signal" and points[0].deadline is not None:
                self.now = max(self.now, points[0].deadline, wake_at(self.state) or 0)
                self.send(cmd.Wake())
            elif points:
                self.send(cmd.CancelPoint(point=points[0].id))
            elif (due := wake_at(self.state)) is not None and not self.state.counts["people"]:
                self.now = max(self.now, due)
                self.send(cmd.Wake())
            else:
                assert self.send(cmd.Resume(by="op")), "nothing helps"
        raise AssertionError("it never ends")

    def go_on(self) -> None:
        """Do the first thing for which the execution waits."""
        running = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "running")
        queued = sorted(name for name, node in self.state.nodes.rows.items() if node.status == "queued")
        points = sorted(point.node for point in self.state.points.rows.values() if point.status == "open")
        if self.state.facts.gate != "open" and not self.dice.chance(3):
            self.send(cmd.Resume(by="op"))
        elif self.state.facts.hold:
            self.send(cmd.Admit())
        elif queued and (not running or self.dice.chance()):
            self.send(cmd.StartQueued(node=self.dice.pick(queued)))
        elif running and (not points or self.dice.chance()):
            self.send(self._outcome(self.dice.pick(running)))
        elif points and self.dice.chance():
            self._answer_as_expected(self.dice.pick(points))
        elif (due := wake_at(self.state)) is not None:
            self.now = max(self.now, due)
            self.send(cmd.Wake())
        else:
            self.send(cmd.Resume(by="op"))

    def _outcome(self, name: str) -> cmd.AnyCommand:
        node = self.state.node(name)
        purpose = purpose_of(self.state, name)
        if purpose == "probe" and not self.dice.chance(4):
            happened = self.dice.pick((True, False, None))
            return cmd.Probed(node=name, attempt=node.attempt, happened=happened, output=3, problem="gone")
        if purpose == "undo":
            if self.dice.chance():
                return cmd.Undone(node=name, attempt=node.attempt)
            return cmd.Fail(node=name, attempt=node.attempt, error=_ERROR)
        try:
            output = behave(self.state.planned(name).calls, node.failures, node.input)
        except Exception as error:  # noqa: BLE001 - whatever a function raises
            told = ev.Error(code="failed", type=type(error).__name__, message=str(error))
            bases = tuple(base.__name__ for base in type(error).__mro__[1:-1])
            return cmd.Fail(node=name, attempt=node.attempt, error=told, bases=bases)
        return cmd.Complete(node=name, attempt=node.attempt, output=output)

    def _answer_as_expected(self, name: str) -> None:
        point = next(point for point in self.state.points.rows.values() if point.node == name)
        given = reply(name, may_be_late=False)
        assert given is not None
        match point.kind:
            case "form" if point.doubt:
                data: dict[str, object] = {"happened": self.dice.chance(3), "output": 1}
                data |= self.dice.pick(({}, {"otherwise": self.dice.pick(("repeat", "undo", "fail"))}))
                self.send(cmd.Answer(point=point.id, data=data, by="ann"))
            case "form" | "approval":
                by = self.dice.pick(("ann", "bob"))
                brought = self.dice.pick(({}, {}, {"v": 8}, {"brought": 2}))
                answer = cmd.Answer(point=point.id, data=given.data, approved=given.approved, by=by, comment="so")
                self.send(msgspec.structs.replace(answer, variables=brought))
            case "signal":
                key = self.dice.pick(("", "2"))
                number = self.dice.integer(1, 9)
                to = "" if self.dice.chance(4) else point.id
                self.send(cmd.Deliver(point=to, id=f"s{number}", name="s", key=key, data=number % 3 + 1))
            case "child" if self.dice.chance(2 if point.held else 3):
                order = self.dice.pick((0, self.state.facts.pauses))
                paused = cmd.ChildPaused(point=point.id, order=order)
                self.send(cmd.ChildResumed(point=point.id) if point.held or self.dice.chance(4) else paused)
            case "callback" if self.dice.chance(3):
                self.now += self.dice.pick((1, 200_000, 300_000))
                self.send(cmd.Beat(point=point.id))
            case "delivery":
                gone = self.dice.pick(("", "", "gone"))
                self.send(cmd.Delivered(point=point.id, id="d", at=self.now, error=gone))
            case "callback" | "child":
                error = self.dice.pick((None, None, _ERROR))
                self.send(cmd.Report(point=point.id, output=given.data, error=error))
            case _:
                self.now = max(self.now, point.deadline or 0)
                self.send(cmd.Wake())

    def _report(self) -> cmd.AnyCommand:
        """Return a report of any node, of any attempt: duplicated, late, or never asked for."""
        dice = self.dice
        names = sorted(self.state.nodes.rows) or ["n1"]
        name = dice.pick(names) if dice.chance(4) else dice.pick(sorted({*names[:1], *self.ledger.attempts}))
        attempt = max(0, self.state.node(name).attempt + dice.pick((0, 0, -1, 1)))
        options: tuple[cmd.AnyCommand, ...] = (
            cmd.Complete(node=name, attempt=attempt, output=7),
            cmd.Fail(node=name, attempt=attempt, error=_ERROR, jitter=0.5),
            cmd.Fail(node=name, attempt=attempt, error=msgspec.structs.replace(_ERROR, retryable=False)),
            cmd.Probed(node=name, attempt=attempt, happened=dice.pick((True, False, None))),
            cmd.Undone(node=name, attempt=attempt),
            cmd.Checkpoint(node=name, attempt=attempt, data=attempt),
            cmd.Record(node=name, attempt=attempt, key="k", value=1),
            cmd.Ask(node=name, attempt=attempt, key="size", deadline_ms=dice.pick((None, 60_000))),
            cmd.Sleep(node=name, attempt=attempt, key="night", length_ms=1_000),
        )
        return dice.pick(options)

    def _answer(self) -> cmd.AnyCommand:
        """Return an answer to any point, open or not, fitting or not."""
        dice = self.dice
        opened = [event.point for _, event in self.log if isinstance(event, ev.PausePointOpened)]
        point = (opened[-1] if dice.chance() else dice.pick(opened)) if opened else "nowhere"
        if dice.chance(3):
            return cmd.Delegate(point=point, by=dice.pick(("ann", "bob")), to=dice.pick(("bob", "eve")))
        if dice.chance(3):
            return self._take_back(point)
        claimed = [one for one in self.state.points.rows.values() if one.claim is not None]
        if claimed and dice.chance(3):
            one = dice.pick(claimed)
            return cmd.ReleaseClaim(point=one.id, by=one.claim.by if one.claim is not None else "ann", at=self.now)
        if dice.chance(2):
            return self._talk(point)
        return cmd.Answer(
            point=point,
            data=dice.pick((None, {"n": 1, "stop": True})),
            approved=dice.pick((True, False, None)),
            by=dice.pick(("ann", "bob")),
            at=dice.pick((None, self.now, self.now - 1_000)),
            variables=dice.pick(({}, {}, {"v": 9}, {"brought": 1})),
        )

    def _take_back(self, point: str) -> cmd.AnyCommand:
        """Return a take-back: of what can be, if there is something, or of any answer by any person."""
        dice, by = self.dice, self.dice.pick(("ann", "bob"))
        found = [(one.id, one.by or by) for one in self.state.points.rows.values() if one.is_revocable]
        if found and dice.chance():
            point, by = dice.pick(found)
        return cmd.TakeBack(point=point, by=by, at=dice.pick((None, self.now, self.now - 1_000)))

    def _talk(self, point: str) -> cmd.AnyCommand:
        """Return something else that a person may do at a point."""
        dice = self.dice
        by, at = dice.pick(("ann", "bob")), self.now - dice.pick((0, 1_000))
        found = self.state.points.rows.get(point)
        if found is not None and found.questions and not dice.chance(3):
            return cmd.ReplyBack(point=point, by=found.questions[-1].to, text="So.", at=at)
        options: tuple[cmd.AnyCommand, ...] = (
            cmd.ClaimPoint(point=point, by=by, at=at, until=at + 900_000, take=dice.chance(2)),
            cmd.ClaimPoint(point=point, by=by, at=at, until=at + 900_000),
            cmd.StandIn(point=point, by=by, to="eve", at=at),
            cmd.AskBack(point=point, by=by, question="Why?", to=dice.pick((None, "eve")), at=at),
            cmd.ReplyBack(point=point, by=dice.pick(("ann", "eve")), text="So.", at=at),
        )
        return dice.pick(options)


def _opened_for(command: cmd.AnyCommand, events: list[ev.AnyEvent]) -> bool:
    """Whether a command has led to what it would take as well: a wait for its signal, or another breakpoint."""
    opened = any(isinstance(event, ev.PausePointOpened) and event.kind == "signal" for event in events)
    if isinstance(command, cmd.Resume | cmd.SetBreakpoint):  # it has come to the next breakpoint
        return any(isinstance(event, ev.ExecutionPausing) and event.before for event in events)
    return opened and isinstance(command, cmd.Deliver) and not command.point


def _is_awaited(before: Tables, name: str, attempt: int) -> bool:
    node = before["nodes"].get(name)
    return isinstance(node, NodeState) and node.status == "running" and node.attempt == attempt


def _is_open(before: Tables, name: str) -> bool:
    point = before["points"].get(name)
    return isinstance(point, Point) and point.status == "open"


def _fork(plan: Plan, dice: Dice) -> cmd.Fork:
    """Return results that another execution may have had."""
    chosen = [plan.graph.nodes[index] for index in plan.graph.starts if dice.chance()]
    results = {
        one.id: ev.CarriedNode(type=one.node.type, output=1, port=dice.pick(sorted(one.ports) or ["done"]))
        for one in chosen
    }
    of_operators = ev.CarriedSet(values={"v": 4})
    sets = (ev.CarriedSet(node="n1", values={"v": 3}), of_operators) if "n1" in results else (of_operators,)
    return cmd.Fork(origin="origin", at=9, nodes=results, sets=sets)


def begin(dice: Dice) -> Player:
    """Return a player whose execution has just been created."""
    document = workflow(dice, settled=False)
    player = Player(load(document), dice)
    player.document = document
    if dice.chance(10):
        player.send(cmd.Wake())
    start_at = player.now + 60_000 if dice.chance(10) else None
    is_child = dice.chance(4)
    player.send(
        cmd.Create(
            id="execution",
            input=dice.pick(INPUTS),
            user="ann",
            start_at=start_at,
            hold=dice.chance(10),
            paused="The workflow is paused." if dice.chance(10) else "",
            parent="parent" if is_child else None,
            parent_point="point" if is_child else None,
            fork=_fork(player.plan, dice) if dice.chance(10) else None,
        )
    )
    return player
