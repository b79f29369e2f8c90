"""How far the models are explored, and what each rule is needed for.

A scenario says how often each choice and mishap may come; within it, everything is tried at every moment. One scenario
with all of them at once would have millions of states, so each asks one question. `make torture` asks longer ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .caches import StateCache
from .children import Family, ParentAndChild
from .execution import OneExecution
from .rules import Invariant, Rule
from .signals import SignalAndWait
from .state import Budget
from .triggers import OneStartForEachInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .search import Model

    AnyModel = Model[Any]

ONE_EXECUTION = {
    "everybody asks, an instance dies": Budget(answers=1, pauses=1, resumes=1, cancels=1, crashes=1),
    "everybody asks, a reply is lost": Budget(answers=1, pauses=1, resumes=1, cancels=1, lost_replies=1),
    "a commit is delayed, an instance stands still": Budget(answers=1, lost_replies=1, delays=1, stops=1),
    "a claim is lost, instances stand still and die": Budget(answers=1, lost_claims=1, crashes=1, stops=1),
    "a pause while an instance stands still": Budget(pauses=1, resumes=1, stops=1),
    "a pause that does not wait for a call": Budget(pauses=1, resumes=1, graces=1, failures=1, crashes=1),
    "an execution kills whoever drives it": Budget(crashes=4, cancels=1),
    "a command of a newer release": Budget(newer_cancels=1, pauses=1, answers=1, crashes=1),
}

LONGER = {
    "a pause, an instance stands still, one dies": Budget(pauses=1, resumes=1, crashes=1, stops=1),
    "a pause that does not wait, an instance stands still": Budget(pauses=1, resumes=1, graces=1, failures=1, stops=1),
    "everybody asks, replies are lost and late": Budget(
        answers=1, pauses=1, resumes=1, cancels=1, lost_replies=1, delays=1
    ),
    "an execution kills whoever drives it or makes it stand still": Budget(crashes=3, stops=1, cancels=1),
    "an answer, a pause, an instance stands still, one dies": Budget(
        answers=1, pauses=1, resumes=1, crashes=1, stops=1
    ),
}

LONGER_FAMILY = Family(resumes=2, crashes=2)


class Case(NamedTuple):
    """A rule, a model that can be explored without it, and the promise that breaks."""

    rule: Rule
    breaks: Invariant
    model: Callable[[Rule | None], AnyModel]

    def __str__(self) -> str:
        return f"{self.rule.name} breaks {self.breaks.name}"


def _one(rule: Rule, breaks: Invariant, **budget: int) -> Case:
    return Case(rule, breaks, lambda without: OneExecution(Budget(**budget), without))


def _polled(without: Rule | None) -> OneStartForEachInput:
    return OneStartForEachInput(without, "poll")


_OF_POLLS = {
    Rule.INPUTS_COMMIT_WITH_CURSOR: Invariant.NO_STILLNESS,
    Rule.CLAIM_COMPARES: Invariant.INPUT_STARTS_ONE,
    Rule.START_MARKS_THE_INPUT: Invariant.INPUT_STARTS_ONE,
    Rule.INPUT_IS_KEYED: Invariant.INPUT_STARTS_ONE,
    Rule.PENDING_IS_ANYBODYS: Invariant.NO_STILLNESS,
    Rule.DEDUP_OUTLIVES_RETRIES: Invariant.INPUT_STARTS_ONE,
}

CASES = [
    _one(Rule.APPEND_NAMES_THE_OWNER, Invariant.CALLED_UNDER_LEASE, pauses=1, resumes=1, graces=1),
    _one(Rule.APPEND_NAMES_THE_EPOCH, Invariant.CALLED_UNDER_LEASE, pauses=1, resumes=1, graces=1),
    _one(Rule.APPEND_NAMES_LAST_SEQ, Invariant.LOG_IS_ONE_LINE, delays=1),
    _one(Rule.APPEND_NAMES_COMMANDS_SEQ, Invariant.ANSWER_KEPT, answers=1),
    _one(Rule.APPEND_NAMES_COMMANDS_SEQ, Invariant.PAUSE_OBEYED, pauses=1),
    _one(Rule.APPEND_NAMES_COMMANDS_SEQ, Invariant.CANCEL_ENDS, cancels=1),
    _one(Rule.ONE_APPEND_PER_BATCH, Invariant.LOG_IS_ONE_LINE),
    _one(Rule.UNKNOWN_OUTCOME_IS_READ, Invariant.CALLED_WHEN_DURABLE, delays=1),
    _one(Rule.CLOSING_CLEARS_WAKE, Invariant.CLOSED_IS_CLOSED),
    _one(Rule.CLOSING_SETTLES_COMMANDS, Invariant.COMMANDS_SETTLED, answers=1, cancels=1),
    _one(Rule.CLOSED_REFUSES_COMMANDS, Invariant.CLOSED_IS_CLOSED, pauses=1),
    _one(Rule.ENQUEUE_WAKES, Invariant.NO_STILLNESS, pauses=1, resumes=1),
    _one(Rule.NOTHING_WAITS_IN_THE_QUEUE, Invariant.NO_SPINNING, answers=1, pauses=1),
    _one(Rule.NOTHING_WAITS_IN_THE_QUEUE, Invariant.ANSWER_KEPT, answers=1, pauses=1, resumes=1),
    _one(Rule.UNREADABLE_STOPS_THE_QUEUE, Invariant.CANCEL_ENDS, newer_cancels=1),
    _one(Rule.HELD_BACK_IS_NOT_DUE, Invariant.NO_SPINNING, newer_cancels=1),
    _one(Rule.ANSWER_IS_A_RESERVATION, Invariant.ANSWER_KEPT, answers=1),
    _one(Rule.CLAIM_RAISES_EPOCH, Invariant.CALLED_UNDER_LEASE, pauses=1, resumes=1, graces=1),
    _one(Rule.TAKEOVERS_ARE_LIMITED, Invariant.NO_SPINNING, crashes=3),
    _one(Rule.ONLY_PROGRESS_RESETS_TAKEOVERS, Invariant.NO_SPINNING, crashes=4),
    _one(Rule.RENEWAL_NAMES_WHAT_IS_DRIVEN, Invariant.NO_STILLNESS, lost_claims=1),
    _one(Rule.OWN_LEASES_COME_FIRST, Invariant.CALLED_BY_ONE_HAND, stops=1),
    _one(Rule.CALL_CHECKS_THE_LEASE, Invariant.CALLED_UNDER_LEASE, stops=1),
    _one(Rule.TIME_IS_THE_DATABASE_S, Invariant.CALLED_UNDER_LEASE),
    _one(Rule.A_HELD_LOCK_KEEPS_THE_LEASE, Invariant.CALLED_UNDER_LEASE),
    _one(Rule.REST_NAMES_THE_NEXT_WAKE, Invariant.NO_STILLNESS),
    _one(Rule.NOTHING_IS_DUE_WHILE_PAUSED, Invariant.NO_SPINNING, pauses=1),
    _one(Rule.GATE_CLOSES_WITH_THE_COMMAND, Invariant.PAUSE_OBEYED, pauses=1),
    _one(Rule.PAUSED_MEANS_DRAINED, Invariant.PAUSED_NAMES_ALL, pauses=1),
    Case(Rule.PARENT_WAITS_FOR_CHILDREN, Invariant.PAUSE_REACHES_CHILDREN, ParentAndChild),
    Case(Rule.REPORT_NAMES_ITS_PAUSE, Invariant.PAUSE_REACHES_CHILDREN, ParentAndChild),
    Case(Rule.ANY_INSTANCE_EMPTIES_THE_OUTBOX, Invariant.NO_STILLNESS, ParentAndChild),
    Case(Rule.OUTBOX_IS_FIFO, Invariant.NO_STILLNESS, ParentAndChild),
    Case(Rule.DELIVERY_IS_UNIQUE, Invariant.NO_STILLNESS, ParentAndChild),
    Case(Rule.CHILD_ID_IS_DERIVED, Invariant.CHILD_IS_ONE, ParentAndChild),
    Case(Rule.LOOK_AFTER_COMMIT, Invariant.NO_STILLNESS, SignalAndWait),
    Case(Rule.LOOK_UNTIL_RECORDED, Invariant.NO_STILLNESS, SignalAndWait),
    Case(Rule.MATCH_IS_UNIQUE, Invariant.SIGNAL_MEETS_ONCE, SignalAndWait),
    Case(Rule.INPUTS_COMMIT_WITH_CURSOR, Invariant.NO_STILLNESS, OneStartForEachInput),
    Case(Rule.CLAIM_COMPARES, Invariant.INPUT_STARTS_ONE, OneStartForEachInput),
    Case(Rule.START_MARKS_THE_INPUT, Invariant.INPUT_STARTS_ONE, OneStartForEachInput),
    Case(Rule.INPUT_IS_KEYED, Invariant.INPUT_STARTS_ONE, OneStartForEachInput),
    Case(Rule.PENDING_IS_ANYBODYS, Invariant.NO_STILLNESS, OneStartForEachInput),
    Case(Rule.DEDUP_OUTLIVES_RETRIES, Invariant.INPUT_STARTS_ONE, OneStartForEachInput),
    *(Case(case_rule, breaks, _polled) for case_rule, breaks in _OF_POLLS.items()),
    Case(Rule.CACHE_ONLY_ACKNOWLEDGED, Invariant.CACHE_IS_THE_LOG, StateCache),
    Case(Rule.CACHE_KEY_HAS_THE_EPOCH, Invariant.CACHE_IS_THE_LOG, StateCache),
]
