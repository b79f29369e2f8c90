"""Ways to break the runtime that no seed was seen to notice: each says why, and which test is about it instead.

They are tried by `python tools/break_runtime.py --unnoticed`: one that is noticed by then belongs into `mutants.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from layover.runtime import runtime
from layover.runtime.calls import slots as call_slots
from layover.runtime.dispatch import claimer, commit_retrier, committer, lease_renewer, listeners
from layover.runtime.execution import active_execution, command_cursor, held_lease, slot_queue, steps
from layover.stores.memory import appends, claims
from tests.simulation.breaking import Change, edited, first_inputs_edited, replaced


class Unnoticed(NamedTuple):
    """A way to break it that no seed was seen to notice, and why."""

    changes: list[Change]
    why: str


UNNOTICED: dict[str, Unnoticed] = {
    "letting go forgives what an execution lost *": Unnoticed(
        [edited(held_lease.HeldLease, "unchanged", ("replace(self.record, takeovers=self.takeovers)", "self.record"))],
        "what kills its instance rarely comes to be let go of; tests/runtime/dispatch/test_quarantine.py is about it",
    ),
    "a loss is charged by every claim after it *": Unnoticed(
        [first_inputs_edited(('lost=claimed.taken_over or losses > state.counts["losses"]', "lost=losses > 0"))],
        "an innocent call has to be let go of ten times; tests/runtime/dispatch/test_quarantine.py is about it",
    ),
    "a call begins whose end is on its way *": Unnoticed(
        [replaced(active_execution.ActiveExecution, "expects", lambda *_: True)],
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
    "a new execution has its lease by the time that its instance knows *": Unnoticed(
        [edited(appends, "_created", ("lease_end(append.lease_until, append.at, db.clock())", "append.lease_until"))],
        "one seed in thousands; tests/simulation/test_scenarios.py plays what one of them did",
    ),
    "a group that is too large is sent again as it is *": Unnoticed(
        [
            replaced(committer, "leading", lambda waiting, *_: len(waiting)),
            replaced(commit_retrier, "leading", lambda waiting, *_: len(waiting)),
            edited(
                commit_retrier.CommitRetrier,
                "_schedule",
                ("self._most = max(1, min(self._most, len(group) // 2))", "pass"),
            ),
        ],
        "no group is too large for a simulated database; tests/runtime/dispatch/test_commit_sizes.py is about it",
    ),
    "what cannot be written is tried again together with the call before it *": Unnoticed(
        [
            edited(
                steps.Steps,
                "_cannot_go_on",
                ("elif self._decider.unwritable is None:", "elif False:"),
                ("elif reported != [_WITHOUT_REPORTS]:", "elif False:"),
            )
        ],
        "the call is made again as one is that was lost, and no law tells them apart; "
        "tests/runtime/calls/test_unwritable.py is about it",
    ),
    "a start is kept until the store takes it *": Unnoticed(
        [
            edited(
                commit_retrier.CommitRetrier,
                "mend",
                ("for one in group if one.append.new is None]", "for one in group]"),
                ("if one.append.new is not None:  # the caller of a start decides what to do then", "if False:"),
            )
        ],
        "no law says how soon a start fails; tests/runtime/dispatch/test_full_disk.py is about it",
    ),
    "queued calls are not given back *": Unnoticed(
        [edited(slot_queue.SlotQueue, "waits_until", ("return self.since + longest", "return None"))],
        "the calls are made, only later and by one instance; tests/runtime/calls/test_call_slots.py is about it",
    ),
    "who waits is told that the store is away *": Unnoticed(
        [edited(listeners.Listeners, "patiently", ('if error.code == "closed":', "if True:"))],
        "people ask again, as after any error; tests/runtime/dispatch/test_listeners.py is about it",
    ),
    "an unexpected error leaves an insisting append without an outcome *": Unnoticed(
        [
            edited(
                committer.Committer,
                "_insist",
                ("except Exception as error:  # noqa: BLE001 - as above", "except StoreUnavailable as error:"),
            )
        ],
        "the database of a simulation fails as its port says; tests/runtime/dispatch/test_insisting.py is about it",
    ),
    "a renewal that was overtaken shortens a lease *": Unnoticed(
        [edited(claims, "renew", ("wake_at=max(head.wake_at or 0, until)", "wake_at=until"))],
        "the next renewal comes before the shortened lease is over; tests/stores/test_claims.py is about it",
    ),
    "stopping waits for a silent store *": Unnoticed(
        [edited(runtime.Runtime, "_stop", ("asyncio.timeout(seconds + of_store)", "asyncio.timeout(None)"))],
        "no law says how soon an instance stops; tests/runtime/dispatch/test_silent_stores.py is about it",
    ),
}
