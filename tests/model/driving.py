"""What an instance does: claim, decide, commit, call, renew.

Between any two of these steps the others may do anything. In particular a decision is made on what was read, and
committed later; whether it still holds is for the database to say, by the comparison in `tables.append`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tables as db
from .rules import Invariant, Rule
from .search import Step
from .state import NAMES, Call, Did, Driver, State
from .workflow import Knowledge, decide, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .state import Slot
    from .tables import Append, Name, Tables, Verdict
    from .workflow import Decision


def steps_of_instances(state: State, without: Rule | None) -> Iterator[Step[State]]:
    """Yield all that the two instances can do now."""
    for name in NAMES:
        instance = state.instance(name)
        if not instance.runs:
            continue
        yield from _claiming(state, name, without)
        if instance.driver is not None:
            yield from _renewing(state, name, instance.driver)
            yield from _Driving(state, name, "driver", instance.driver, without).steps()
        if instance.stray is not None:
            yield from _Driving(state, name, "stray", instance.stray, without).steps()


def _is_due(state: State, name: Name, without: Rule | None) -> bool:
    match state.tables.head.wake_at:
        case "now" | "lapsed":
            return True
        case "deadline":
            return state.deadline_passed
        case "lease":
            # Without a common clock, one of the two is minutes ahead: to it every lease seems to have passed.
            # So it does to the one that first sees a clock that was set forward, unless it asks for the owner's lock.
            return without in {Rule.TIME_IS_THE_DATABASE_S, Rule.A_HELD_LOCK_KEEPS_THE_LEASE} and name == "two"
        case "held":
            return not _is_older(state, name)
        case None:
            return False


def _is_older(state: State, name: Name) -> bool:
    return state.mixed and name == "one"


def _claiming(state: State, name: Name, without: Rule | None) -> Iterator[Step[State]]:
    head, instance = state.tables.head, state.instance(name)
    if not _is_due(state, name, without):
        return
    if head.claims == 0 and name == "two" and not state.mixed:
        return  # the two are alike, so who comes first may be chosen
    stray, breach = instance.stray, None
    if instance.driver is not None:
        if without is not Rule.OWN_LEASES_COME_FIRST or not instance.driver.lease_over or stray is not None:
            return
        stray = instance.driver  # it still drives under a claim that has passed, and claims anew
        if stray.call is not None and head.owner == name:
            breach = Invariant.CALLED_BY_ONE_HAND
    limited = without is not Rule.TAKEOVERS_ARE_LIMITED
    if limited and head.owner is not None and head.takeovers >= db.TAKEOVER_LIMIT:
        aside = db.pause_as_incident(state.tables, name, without)
        yield Step(Did.LAID_ASIDE, f"{name}: lays it aside as an incident", state._replace(tables=aside))
        return
    tables = db.claim(state.tables, name, without)
    driver = Driver(tables.head.claims, tables.head.epoch, tables.log(), tables.head.last_seq)
    claimed = state._replace(tables=tables, breach=breach)
    driven = claimed.with_instance(name, instance._replace(driver=driver, stray=stray))
    yield Step(Did.CLAIMED, f"{name}: claims it, epoch {driver.epoch}", driven)
    if state.budget.lost_claims:
        budget = state.budget._replace(lost_claims=state.budget.lost_claims - 1)
        line = f"{name}: claims it, epoch {driver.epoch}, but the reply is lost"
        yield Step(Did.CLAIM_REPLY_LOST, line, claimed._replace(budget=budget), obliged=False)


def _renewing(state: State, name: Name, driver: Driver) -> Iterator[Step[State]]:
    renewed = db.renew(state.tables, name, driver.epoch)
    if renewed is None:
        lost = state.with_driver(name, "driver", None)
        yield Step(Did.RENEWAL_LOST, f"{name}: renews, learns that its claim is lost, drops it", lost)
    elif renewed != state.tables:
        held = state._replace(tables=renewed).with_driver(name, "driver", driver._replace(lease_over=False))
        yield Step(Did.RENEWED, f"{name}: renews before anybody has taken over", held)


def keeps_renewing(state: State, without: Rule | None) -> bool:
    """Say whether the owner's renewals keep the lease from ending."""
    head = state.tables.head
    if head.owner is None:
        return False
    owner = state.instance(head.owner)
    if without is Rule.RENEWAL_NAMES_WHAT_IS_DRIVEN:
        return owner.runs
    return owner.runs and owner.driver is not None and owner.driver.epoch == head.epoch


class _Driving:
    """One driver's next step."""

    def __init__(self, state: State, name: Name, slot: Slot, driver: Driver, without: Rule | None) -> None:
        self.state = state
        self.name = name
        self.slot: Slot = slot
        self.driver = driver
        self.without = without
        self.who = name if slot == "driver" else f"{name} (former claim)"

    def steps(self) -> Iterator[Step[State]]:
        driver = self.driver
        if driver.decision is not None:
            yield from self._read_head(driver.decision) if driver.unknown else self._commit(driver.decision)
            return
        if driver.call is not None and driver.call.stage == "due":
            yield self._call(driver.call)
            return
        if driver.call is not None and driver.call.stage == "out":
            yield from self._return(driver.call)
            yield from self._grace_over()
            if self.state.tables.head.commands_seq == driver.commands_seen:
                return  # nothing new; the poll for commands goes unnoticed
        if self._cannot_read() and self.without is not Rule.UNREADABLE_STOPS_THE_QUEUE:
            yield self._hold_back()
            return
        yield self._decide(Did.DECIDED, self.state, grace_over=False)

    def _cannot_read(self) -> bool:
        return _is_older(self.state, self.name) and any(command.newer for command in self.state.tables.unread())

    def _hold_back(self) -> Step[State]:
        tables = db.hold_back(self.state.tables, self.name, self.driver.epoch, self.without)
        line = f"{self.who}: cannot read a command, gives the execution back"
        return Step(Did.HELD_BACK, line, self._to(None, self.state._replace(tables=tables)))

    def _to(self, driver: Driver | None, state: State | None = None) -> State:
        return (state or self.state).with_driver(self.name, self.slot, driver)

    # Deciding.

    def _decide(self, did: Did, state: State, *, grace_over: bool) -> Step[State]:
        driver, call = self.driver, self.driver.call
        outcome = {"completed": "NodeCompleted", "failed": "NodeFailed"}.get(call.stage) if call else None
        decision = decide(
            Knowledge(
                log=driver.log,
                calling=call.node if call and call.stage == "out" else None,
                outcome=f"{outcome} {call.node}" if call and outcome else None,
                unread=state.tables.unread(),
                deadline_passed=state.deadline_passed,
                grace_over=grace_over,
                without=self.without,
                is_older=_is_older(state, self.name),
            )
        )
        decided = driver._replace(decision=decision, commands_seen=state.tables.head.commands_seq)
        line = f"{self.who}: decides {', '.join(decision.events) or 'nothing'}{' and rests' * decision.rests}"
        return Step(did, line, self._to(decided, state), obliged=did is Did.DECIDED)

    def _grace_over(self) -> Iterator[Step[State]]:
        budget = self.state.budget
        if budget.graces and fold(self.driver.log).gate == "pausing":
            state = self.state._replace(budget=budget._replace(graces=budget.graces - 1))
            yield self._decide(Did.DECIDED_AFTER_GRACE, state, grace_over=True)

    # Committing.

    def _commit(self, decision: Decision) -> Iterator[Step[State]]:
        state, budget = self.state, self.state.budget
        wanted = self.driver.as_append(self.name, decision)
        verdict, written = self._send(wanted, decision)
        match verdict:
            case "landed":
                landed = state._replace(tables=written)
                line = f"{self.who}: commits up to {wanted.lands_at}"
                yield Step(Did.LANDED, line, self._after(decision, landed))
                if budget.lost_replies:
                    unsure = landed._replace(budget=budget._replace(lost_replies=budget.lost_replies - 1))
                    yield self._unsure(Did.REPLY_LOST, f"{line}, but the reply is lost", unsure)
            case "commands_moved":
                again = self._to(self.driver._replace(decision=None))
                yield Step(Did.REFUSED_COMMANDS_MOVED, f"{self.who}: is refused, there are new commands", again)
            case "fenced":
                yield Step(Did.REFUSED_FENCED, f"{self.who}: is refused, drops the execution", self._to(None))
        if budget.delays:
            slow = state._replace(delayed=wanted, budget=budget._replace(delays=budget.delays - 1))
            yield self._unsure(Did.DELAYED, f"{self.who}: sends a commit that is delayed; hears nothing", slow)

    def _send(self, wanted: Append, decision: Decision) -> tuple[Verdict, Tables]:
        split = decision.results
        if self.without is not Rule.ONE_APPEND_PER_BATCH or not 0 < split < len(wanted.events):
            return db.append(self.state.tables, wanted, self.without)
        first = wanted._replace(events=wanted.events[:split], settled=(), rests=False)
        second = wanted._replace(events=wanted.events[split:])
        return db.append_twice(self.state.tables, first, second, self.without)

    def _unsure(self, did: Did, line: str, state: State) -> Step[State]:
        return Step(did, line, self._to(self.driver._replace(unknown=True), state), obliged=False)

    def _read_head(self, decision: Decision) -> Iterator[Step[State]]:
        head = self.state.tables.head
        landed = head.last_seq == self.driver.seq + len(decision.events)
        if self.without is Rule.UNKNOWN_OUTCOME_IS_READ:
            line = f"{self.who}: hears nothing and takes it for landed"
            yield Step(Did.READ_LANDED, line, self._after(decision, self.state))
        elif head.epoch == self.driver.epoch and landed:
            line = f"{self.who}: reads the head: it has landed"
            yield Step(Did.READ_LANDED, line, self._after(decision, self.state))
        elif head.epoch == self.driver.epoch and head.last_seq == self.driver.seq:
            line = f"{self.who}: reads the head: it has not landed, will send it again"
            yield Step(Did.READ_NOT_LANDED, line, self._to(self.driver._replace(unknown=False)))
        else:
            line = f"{self.who}: reads the head: somebody else has it, drops the execution"
            yield Step(Did.READ_FENCED, line, self._to(None))

    def _after(self, decision: Decision, state: State) -> State:
        """Go on from a commit that has landed."""
        driver = self.driver
        log = driver.log + decision.events
        out = driver.call if driver.call and driver.call.stage == "out" else None
        call = Call(decision.call, "due") if decision.call else out
        seq = driver.seq + len(decision.events)
        driver = driver._replace(log=log, seq=seq, call=call, decision=None, unknown=False)
        if not decision.rests:
            return self._to(driver, state)
        released = self._to(None, state)
        if out is None or fold(log).closed or self.slot == "stray":
            return released
        return released.with_driver(self.name, "stray", driver)  # its call cannot be taken back

    # Calling.

    def _call(self, call: Call) -> Step[State]:
        if self.driver.lease_over and self.without is not Rule.CALL_CHECKS_THE_LEASE:
            line = f"{self.who}: its own lease is over, does not call {call.node}"
            return Step(Did.CALL_ABANDONED, line, self._to(None))
        out = self._to(self.driver._replace(call=Call(call.node, "out")))
        return Step(Did.CALLED, f"{self.who}: calls {call.node}", out._replace(breach=self._breach_of(call)))

    def _breach_of(self, call: Call) -> Invariant | None:
        tables = self.state.tables
        if f"NodeStarted {call.node}" not in tables.log():
            return Invariant.CALLED_WHEN_DURABLE
        if (tables.head.owner, tables.head.claims) != (self.name, self.driver.claim):
            return Invariant.CALLED_UNDER_LEASE
        if call.node in tables.execution().done:
            return Invariant.DONE_ONCE
        return None

    def _return(self, call: Call) -> Iterator[Step[State]]:
        state, budget = self.state, self.state.budget
        completed = self.driver._replace(call=Call(call.node, "completed"))
        yield Step(Did.CALL_COMPLETED, f"{self.who}: {call.node} returns", self._to(completed))
        if budget.failures:
            less = state._replace(budget=budget._replace(failures=budget.failures - 1))
            failed = self.driver._replace(call=Call(call.node, "failed"))
            yield Step(Did.CALL_FAILED, f"{self.who}: {call.node} fails", self._to(failed, less), obliged=False)
