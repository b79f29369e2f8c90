"""The runtime, broken on purpose in one place: the simulation has to notice.

A mutant replaces names of the runtime or of the store in memory. Most are one edit of the text of a function; one that
does not find its text any more is an error, so that the list stays true. Those marked with a star are defects that the
runtime really had, put back one by one.
"""

from __future__ import annotations

import inspect
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from layover.core.engine import rewind
from layover.runtime import clock
from layover.runtime.calls import call_lease, node_runner
from layover.runtime.calls import slots as call_slots
from layover.runtime.dispatch import (
    claimer,
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
    active_execution,
    alarm,
    command_cursor,
    decider,
    held_lease,
    leg_start,
    state_cache,
    steps,
)
from layover.runtime.operations import executions, workflow_status
from layover.stores.memory import answers, appends, claims, commands, limits, outbox, signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Change = tuple[Any, str, Any]


def edited(owner: Any, name: str, *edits: tuple[str, str]) -> Change:
    """Return a function of a module or a class with other text in it."""
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in edits:
        if source.count(old) != 1:
            raise AssertionError(f"{function.__qualname__} has {source.count(old)} times what is to be edited: {old}")
        source = source.replace(old, new)
    made: dict[str, Any] = {}
    exec(compile(source, f"<broken {name}>", "exec"), function.__globals__, made)  # noqa: S102 - it is our own code
    return owner, name, made[name]


def _first_inputs(*edits: tuple[str, str]) -> Change:
    """Return what a leg begins with, edited, where the driver uses it."""
    return driver, "first_inputs", edited(leg_start, "first_inputs", *edits)[2]


def _kept(owner: Any, name: str, value: Any) -> Change:
    return owner, name, value


def _every_time(owner: Any, name: str) -> Change:
    """Return a function that does nothing."""
    return owner, name, lambda *_args, **_named: None


async def _looks_never(self: outbox_relay.OutboxRelay, now: int) -> None:
    self._new.look_at = now + 36_000_000


async def _only_the_time(self: lease_renewer.LeaseRenewer) -> None:
    await self._leases.clock.ask(self._store)


async def _just_waited_for(_self: critical_sections.CriticalSections, section: Any) -> Any:
    return await section


_OURS = "if (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):"
_HAS_LEASE = "active.held_lease.is_valid() and "
_IS_SHUT = " or active.calls.is_shut"

AREAS: dict[str, dict[str, list[Change]]] = {
    "leases": {
        "leases never end for those who have them": [
            edited(held_lease.HeldLease, "is_valid", (" and self._clock.latest() < self.until", ""))
        ],
        "leases are not renewed": [_kept(lease_renewer.LeaseRenewer, "renew_once", _only_the_time)],
        "a renewal that was overtaken shortens a lease *": [
            edited(claims, "renew", ("wake_at=max(head.wake_at or 0, until)", "wake_at=until"))
        ],
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
            _kept(call_lease.LeaseOfCall, "is_valid", lambda _self: True)
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
            _every_time(lease_renewer, "drop"),
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
        "lost calls are not made again": [_first_inputs(('lost = bool(state.counts["calls"])', "lost = False"))],
        "every append clears what an execution lost *": [
            edited(appends, "_moved", ("head.takeovers if append.keeps_takeovers else 0", "0"))
        ],
        "what kills its instances is never held": [
            _first_inputs(("losses > max_takeovers", "losses > 10**9")),
            _kept(quarantine.Quarantine, "sort", lambda _self, claims: (claims, [])),
        ],
        "a lost reply puts an execution off for a minute *": [
            edited(resumer.Resumer, "_unusable", ("RETRY_READING if unanswered else RETRY_LATER", "RETRY_LATER")),
            edited(resumer.Resumer, "_load", ("RETRY_READING", "RETRY_LATER")),
        ],
        "a cancelled answer leaves its execution driven by nobody *": [
            _kept(critical_sections.CriticalSections, "run", _just_waited_for)
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
        "a retry begins a container anew *": [_kept(rewind, "has_rounds", lambda _node: False)],
    },
    "commands": {
        "commands wake nobody": [
            edited(commands, "take", ("wake_at=now if head.owner is None else head.wake_at", "wake_at=head.wake_at"))
        ],
        "a command that is sent twice is taken twice": [_every_time(commands, "seen_before")],
        "a resumed workflow leaves executions paused *": [
            edited(commands, "enqueue", (" and db.workflow_statuses.get(status.workflow) != status", " and False")),
            edited(workflow_status, "_has_unread", ("head.commands_done < head.commands_seq", "False")),
        ],
    },
    "outbox": {
        "messages are not written": [
            edited(appends, "_write", ("for message in append.messages", "for message in ()"))
        ],
        "the outbox is not looked at": [_kept(outbox_relay.OutboxRelay, "_look", _looks_never)],
        "messages that were delivered stay": [_kept(outbox, "delete_delivered", lambda *_: None)],
        "a parent is not told of the end of a child": [
            edited(
                appends,
                "_write",
                ("in append.messages})", "in append.messages if message.kind != 'Report'})"),
            )
        ],
    },
    "limits": {
        "a place under a limit is never given back": [_kept(limits, "release_slot", lambda *_: [])],
        "a limit keeps nobody": [edited(limits, "_has_room", ("len(_holders(db, place.name)) < place.most", "True"))],
    },
    "clocks": {
        "a late reply sets the clock back *": [
            edited(clock.Clock, "set", ("(set_at if asked_at is None else asked_at)", "set_at"))
        ],
        "a slow reply unsays what a quick one told *": [
            edited(clock.Clock, "set", ("if least <= known_most and known_least <= most:", "if False:")),
            edited(clock.Clock, "latest", ("max(now, running + self._most + drift + 1)", "now")),
        ],
        "timers of calls never ring": [_kept(alarm.Alarm, "set", lambda *_: None)],
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
        "calls begin without a look at the lease": [_kept(node_runner.NodeRunner, "_may_make", lambda *_: True)],
        "a place is never given back": [edited(call_slots.CallSlots, "give_back", ("self._free += slots", "pass"))],
    },
    "services": {
        "a service ends with its first error *": [
            edited(service.Service, "_serve", ("self._failed(error)", "return self._failed(error)"))
        ],
    },
}


class Unnoticed(NamedTuple):
    """A way to break it that no seed was seen to notice, and why."""

    changes: list[Change]
    why: str


# Tried by `python tools/break_runtime.py --unnoticed`: one that is noticed by then belongs above.
UNNOTICED: dict[str, Unnoticed] = {
    "letting go forgives what an execution lost *": Unnoticed(
        [edited(held_lease.HeldLease, "unchanged", ("replace(self.record, takeovers=self.takeovers)", "self.record"))],
        "what kills its instance rarely comes to be let go of; tests/runtime/dispatch/test_quarantine.py is about it",
    ),
    "a loss is charged by every claim after it *": Unnoticed(
        [_first_inputs(('lost=claimed.taken_over or losses > state.counts["losses"]', "lost=losses > 0"))],
        "an innocent call has to be let go of ten times; tests/runtime/dispatch/test_quarantine.py is about it",
    ),
    "a call begins whose end is on its way *": Unnoticed(
        [_kept(active_execution.ActiveExecution, "expects", lambda *_: True)],
        "one seed in three hundred; tests/runtime/dispatch/test_leases.py is about it",
    ),
    "who drives an execution is not asked for commands": Unnoticed(
        [edited(lease_renewer.LeaseRenewer, "_hear", ("if not seen:", "if seen or not seen:"))],
        "its next append is refused because of them, so they only come later; no law says how soon",
    ),
    "nobody looks again for what is due": Unnoticed(
        [edited(claimer.Claimer, "_claim", ("next_at = now + driver.settings.poll", "next_at = now + 10**9"))],
        "the last claim told what is due next, and something is always due",
    ),
    "commands are heard out of their order": Unnoticed(
        [
            edited(
                command_cursor.CommandCursor,
                "in_turn",
                (
                    "while (command := self.ahead.pop(self.seen + 1, None)) is not None:",
                    "for command in [*self.ahead.values()]:",
                ),
            )
        ],
        "an instance that drives an execution rarely hears of two commands by two ways",
    ),
    "a release lets unread commands sleep *": Unnoticed(
        [edited(claims, "release", ("is_due = has_unread and held_at is None", "is_due = False"))],
        "what is given back with nothing done gets a command in the same milliseconds",
    ),
    "a call is begun that waits for a thread *": Unnoticed(
        [edited(call_slots.CallSlots, "free", ("self.threads.free if self._threaded else 0", "10**9"))],
        "a simulation has as many threads as are asked for; tests/runtime/calls/test_threads.py is about it",
    ),
    "a command that cannot be read counts as done *": Unnoticed(
        [
            edited(
                command_cursor.CommandCursor,
                "read",
                (
                    "            self.unreadable = command\n            break\n",
                    "            self.seen = command.n\n            continue\n",
                ),
            )
        ],
        "all instances of a simulation are of one release; tests/runtime/dispatch/test_newer_releases.py is about it",
    ),
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


@contextmanager
def broken(changes: Sequence[Change]) -> Iterator[None]:
    """Break the runtime in one way, for a while."""
    undo: list[Callable[[], object]] = []
    try:
        for owner, name, value in changes:
            patch = mock.patch.object(owner, name, value)
            patch.start()
            undo.append(patch.stop)
        yield
    finally:
        for one in undo:
            one()
