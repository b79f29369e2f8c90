"""The seam to a store. The core decides and the store only appends, so there is little to ask of it.

Every call is all or nothing, and what it has answered is durable. Time comes in as an argument: a store never asks a
clock but in `now`, which is the clock that all instances go by. Wherever a call takes many, it answers in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from layover.ports.access import Access, Standing
from layover.ports.moving import Moving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.core.engine.commands import Answer
    from layover.ports.records import (
        Admission,
        Append,
        AuditEntry,
        Claim,
        Claims,
        Command,
        Enqueue,
        Enqueued,
        Entry,
        ExecutionFilter,
        ExecutionRow,
        Fault,
        Gauges,
        Head,
        Lease,
        Liveness,
        Loaded,
        Message,
        Outbox,
        Outcome,
        PausedFilter,
        PointFilter,
        PointRow,
        Refusal,
        Reserved,
        Signal,
        Version,
        Wait,
        Wish,
    )


class RunPlane(Protocol):
    """What moves executions."""

    lanes: int  # how many commits may be on their way at once

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write many appends, at most one for each execution; one that does not pass leaves the others alone.

        What no careful writer sends is an error, and nothing of the commit is written: an execution twice, a version
        that is not there, a pause point that is opened again. An append of no events leaves nothing in the log.
        """

    async def commit_informed(self, append: Append, decide: Callable[[tuple[Command, ...]], Append]) -> Outcome:
        """Write an append; if its writer had not seen all commands, have it decided again while nobody can send more.

        `decide` may be called on another thread, and more than once.
        """

    async def claim(self, claim: Claim) -> Claims:
        """Take what is due, the most urgent first; the writer of an older epoch can no longer append."""

    async def renew(self, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        """Keep what is really driven, at least until then; return the executions that were lost."""

    def renewals(self) -> Renewals | None:
        """Return a way to renew from another thread, if there is one."""

    async def release(
        self,
        instance: str,
        leases: Sequence[Lease],
        wake_at: int | None,
        missing: tuple[str, ...] = (),
        held_at: int | None = None,
    ) -> None:
        """Give back what is driven, due at a moment; what has commands that were not moved into its log is due now.

        Whoever has a function for one of the `missing` node types may take it up at once. What is held back at a moment
        is due when it is said, whatever is unread: who gives it back could not have read it.
        """

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read what states are made from."""

    async def commands(self, execution_id: str, after: int) -> list[Command]:
        """Read the commands of an execution that came after one of them."""

    async def is_taken(self, execution_id: str, source: str) -> bool:
        """Tell whether an execution was sent a command from a source before."""

    async def heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read the heads of executions."""

    async def unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return those executions that have commands beyond the number that their driver has seen."""

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
    ) -> list[Enqueued | Refusal]:
        """Take commands for executions that are not closed, and wake those that nobody drives.

        With a standing, they are taken only while it is the one that is noted of its workflow: whoever notes another
        one afterwards finds them in the queues, and whoever noted it before has them refused as `superseded`.
        """

    async def answer(
        self, answer: Answer, source: str, now: int, wish: Claim | None = None, audit: AuditEntry | None = None
    ) -> Reserved | Refusal:
        """Take an answer to a pause point as a reservation, if the core lets it pass.

        Whoever wishes to drive the execution because of it claims it at the same time, if nobody drives it.
        """


class Renewals(Protocol):
    """A way to renew leases that does not depend on the event loop, nor on connections that others use."""

    def renew(self, instance: str, leases: Sequence[Lease], until: int, timeout: float) -> list[str]:
        """Keep what is driven; return the executions that were lost. Called on one thread, for so many seconds."""

    def close(self) -> None:
        """Let go of it, on the same thread."""


class Outboxes(Protocol):
    """What executions want of each other: written with their logs, kept until it has arrived."""

    async def outbox(self, now: int, most: int) -> Outbox:
        """Read messages that are due; those of one sender to one destination come in the order of their numbers."""

    async def sent(self, messages: Sequence[Message]) -> None:
        """Forget messages that have arrived."""

    async def postpone(self, message: Message, due_at: int) -> None:
        """Keep a message for later."""

    async def outgoing(self, sender: str) -> list[Message]:
        """Read the messages of one execution that have not arrived."""

    async def token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""


class Signals(Protocol):
    """What arrives from outside by name and key, and who waits for it.

    Whoever brings a signal keeps it, then looks who waits; whoever waits says so, then looks what has come. Each looks
    after its own commit, so one of the two sees the other, and neither forgets to look: a signal is undispatched, and
    the scan of a wait is a message, until that has been done.
    """

    async def keep_signal(self, signal: Signal, audit: AuditEntry | None = None) -> bool:
        """Keep a signal, undispatched; false if one with this id was there before."""

    async def waits(self, name: str, key: str) -> list[Wait]:
        """Read who waits for signals of a name and key."""

    async def signals(self, name: str, key: str, since: int) -> list[Signal]:
        """Read the signals of a name and key that came at a moment or later, the oldest first."""

    async def undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals from before a moment whose waits have not all been told, the oldest first."""

    async def dispatched(self, ids: Sequence[str]) -> None:
        """Note that all who waited for signals have been told."""

    async def forget_signals(self, before: int, most: int) -> int:
        """Delete dispatched signals from before a moment; return how many."""


class Limits(Protocol):
    """Who may begin when only so many may."""

    async def admit(self, wish: Wish, now: int) -> Admission:
        """Let an execution begin if its limits allow it, or keep its place; asked again, tell how things stand.

        An execution that is admitted finds `Admit` in its queue. With `cancel_running` those that hold or await slots
        of the same name find `Cancel` in theirs. One that is rejected keeps no place; nor does one that is closed.
        """

    async def free(self, execution_id: str, now: int) -> list[str]:
        """Give back the slot, or the place in line, of an execution; return those that were admitted in its stead.

        Who gets the slot need not wait to ask again: its messages to itself come due at once, or at its moment.
        """

    async def forget_rates(self, now: int) -> int:
        """Delete what is kept of rates that nothing is used of any more; return how many."""

    async def admission(self, execution_id: str) -> Admission | None:
        """Tell how things stand for an execution that has a slot or waits for one."""


class Definitions(Protocol):
    """Workflows and their versions."""

    async def save_version(
        self, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None = None
    ) -> Version:
        """Keep a definition as the newest version, unless it is that already; a deleted workflow is active again."""

    async def version(self, hash_: str) -> Version | None:
        """Find a version by its hash."""

    async def latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""

    async def versions(self, workflow: str | None = None) -> list[Version]:
        """List the versions of a workflow, or the newest of every workflow."""

    async def workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List the newest versions of workflows whose names come after one, by name."""


class Views(Protocol):
    """What readers ask for."""

    async def get(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""

    async def page(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions, newest first."""

    async def paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List executions whose status is `paused`, the one paused longest first."""

    async def history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read the log from the entry that holds event `since` on, at most `limit` entries."""

    async def points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points, oldest first."""

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point, be it closed."""

    async def counts(self) -> dict[str, int]:
        """Count executions by status."""

    async def gauges(self, now: int, before: int) -> Gauges:
        """Tell how things stand at a moment; those that have been paused since `before` are counted by themselves."""

    async def liveness(self, instance: str) -> Liveness:
        """Tell whether an instance lives."""

    async def others(self) -> list[str]:
        """Return the instances besides this one that live, as far as a store can tell, and drive executions."""


class Locks(Protocol):
    """Named locks for what only one instance does at a time, each held until a moment."""

    async def lock(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or keep a lock; false if somebody else holds it."""

    async def unlock(self, name: str, holder: str) -> None:
        """Give a lock back."""


class Retention(Protocol):
    """Deleting what nobody needs any more."""

    async def expendable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Read executions that were closed before a moment, if they and their parents have nothing left to send.

        The oldest come first.
        """

    async def purge(self, execution_ids: Sequence[str], before: int | None = None) -> int:
        """Delete all there is of executions; one that is open, or has something to send, is left alone.

        With a moment, so is one that was closed then or later: it may have been taken up again since it was read.
        """

    async def purge_weeks(self, before: int | None) -> int:
        """Delete whole weeks at once, if that is how they are kept, and everything in them was closed before a moment.

        Return how many executions that were. Without a moment, only what nothing is left of is cleared away.
        """


class Store(RunPlane, Outboxes, Signals, Limits, Definitions, Views, Locks, Retention, Moving, Access, Protocol):
    """All of it, with a beginning and an end."""

    async def open(self, instance: str) -> None:
        """Make ready, for this instance, the only one of its name; what an earlier life of it drove is due at once."""

    async def close(self) -> None:
        """Let go of everything; what was answered stays durable."""

    async def now(self) -> int:
        """Return the time of the clock that all instances go by, as it was at some moment since this was asked."""

    @property
    def clock_error(self) -> int:
        """By how many milliseconds that time may be wrong, in either direction."""

    async def check_shape(self) -> None:
        """Raise why it is not, or no longer, in the shape that this release needs."""


@runtime_checkable
class Inspectable(Store, Protocol):
    """A store that can also be looked at without being used."""

    async def open_to_read(self) -> None:
        """Make ready to read: nothing is created, brought up to date or changed, and nobody who uses it is held up."""

    async def faults(self) -> list[Fault]:
        """Return what is wrong and cannot be seen through any other call."""
