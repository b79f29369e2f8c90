"""Everybody but the instances: a person, an operator, time, and what goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tables as db
from .driving import keeps_renewing
from .rules import Rule
from .search import Step
from .state import NAMES, Did, Instance, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .state import Budget
    from .tables import Kind, Name, Tables


def steps_of_the_world(state: State, without: Rule | None) -> Iterator[Step[State]]:
    """Yield all that can happen to the instances and to the execution from outside."""
    yield from _person(state, without)
    yield from _operator(state, without)
    yield from _time(state, without)
    yield from _network(state, without)
    for name in NAMES:
        yield from _process(state, name)


def _asked(state: State, budget: Budget, accepted: Tables | None, did: tuple[Did, Did], who: str) -> Step[State]:
    if accepted is None:
        return Step(did[1], f"{who} is refused", state, obliged=False)
    return Step(did[0], f"{who} is accepted", state._replace(tables=accepted, budget=budget), obliged=False)


def _person(state: State, without: Rule | None) -> Iterator[Step[State]]:
    budget = state.budget
    if not budget.answers:
        return
    spent = budget._replace(answers=budget.answers - 1)
    did = Did.ANSWERED, Did.ANSWER_REFUSED
    if without is Rule.ANSWER_IS_A_RESERVATION and not state.looked:
        if state.tables.point == "open":
            yield Step(Did.LOOKED, "person: sees that the point is open", state._replace(looked=True), obliged=False)
        return
    accepted = db.answer(state.tables, without, looked=state.looked)
    yield _asked(state, spent, accepted, did, "person: an answer")


def _operator(state: State, without: Rule | None) -> Iterator[Step[State]]:
    budget = state.budget
    did = Did.COMMANDED, Did.COMMAND_REFUSED
    if budget.pauses:
        yield _command(state, "pause", budget._replace(pauses=budget.pauses - 1), did, without)
    if budget.resumes and any(command.kind == "pause" for command in state.tables.commands):
        yield _command(state, "resume", budget._replace(resumes=budget.resumes - 1), did, without)
    if budget.cancels:
        yield _command(state, "cancel", budget._replace(cancels=budget.cancels - 1), did, without)
    if budget.newer_cancels:
        spent = budget._replace(newer_cancels=budget.newer_cancels - 1)
        accepted = db.enqueue(state.tables, "cancel", without, newer=True)
        yield _asked(state, spent, accepted, did, "operator: a cancel of a newer kind")


def _command(state: State, kind: Kind, spent: Budget, did: tuple[Did, Did], without: Rule | None) -> Step[State]:
    return _asked(state, spent, db.enqueue(state.tables, kind, without), did, f"operator: a {kind}")


def _time(state: State, without: Rule | None) -> Iterator[Step[State]]:
    if not state.deadline_passed and state.tables.point in {"open", "answered"}:
        yield Step(Did.DEADLINE_PASSED, "time: the point's deadline passes", state._replace(deadline_passed=True))
    head = state.tables.head
    if head.wake_at == "lease" and not keeps_renewing(state, without):
        ended = state._replace(tables=state.tables._replace(head=head._replace(wake_at="lapsed")))
        if head.owner is not None:
            ended = _own_lease_over(ended, head.owner)
        yield Step(Did.LEASE_ENDED, f"time: the lease of {head.owner} ends", ended)


def _own_lease_over(state: State, name: Name) -> State:
    """An instance counts its lease from before it asked, so by its own clock the lease never ends later."""
    driver = state.instance(name).driver
    return state.with_driver(name, "driver", driver and driver._replace(lease_over=True))


def _network(state: State, without: Rule | None) -> Iterator[Step[State]]:
    if state.delayed is None:
        return
    verdict, tables = db.append(state.tables, state.delayed, without)
    arrived = state._replace(tables=tables, delayed=None)
    # Not obliged: it may as well be lost for good.
    if verdict == "landed":
        yield Step(Did.DELAYED_LANDED, "network: the delayed commit arrives and lands", arrived, obliged=False)
    else:
        yield Step(Did.DELAYED_REFUSED, "network: the delayed commit arrives and is refused", arrived, obliged=False)


def _process(state: State, name: Name) -> Iterator[Step[State]]:
    instance, budget = state.instance(name), state.budget
    if not instance.up:
        yield Step(Did.RESTARTED, f"{name}: starts again", state.with_instance(name, Instance()))
        return
    if instance.stopped:
        yield Step(Did.WOKE, f"{name}: wakes up", state.with_instance(name, instance._replace(stopped=False)))
    if instance.driver is None:
        return  # what happens to an idle instance harms nobody
    if budget.crashes:
        crashed = state._replace(budget=budget._replace(crashes=budget.crashes - 1))
        down = crashed.with_instance(name, Instance(up=False))
        yield Step(Did.CRASHED, f"{name}: is killed", down, obliged=False)
    if budget.stops and not instance.stopped:
        frozen = state._replace(budget=budget._replace(stops=budget.stops - 1))
        stopped = frozen.with_instance(name, instance._replace(stopped=True))
        yield Step(Did.STOPPED, f"{name}: is stopped (SIGSTOP)", stopped, obliged=False)
