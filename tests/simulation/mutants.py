"""The runtime, broken on purpose in one place: the simulation has to notice.

Those marked with a star are defects that the runtime really had, put back one by one. Those that no seed was seen to
notice are in `unnoticed_mutants.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from layover.core.engine import answers as answer_rules
from layover.core.engine import apply_points, conversations, decide, evolve, rewind, take_backs
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.answers import Refused
from layover.runtime import clock
from layover.runtime.calls import call_lease, node_runner
from layover.runtime.calls import slots as call_slots
from layover.runtime.dispatch import (
    commit_retrier,
    critical_sections,
    driver,
    lease_renewer,
    outbox_relay,
    quarantine,
    resumer,
    service,
)
from layover.runtime.execution import (
    alarm,
    decider,
    held_lease,
    state_cache,
    steps,
)
from layover.runtime.operations import executions, workflow_status
from layover.stores.memory import answers, appends, claims, commands, limits, outbox, signals
from tests.simulation.breaking import edited, first_inputs_edited, replaced, without_effect

if TYPE_CHECKING:
    from layover.core.engine.state import Point
    from tests.simulation.breaking import Change


async def _looks_never(self: outbox_relay.OutboxRelay, now: int) -> None:
    self._new.look_at = now + 36_000_000


async def _only_the_time(self: lease_renewer.LeaseRenewer) -> None:
    await self._leases.clock.ask(self._store)


async def _just_waited_for(_self: critical_sections.CriticalSections, section: Any) -> Any:
    return await section


_OURS = "if (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):"
_APPLIES_AT_ONCE = edited(apply_points, "answered", ("if event.final_at is None:", "if True:"))[2]
_FINAL = "until is None or final or at >= until"
_REFUSES_NO_FINAL = edited(take_backs, "take_back_refusal", (_FINAL, "until is None"))[2]


def _reserves_nothing(point: Point, command: cmd.TakeBack, now: int) -> Any:
    taken = take_backs.reserve_take_back(point, command, now)
    return taken if isinstance(taken, Refused) else msgspec.structs.replace(point)  # another one: it is written


_HAS_LEASE = "active.held_lease.is_valid() and "
_IS_SHUT = " or active.calls.is_shut"

AREAS: dict[str, dict[str, list[Change]]] = {
    "leases": {
        "leases never end for those who have them": [
            edited(held_lease.HeldLease, "is_valid", (" and self._clock.latest() < self.until", ""))
        ],
        "leases are not renewed": [replaced(lease_renewer.LeaseRenewer, "renew_once", _only_the_time)],
        "what is leased is claimed": [
            edited(claims, "_is_due", ("head.wake_at <= now", "(head.wake_at <= now or head.owner is not None)"))
        ],
        "nothing is claimed": [
            edited(claims, "claim_executions", ("for head in _claimable_heads(db, claim)", "for head in ()"))
        ],
        "an instance takes over from itself *": [
            edited(
                driver.Driver, "claiming_time", ("if self.active.covered_until <= self.clock.latest():", "if False:")
            )
        ],
        "a claim takes leases by the latest time": [
            edited(
                driver.Driver, "claiming_time", ("return self.clock.earliest()", "return self.clock.latest() + 2_000")
            )
        ],
        "who stands still goes on with its calls *": [
            edited(
                node_runner.NodeRunner,
                "_may_still",
                ("active.held_lease.is_valid() or await active.held_lease.regain()", "True"),
            ),
            edited(node_runner.NodeRunner, "_may_make", (_HAS_LEASE, "")),
        ],
        "what is done once begins without a look at the lease *": [
            replaced(call_lease.LeaseOfCall, "is_valid", lambda _self: True)
        ],
    },
    "fencing": {
        "appends are not fenced": [
            edited(appends, "_judge", (_OURS, "if head.last_seq > append.expected_seq + 10**9:"))
        ],
        "appends are fenced by their owner alone": [edited(appends, "_judge", (_OURS, "if head.owner is None:"))],
        "a release gives back what another drives": [
            edited(claims, "release", ("if _is_driven(db, instance, lease):", "if lease.execution_id in db.heads:"))
        ],
        "what was lost is driven on": [
            without_effect(lease_renewer, "drop"),
            edited(steps.Steps, "_lost", ("self._release.drop(self.owner)", "")),
        ],
    },
    "commits": {
        "a lost start counts as begun *": [
            edited(commit_retrier.CommitRetrier, "_outcome_of", ("not await self._has_begun_it(append)", "row is None"))
        ],
        "an append that was not answered counts as written": [
            edited(commit_retrier.CommitRetrier, "_outcome_of", ("if is_driven_here and", "if False and"))
        ],
        "what was not answered is sent again without a look": [
            edited(commit_retrier.CommitRetrier, "_has_become_known", ("return outcome is not None", "return False"))
        ],
        "one that is refused spoils its group *": [
            edited(
                commit_retrier.CommitRetrier,
                "mend",
                ("await self._write_alone(one)", "tell(one, store_error(error))"),
            )
        ],
        "commands that came in meanwhile are passed over": [
            edited(appends, "_judge", ("if head.commands_seq != append.commands_seen:", "if False:"))
        ],
    },
    "told": {
        "a start tells of state that is ahead of the log *": [
            edited(
                executions.Executions,
                "start",
                (
                    "return confirmed.view\n",
                    "confirmed.view = None\n    confirmed(begun.active)\n    return confirmed.view\n",
                ),
            )
        ],
    },
    "gate": {
        "a pause that comes while a lease is renewed stops nothing *": [
            edited(node_runner.NodeRunner, "_may_make", (_IS_SHUT, ""))
        ],
        "what is decided before a pause in one step makes calls *": [
            edited(
                decider.Decider,
                "decide",
                ("held = last_pause(tried) if len(tried) > 1 else 0", "held = 0"),
            ),
            edited(node_runner.NodeRunner, "_may_make", (_IS_SHUT, "")),  # which would keep them back, too
        ],
    },
    "recovery": {
        "lost calls are not made again": [first_inputs_edited(('lost = bool(state.counts["calls"])', "lost = False"))],
        "every append clears what an execution lost *": [
            edited(appends, "_moved", ("head.takeovers if append.keeps_takeovers else 0", "0"))
        ],
        "what kills its instances is never held": [
            first_inputs_edited(("losses > max_takeovers", "losses > 10**9")),
            replaced(quarantine.Quarantine, "sort", lambda _self, claims: (claims, [])),
        ],
        "a lost reply puts an execution off for a minute *": [
            edited(resumer.Resumer, "_unusable", ("RETRY_READING if unanswered else RETRY_LATER", "RETRY_LATER")),
            edited(resumer.Resumer, "_load", ("RETRY_READING", "RETRY_LATER")),
        ],
        "a cancelled answer leaves its execution driven by nobody *": [
            replaced(critical_sections.CriticalSections, "run", _just_waited_for)
        ],
        "what could not be loaded stays claimed *": [
            edited(
                resumer.Resumer,
                "_unusable",
                ("await self._releases.release_for_later([lease_of(claimed)], after)", "return"),
            )
        ],
    },
    "retries": {
        "a retry begins a container anew *": [replaced(rewind, "has_rounds", lambda _node: False)],
    },
    "commands": {
        "commands wake nobody": [
            edited(commands, "take", ("wake_at=now if head.owner is None else head.wake_at", "wake_at=head.wake_at"))
        ],
        "a command that is sent twice is taken twice": [without_effect(commands, "seen_before")],
        "a resumed workflow leaves executions paused *": [
            edited(commands, "enqueue", (" and db.workflow_statuses.get(status.workflow) != status", " and False")),
            edited(workflow_status, "_has_unread", ("head.commands_done < head.commands_seq", "False")),
        ],
    },
    "outbox": {
        "messages are not written": [
            edited(appends, "_write", ("for message in append.messages", "for message in ()"))
        ],
        "the outbox is not looked at": [replaced(outbox_relay.OutboxRelay, "_look", _looks_never)],
        "messages that were delivered stay": [replaced(outbox, "delete_delivered", lambda *_: None)],
        "a parent is not told of the end of a child": [
            edited(
                appends,
                "_write",
                ("in append.messages})", "in append.messages if message.kind != 'Report'})"),
            )
        ],
    },
    "limits": {
        "a place under a limit is never given back": [replaced(limits, "release_slot", lambda *_: [])],
        "a limit keeps nobody": [edited(limits, "_has_room", ("len(_holders(db, place.name)) < place.most", "True"))],
    },
    "clocks": {
        "a late reply sets the clock back *": [
            edited(clock.Clock, "set", ("(set_at if asked_at is None else asked_at)", "set_at"))
        ],
        "a slow reply unsays what a quick one told *": [
            edited(clock.Clock, "set", ("if least <= known_most and known_least <= most:", "if False:")),
            edited(clock.Clock, "latest", ("max(now, latest)", "now")),
        ],
        "timers of calls never ring": [replaced(alarm.Alarm, "set", lambda *_: None)],
        "what sleeps is not woken": [edited(appends, "_moved", ("wake_at=append.rest.wake_at", "wake_at=None"))],
    },
    "caches": {
        "a state is kept that the log has gone on from": [
            edited(
                state_cache.StateCache,
                "take",
                (
                    "cached is None or (cached.last_seq, cached.last_epoch) != (head.last_seq, head.last_epoch)",
                    "cached is None",
                ),
            )
        ],
        "a snapshot counts for one event more": [
            edited(
                appends,
                "_write",
                (
                    "(append.expected_seq + append.count, append.snapshot)",
                    "(append.expected_seq + append.count + 1, append.snapshot)",
                ),
            )
        ],
    },
    "answers": {
        "a point takes a second answer": [
            edited(
                answers,
                "take_answer",
                ("change_point(db, found.execution_id, now, ChangedPoint(point=point))", "pass"),
            )
        ],
    },
    "undo": {
        "an answer is applied while it can be taken back": [
            replaced(evolve, "_APPLY", {**evolve._APPLY, ev.PausePointAnswered: _APPLIES_AT_ONCE})  # noqa: SLF001 - its table
        ],
        "what is taken back stays": [replaced(decide, "take_back", lambda *_: None)],
        "a take-back is not seen until it is read *": [replaced(conversations, "reserve_take_back", _reserves_nothing)],
        "what is final is taken back": [replaced(take_backs, "take_back_refusal", _REFUSES_NO_FINAL)],
    },
    "talk": {
        "a claim stops nobody": [replaced(answer_rules, "_claim_refusal", lambda *_: None)],
        "what is asked is not kept": [replaced(decide, "HANDLERS", {**decide.HANDLERS, cmd.AskBack: lambda *_: None})],
    },
    "signals": {
        "a signal is kept and told to nobody": [edited(signals, "waits", ("return ", "return [] and "))],
        "a signal that came early is forgotten": [
            edited(signals, "signals", ("return _by_age(", "return [] and _by_age("))
        ],
    },
    "threads": {
        "a call on a thread begins without a look at its lease *": [
            edited(node_runner.NodeRunner, "_enter", ("if not self._may_make(out):", "if False:"))
        ],
        "calls begin without a look at the lease": [replaced(node_runner.NodeRunner, "_may_make", lambda *_: True)],
        "a place is never given back": [edited(call_slots.CallSlots, "give_back", ("self._free += slots", "pass"))],
    },
    "services": {
        "a service ends with its first error *": [
            edited(service.Service, "_serve", ("self._failed(error)", "return self._failed(error)"))
        ],
    },
}
MUTANTS: dict[str, list[Change]] = {name: changes for area in AREAS.values() for name, changes in area.items()}

# What some of them are noticed by, for the laws that have no mutant of their own.
NOTICED: dict[str, tuple[str, ...]] = {
    "a start tells of state that is ahead of the log *": ("TOLD_IS_DURABLE",),
    "a retry begins a container anew *": ("DONE_ONCE",),
    "who stands still goes on with its calls *": ("CALL_HAS_LEASE",),
    "an instance takes over from itself *": ("NOT_FROM_ITSELF",),
    "a cancelled answer leaves its execution driven by nobody *": ("OWNED_IS_DRIVEN",),
    "leases are not renewed": ("ENDS_OR_SAYS_WHY", "PROMPT", "VERIFY"),
}
