"""What an active execution uses of the instance that drives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Container, Mapping

    from layover.ports.errors import StoreError
    from layover.ports.records import Append, Outcome, QueuedCommand
    from layover.runtime.calls.node_runner import NodeRunner
    from layover.runtime.clock import Clock
    from layover.runtime.execution.held_lease import Cover
    from layover.runtime.metrics import Metrics
    from layover.runtime.settings import RuntimeSettings
    from layover.tracing.tracer import Tracer


Told: TypeAlias = "Callable[[Outcome | StoreError], None]"


class AppendSender(Protocol):
    """Sends appends to the store, and reports their outcomes later."""

    def submit(self, append: Append, told: Told) -> None:
        """Write an append with the next group."""

    def insist(self, append: Append, decide: Callable[[tuple[QueuedCommand, ...]], Append], told: Told) -> None:
        """Write an append that was refused for commands time and again: once more, with whatever comes in meanwhile."""


class WorkflowBreakpoints(Protocol):
    """Nodes before which the executions of a workflow pause."""

    def of(self, workflow: str) -> Mapping[str, str]:
        """Return the breakpoints of a workflow as they were last read."""

    async def read(self) -> None:
        """Read them anew."""


class Environment(NamedTuple):
    """The parts of an instance that each of its executions uses."""

    instance: str
    loop: asyncio.AbstractEventLoop
    clock: Clock
    settings: RuntimeSettings
    committer: AppendSender
    node_runner: NodeRunner
    leases: Cover
    metrics: Metrics
    waited_for: Container[str]  # executions that callers wait for
    secret: Callable[[int], bytes]
    breakpoints: WorkflowBreakpoints
    tracer: Tracer | None = None
    occasions: frozenset[str] = frozenset()  # the kinds that the settings tell of
