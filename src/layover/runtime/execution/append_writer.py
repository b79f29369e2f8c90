"""The append in flight of one execution, and the position in the log that it goes on from.

At most one append is in flight. In a workflow with leg durability, steps that are invisible from outside are buffered
and written with the next visible one. After some refusals in a row for commands that came in, the next decision is made
where no more can come.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.engine.command_codec import UnknownCommand
from layover.errors import LayoverError
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import Head
from layover.runtime.execution.append_builder import VisibleBefore, append_of, derived, size_of
from layover.runtime.execution.leg_buffer import NOTHING_UNWRITTEN, LegBuffer
from layover.runtime.execution.pending_append import PendingAppend, in_order
from layover.runtime.execution.state_cache import CachedState

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.ports.records import Append, Outcome, QueuedCommand
    from layover.runtime.calls.calls_out import CallsOut
    from layover.runtime.execution.append_builder import Derived, First
    from layover.runtime.execution.command_cursor import CommandCursor
    from layover.runtime.execution.decider import Decider
    from layover.runtime.execution.environment import Environment, Told
    from layover.runtime.execution.held_lease import HeldLease

_MOST_REFUSALS: Final = 3


class AppendTooLarge(LayoverError):  # noqa: N818 - it says what the append is
    """A step that is larger than `append_bytes`."""

    code = "append_too_large"

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"One step would write {size:,} bytes: at most {most:,} are allowed (`append_bytes`).")


class AppendWriter:
    """Builds and sends the appends of one execution."""

    __slots__ = (
        "_claimed", "_decider", "_environment", "_occasions", "_size", "_visible", "by_leg", "calls", "committed",
        "cursor", "first", "in_flight", "last_epoch", "last_seq", "lease", "leg_buffer", "priority", "refusals",
        "snapshot_seq",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - the parts of an execution, put together in one place
        self,
        environment: Environment,
        cached: CachedState,
        *,
        decider: Decider,
        lease: HeldLease,
        calls: CallsOut,
        cursor: CommandCursor,
        first: First,
        claimed: Head | None,
        priority: int,
    ) -> None:
        self._environment = environment
        self._decider = decider
        self._claimed = claimed
        self.calls = calls
        self.lease = lease
        self.cursor = cursor
        self.first = first
        self.priority = priority
        self.last_seq = cached.last_seq
        self.last_epoch = cached.last_epoch
        self.snapshot_seq = cached.snapshot_seq
        self._size = cached.size
        self._visible = VisibleBefore.of(cached.state)
        self._listen()
        self.by_leg = cached.state.plan.definition.settings.durability == "leg"
        self.leg_buffer = LegBuffer() if self.by_leg else NOTHING_UNWRITTEN
        self.refusals = 0
        # A step, what is visible of it from outside, and the append that it became.
        self.in_flight: tuple[PendingAppend, Derived, Append] | None = None
        self.committed: Append | None = None  # the last append of this leg that passed

    def _listen(self) -> None:
        """Look up which occasions somebody is told of: a version has its own."""
        told, asked = self._environment.occasions, self._decider.state.plan.occasions
        self._occasions = told | asked if told else asked

    # Sending

    def write(self, step: PendingAppend, told: Told, *, is_bounded: bool = True) -> None:
        """Send a step; one that closes the gate waits a moment for calls that are about to be entered.

        Once it is durable a caller may learn of the pause, and from then on no function is entered.
        """
        append = self._prepare(step)
        most = self._environment.settings.append_bytes
        if is_bounded and (size := size_of(append)) > most:
            raise AppendTooLarge(size, most)
        if self._decider.state.facts.gate != "open" and not self.calls.is_shut:
            self.calls.shut(partial(self._send, append, told))
        else:
            self._send(append, told)

    def _send(self, append: Append, told: Told) -> None:
        reached(CommitPoint.APPEND_DECIDED)
        if self.refusals < _MOST_REFUSALS:
            self._environment.committer.submit(append, told)
        else:
            self._environment.committer.insist(append, self._decide_again, told)

    def _decide_again(self, commands: tuple[QueuedCommand, ...]) -> Append:
        """Decide the step in flight again with new commands; the store calls this while no more can be enqueued.

        This runs on another thread.
        """
        if self.in_flight is None:
            raise AssertionError("nothing is on its way")
        step, seen, append = self.in_flight
        self._decider.state.revert()
        asked = self.cursor.read(commands)
        if self.cursor.unreadable is not None:
            raise UnknownCommand(f"There is no command `{self.cursor.unreadable.kind}` in this release of Layover.")
        tried = in_order(step.tried, asked)
        # If it cannot be decided, these are the commands that it was about: they count as read.
        self.in_flight = replace(step, tried=tried), seen, append
        return self._prepare(self._decider.decide(tried, step.at, self._decider.slots.for_another_decision()))

    def _prepare(self, step: PendingAppend) -> Append:
        state, secret = self._decider.state, self._environment.secret
        seen = derived(state, step, self._visible, priority=self.priority, secret=secret, occasions=self._occasions)
        append = append_of(self, state, self._environment, step, seen)
        self.in_flight = step, seen, append
        return append

    # The leg buffer

    def buffer(self, step: PendingAppend) -> bool:
        """Buffer a step that is invisible from outside; false if it must be written at once."""
        waiting, settings = self.leg_buffer, self._environment.settings
        if self.first.new is not None or step.rest is not None or self.has_unnoted_commands:
            return False
        if (
            self._decider.state.facts.gate != "open"
            or waiting.count >= settings.snapshot_every
            or self.is_overdue(step.at)
        ):
            return False
        if waiting.size >= settings.commit_bytes:
            return False
        state, secret = self._decider.state, self._environment.secret
        seen = derived(state, step, self._visible, priority=self.priority, secret=secret, occasions=self._occasions)
        if seen.is_seen:
            return False
        waiting.add(step.at, step.events)
        return True

    @property
    def has_unnoted_commands(self) -> bool:
        """Whether commands were read that the log does not take note of yet."""
        return self.cursor.noted < self.cursor.seen

    def is_overdue(self, now: int) -> bool:
        """Return whether buffered events have waited for as long as they may."""
        return self.leg_buffer.count > 0 and now - self.leg_buffer.since >= self._environment.settings.leg_flush

    # The outcome

    def passed(self, append: Append) -> None:
        """Move on in the log, behind an append that is durable."""
        self.refusals = 0
        self.committed = append
        self.last_seq += append.count
        self.last_epoch = append.epoch
        self.cursor.noted = append.commands_seen
        self._size += len(append.events)
        self._visible = self._visible.after(self._decider.state)
        if append.version is not None:
            self._listen()
        if self.leg_buffer.count:
            self.leg_buffer.clear()
        if append.snapshot is not None:
            self.snapshot_seq = self.last_seq

    def refused(self, outcome: Outcome, tried: list[cmd.AnyCommand]) -> list[cmd.AnyCommand]:
        """Return the commands to decide again, with those that the last decision had not seen."""
        self.refusals += 1
        again = in_order(tried, self.cursor.read(outcome.commands))
        if self.cursor.unreadable is None:
            self.cursor.seen = max(self.cursor.seen, outcome.commands_seq)
        return again

    def cached(self) -> CachedState:
        """Return the state with everything a later leg needs to go on from it."""
        decider = self._decider
        return CachedState(
            decider.state, self.last_seq, self.last_epoch, self.snapshot_seq, self._size, decider.last_at
        )

    def head(self, paused_at: int | None) -> Head | None:
        """Return the head after the last append of this leg, or after the claim; None before the creation."""
        append, lease, claimed = self.committed, self.lease, self._claimed
        if append is None:
            return claimed
        rest = append.rest
        missing = rest.missing if rest is not None else ()
        missing_since = claimed.missing_since if claimed is not None else None
        rested_at = rest.paused_at if rest is not None else None
        return Head(
            execution_id=append.execution_id,
            workflow=self._decider.state.facts.workflow,
            status=append.status,
            last_seq=self.last_seq,
            last_epoch=self.last_epoch,
            epoch=append.epoch,
            priority=self.priority,
            owner=append.owner if rest is None else None,
            wake_at=lease.until if rest is None else rest.wake_at,
            commands_seq=append.commands_seen,
            commands_done=append.commands_seen,
            takeovers=lease.takeovers,
            missing=missing,
            missing_since=(append.at if missing_since is None else missing_since) if missing else None,
            paused_at=(rested_at or paused_at) if append.status == "paused" else None,
        )
