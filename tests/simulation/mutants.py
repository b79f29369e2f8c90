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

from layover.runtime import clock
from layover.runtime.calls import node_runner
from layover.runtime.dispatch import (
    claimer,
    commit_retrier,
    critical_sections,
    driver,
    lease_renewer,
    outbox_relay,
    quarantine,
    service,
)
from layover.runtime.execution import active_execution, alarm, command_cursor, state_cache
from layover.runtime.operations import executions, workflow_status
from layover.stores.memory import appends, claims, commands, limits, outbox, signals, store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Change = tuple[Any, str, Any]


def _edited(owner: Any, name: str, *edits: tuple[str, str]) -> Change:
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


def _kept(owner: Any, name: str, value: Any) -> Change:
    return owner, name, value


def _every_time(owner: Any, name: str) -> Change:
    """Return a function that does nothing."""
    return owner, name, lambda *_args, **_named: None


async def _looks_never(self: outbox_relay.OutboxRelay, now: int) -> None:
    self._look_at = now + 36_000_000


async def _only_the_time(self: lease_renewer.LeaseRenewer) -> None:
    await self._driver.clock.ask(self._store)


async def _just_waited_for(_self: critical_sections.CriticalSections, section: Any) -> Any:
    return await section


_OURS = "if (head.owner, head.epoch, head.last_seq) != (append.owner, append.epoch, append.expected_seq):"
_HAS_LEASE = "active.has_lease() and "
_IS_SHUT = " or active.is_shut"

AREAS: dict[str, dict[str, list[Change]]] = {
    "leases": {
        "leases never end for those who have them": [
            _edited(
                active_execution.ActiveExecution,
                "has_lease",
                (" and self._driver.clock.latest() < self.lease_until", ""),
            )
        ],
        "leases are not renewed": [_kept(lease_renewer.LeaseRenewer, "renew_once", _only_the_time)],
        "a renewal that was overtaken shortens a lease *": [
            _edited(claims, "renew", ("wake_at=max(head.wake_at or 0, until)", "wake_at=until"))
        ],
        "what is leased is claimed": [
            _edited(claims, "_is_due", ("head.wake_at <= now", "(head.wake_at <= now or head.owner is not None)"))
        ],
        "nothing is claimed": [_edited(claims, "claim", ("for head in _found(db, wish)", "for head in ()"))],
        "an instance takes over from itself *": [
            _edited(driver.Driver, "claiming_time", ("if self.covered_until <= self.clock.latest():", "if False:"))
        ],
        "a claim takes leases by the latest time": [
            _edited(driver.Driver, "claiming_time", ("return self.clock.now()", "return self.clock.latest() + 2_000"))
        ],
        "who stands still goes on with its calls *": [
            _edited(
                node_runner.NodeRunner, "_may_still", ("active.has_lease() or await active.regains_lease()", "True")
            ),
            _edited(node_runner.NodeRunner, "_may_make", (_HAS_LEASE, "")),
        ],
    },
    "fencing": {
        "appends are not fenced": [
            _edited(appends, "_judge", (_OURS, "if head.last_seq > append.expected_seq + 10**9:"))
        ],
        "appends are fenced by their owner alone": [_edited(appends, "_judge", (_OURS, "if head.owner is None:"))],
        "a release gives back what another drives": [
            _edited(claims, "release", ("if _is_driven(db, instance, lease):", "if lease.execution_id in db.heads:"))
        ],
        "what was lost is driven on": [
            _every_time(lease_renewer, "drop"),
            _edited(active_execution.ActiveExecution, "_lost", ("self.drop()", "")),
        ],
    },
    "commits": {
        "a lost start counts as begun *": [
            _edited(
                commit_retrier.CommitRetrier, "_outcome_of", ("not await self._has_begun_it(append)", "row is None")
            )
        ],
        "an append that was not answered counts as written": [
            _edited(commit_retrier.CommitRetrier, "_outcome_of", ("if is_driven_here and", "if False and"))
        ],
        "what was not answered is sent again without a look": [
            _edited(commit_retrier.CommitRetrier, "_has_become_known", ("return outcome is not None", "return False"))
        ],
        "commands that came in meanwhile are passed over": [
            _edited(appends, "_judge", ("if head.commands_seq != append.commands_seen:", "if False:"))
        ],
    },
    "told": {
        "a start tells of state that is ahead of the log *": [
            _edited(
                executions.Executions,
                "start",
                (
                    "return confirmed.view\n",
                    "confirmed.view = None\n    confirmed(active)\n    return confirmed.view\n",
                ),
            )
        ],
    },
    "gate": {
        "what is decided before a pause in one step makes calls *": [
            _edited(
                active_execution.ActiveExecution,
                "_decide",
                ("held = last_pause(tried) if len(tried) > 1 else 0", "held = 0"),
            ),
            _edited(node_runner.NodeRunner, "_may_make", (_IS_SHUT, "")),  # which would keep them back, too
        ],
    },
    "recovery": {
        "lost calls are not made again": [
            _edited(driver.Driver, "_first_inputs", ('lost = bool(state.counts["calls"])', "lost = False"))
        ],
        "every append clears what an execution lost *": [
            _edited(appends, "_moved", ("head.takeovers if append.keeps_takeovers else 0", "0"))
        ],
        "what kills its instances is never held": [
            _edited(
                driver.Driver,
                "_first_inputs",
                ("claimed.head.takeovers > self.settings.max_takeovers", "claimed.head.takeovers > 10**9"),
            ),
            _kept(quarantine.Quarantine, "sort", lambda _self, claims: (claims, [])),
        ],
        "a lost reply puts an execution off for a minute *": [
            _edited(driver.Driver, "_unusable", ("_RETRY_READING if unanswered else _RETRY_LATER", "_RETRY_LATER")),
            _edited(driver.Driver, "_load", ("_RETRY_READING", "_RETRY_LATER")),
        ],
        "a cancelled answer leaves its execution driven by nobody *": [
            _kept(critical_sections.CriticalSections, "run", _just_waited_for)
        ],
        "what could not be loaded stays claimed *": [
            _edited(
                driver.Driver,
                "_unusable",
                (
                    "await self._release_for_later([_lease(claimed)], _RETRY_READING if unanswered else _RETRY_LATER)",
                    "return",
                ),
            )
        ],
    },
    "commands": {
        "commands wake nobody": [
            _edited(commands, "_take", ("wake_at=now if head.owner is None else head.wake_at", "wake_at=head.wake_at"))
        ],
        "a command that is sent twice is taken twice": [_every_time(commands, "_seen_before")],
    },
    "outbox": {
        "messages are not written": [
            _edited(appends, "_write", ("for message in append.messages", "for message in ()"))
        ],
        "the outbox is not looked at": [_kept(outbox_relay.OutboxRelay, "_look", _looks_never)],
        "messages that were delivered stay": [_kept(outbox, "sent", lambda *_: None)],
        "a parent is not told of the end of a child": [
            _edited(
                appends,
                "_write",
                ("in append.messages})", "in append.messages if message.kind != 'Report'})"),
            )
        ],
    },
    "limits": {
        "a place under a limit is never given back": [_kept(limits, "free", lambda *_: [])],
        "a limit keeps nobody": [_edited(limits, "_has_room", ("len(_holders(db, place.name)) < place.most", "True"))],
    },
    "clocks": {
        "a late reply sets the clock back *": [
            _edited(clock.Clock, "set", ("(set_at if asked_at is None else asked_at)", "set_at"))
        ],
        "a slow reply unsays what a quick one told *": [
            _edited(clock.Clock, "set", ("if least <= known_most and known_least <= most:", "if False:")),
            _edited(clock.Clock, "latest", ("max(self.now(), self.running() + self._most)", "self.now()")),
        ],
        "timers of calls never ring": [_kept(alarm.Alarm, "set", lambda *_: None)],
        "what sleeps is not woken": [_edited(appends, "_moved", ("wake_at=append.rest.wake_at", "wake_at=None"))],
    },
    "caches": {
        "a state is kept that the log has gone on from": [
            _edited(
                state_cache.StateCache,
                "take",
                (
                    "cached is None or (cached.last_seq, cached.last_epoch) != (head.last_seq, head.last_epoch)",
                    "cached is None",
                ),
            )
        ],
        "a snapshot counts for one event more": [
            _edited(
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
            _edited(
                store,
                "take_answer",
                ("change_point(db, found.execution_id, now, ChangedPoint(point=point))", "pass"),
            )
        ],
    },
    "signals": {
        "a signal is kept and told to nobody": [_edited(signals, "waits", ("return ", "return [] and "))],
        "a signal that came early is forgotten": [
            _edited(signals, "signals", ("return _by_age(", "return [] and _by_age("))
        ],
    },
    "threads": {
        "calls begin without a look at the lease": [_kept(node_runner.NodeRunner, "_may_make", lambda *_: True)],
        "a place is never given back": [_edited(node_runner.NodeRunner, "give_back", ("self._free += slots", "pass"))],
    },
    "services": {
        "a service ends with its first error *": [
            _edited(service.Service, "_serve", ("self._failed(error)", "return self._failed(error)"))
        ],
    },
}


class Unnoticed(NamedTuple):
    """A way to break it that no seed was seen to notice, and why."""

    changes: list[Change]
    why: str


# Tried by `python tools/break_runtime.py --unnoticed`: one that is noticed by then belongs above.
UNNOTICED: dict[str, Unnoticed] = {
    "a pause that comes while a lease is renewed stops nothing *": Unnoticed(
        [_edited(node_runner.NodeRunner, "_may_make", (_IS_SHUT, ""))],
        "a pause has to come in the milliseconds when a lease is regained: see tests/runtime/dispatch/test_leases.py",
    ),
    "a call begins whose end is on its way *": Unnoticed(
        [_kept(active_execution.ActiveExecution, "expects", lambda *_: True)],
        "one seed in three hundred; tests/runtime/dispatch/test_leases.py is about it",
    ),
    "who drives an execution is not asked for commands": Unnoticed(
        [_edited(lease_renewer.LeaseRenewer, "_hear", ("if not seen:", "if seen or not seen:"))],
        "its next append is refused because of them, so they only come later; no law says how soon",
    ),
    "nobody looks again for what is due": Unnoticed(
        [_edited(claimer.Claimer, "_claim", ("self._next = now + driver.settings.poll", "self._next = now + 10**9"))],
        "the last claim told what is due next, and something is always due",
    ),
    "commands are heard out of their order": Unnoticed(
        [
            _edited(
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
        [_edited(claims, "release", ("is_due = has_unread and held_at is None", "is_due = False"))],
        "what is given back with nothing done gets a command in the same milliseconds",
    ),
    "a call on a thread begins without a look at its lease *": Unnoticed(
        [_edited(node_runner.NodeRunner, "_enter", ("if not self._may_make(out):", "if False:"))],
        "threads of a simulation begin at once, so that nothing comes between: see tests/runtime/calls/test_threads.py",
    ),
    "a call is begun that waits for a thread *": Unnoticed(
        [_edited(node_runner.NodeRunner, "take_slot", ("if self.threads.free <= 0:", "if False:"))],
        "a simulation has as many threads as are asked for; tests/runtime/calls/test_threads.py is about it",
    ),
    "a resumed workflow leaves executions paused *": Unnoticed(
        [
            _edited(store, "enqueue", (" and db.standings.get(standing.workflow) != standing", " and False")),
            _edited(workflow_status, "_has_unread", ("head.commands_done < head.commands_seq", "False")),
        ],
        "no workflow is paused and resumed at once, and operators resume what is held in the end; "
        "tests/runtime/operations/test_workflow_status.py is about it",
    ),
    "a command that cannot be read counts as done *": Unnoticed(
        [
            _edited(
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
