"""A call that is running, or about to, and what the node runner needs to know of the execution that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from layover.core.light_structs import LightStruct
from layover.errors import LayoverError
from layover.nodes.tracebacks import awaiting_frames

if TYPE_CHECKING:
    import asyncio

    from layover.core.engine import commands as cmd
    from layover.core.engine.effects import MakeCall
    from layover.logs.capture import AttemptLines
    from layover.masking import Masker
    from layover.nodes.heartbeat import Heartbeat
    from layover.nodes.journal import Journal
    from layover.ports.view_records import NodeProgress
    from layover.runtime.calls.calls_out import CallsOut
    from layover.runtime.secrets.call_secrets import CallSecrets
    from layover.tracebacks import TracebackFrame
    from layover.tracing.tracer import AttemptSpan, LegSpan

    FromCall = cmd.Record | cmd.Checkpoint

_TURNS: Final = 8  # of the event loop: more than a result needs to reach its execution


class Superseded(LayoverError):  # noqa: N818 - it says what the call is
    """A call whose result no longer counts: it timed out, or another instance drives its execution."""

    code = "superseded"

    def __init__(self) -> None:
        super().__init__("The result of this call no longer counts.")


class ExecutionLease(Protocol):
    """The lease under which calls are made."""

    def is_valid(self) -> bool:
        """Return whether no other instance can drive the execution; on any thread."""

    async def regain(self) -> bool:
        """Renew a lease that has run out; false if it is lost."""


class CallOwner(Protocol):
    """The execution that calls belong to: it says whether they may be made, and takes their results."""

    @property
    def id(self) -> str:
        """The id of the execution."""

    @property
    def workflow(self) -> str:
        """The name of its workflow."""

    @property
    def request_id(self) -> str:
        """The request that this leg of it began with, if that came to this instance."""

    @property
    def epoch(self) -> int:
        """The epoch of its lease."""

    @property
    def calls(self) -> CallsOut:
        """Its calls that are running, or about to."""

    @property
    def held_lease(self) -> ExecutionLease:
        """Its lease."""

    @property
    def leg_span(self) -> LegSpan | None:
        """The span of its leg, if it is traced."""

    def let_go(self) -> None:
        """Release it, for any instance."""

    def expects(self, call: MakeCall) -> bool:
        """Return whether it still waits for the result of a call; on any thread."""

    async def expects_still(self, call: MakeCall) -> bool:
        """Return the same, once an append that may end the call is durable or taken back."""

    async def gate_is_open(self, out: CallOut) -> bool:
        """Let a call wait until the gate opens; return false if it is stopped instead."""

    def feed(self, *commands: cmd.AnyCommand) -> None:
        """Take the result of a call."""

    def write(self, command: FromCall) -> asyncio.Future[None]:
        """Record what a running call reports; the returned future is done when that is durable."""

    def start_queued(self, node_type: str, most: int) -> None:
        """Start up to so many queued calls of a node type."""


class CallOut(LightStruct):
    """A call that is running, or about to."""

    execution: CallOwner
    call: MakeCall
    decided_at: int  # in the time of the log
    token: str | None = None  # for the callback
    begun_at: int | None = None  # when its function was entered, by the monotonic clock
    held: asyncio.Future[None] | None = None  # set while it waits behind a closed gate
    turns: int = _TURNS  # of the loop that are left before it fails by its timeout
    stopped: bool = False
    worker: asyncio.Task[None] | None = None
    journal: Journal | None = None
    heartbeat: Heartbeat | None = None
    progress: tuple[float, float | None, str] | None = None  # its last report
    shown: NodeProgress | None = None  # the same as others see it
    is_stored: bool = False
    lines: AttemptLines | None = None  # that its function has logged, if they are kept
    span: AttemptSpan | None = None
    secrets: CallSecrets | None = None  # that it was given

    def give_secrets(self, secrets: CallSecrets | None) -> None:
        """Give it the secrets that it needs, in the place of those that it had."""
        if self.secrets is not None:
            self.secrets.release()
        self.secrets = secrets

    @property
    def masker(self) -> Masker | None:
        """What masks the secrets that it was given."""
        return self.secrets.masker if self.secrets is not None else None

    def __repr__(self) -> str:
        return f"CallOut({self.execution.id} {self.call.node} {self.call.attempt})"  # without its input, and its token

    def log_ids(self) -> dict[str, object]:
        """Return the ids that are in each line which its function logs."""
        owner, call = self.execution, self.call
        ids: dict[str, object] = {
            "execution": owner.id,
            "workflow": owner.workflow,
            "node": call.node,
            "attempt": call.attempt,
        }
        if owner.request_id:
            ids["request"] = owner.request_id
        return ids

    def frames(self) -> tuple[TracebackFrame, ...]:
        """Return where its function stands; nothing if it is on a thread, or has not been entered."""
        return awaiting_frames(self.worker) if self.worker is not None else ()

    def stop(self) -> None:
        """Ask it to stop. It has time to clean up; its result is ignored."""
        self.stopped = True
        if self.held is not None and not self.held.done():
            self.held.set_result(None)
        elif self.worker is not None:
            self.worker.cancel()
