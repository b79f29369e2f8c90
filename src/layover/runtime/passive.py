"""A runtime that drives nothing: it reads, and writes commands for the instances that drive.

What it has written is durable, and a running instance applies it at its next step, which is waited for as long as
operations wait. What is started or reopened here is given back at once, for an instance that drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from layover.ports.records import CLOSED
from layover.runtime.clock import Clock
from layover.runtime.dispatch.service import Service
from layover.runtime.instance import Instance
from layover.runtime.machine import Machine
from layover.runtime.operations.command_sender import CommandWaits
from layover.runtime.operations.operations import Opened, Operations
from layover.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from layover.nodes.notifier import NotifierFunction
    from layover.nodes.registry import Registry
    from layover.ports.secrets import Secrets
    from layover.ports.store import Inspectable
    from layover.runtime.operations.command_sender import AppliedWait
    from layover.runtime.operations.timeouts import WaitLimit


class PassiveRuntime(Opened):
    """Reads and commands, open for the length of an `async with`; `acts=False` only reads, and changes no file."""

    def __init__(
        self,
        store: Inspectable,
        registry: Registry,
        *,
        acts: bool = True,
        settings: RuntimeSettings | None = None,
        secrets: Iterable[Secrets] = (),
    ) -> None:
        self._store = store
        self._registry = registry
        self._acts = acts
        self._providers = tuple(secrets)
        self._settings = replace(settings or RuntimeSettings(), executions=0)
        self._applied: AppliedElsewhere | None = None
        self._progress: Service | None = None

    def add_notifier(self, function: NotifierFunction[..., Any]) -> None:
        """Register a function as a destination; only a test of it calls it here."""
        self._registry.add_notifier(function)

    async def __aenter__(self) -> Self:
        machine = Machine()
        clock = Clock(machine.running)
        instance = Instance(self._store, self._registry, self._settings, clock, machine, self._providers)
        await self._store.open_to_read()  # a file that is not there is not made, and an old one is not changed
        if self._acts:
            await self._store.close()
            await self._store.open(instance.id)
        await clock.ask(self._store)
        instance.driver.stop()  # nothing that is created or claimed here is driven
        waits = CommandWaits(instance.listeners, self._settings.act_wait / 1000)
        self._applied = AppliedElsewhere(self._store, waits)
        self._open = Operations(instance, self._applied)
        self._progress = Service("progress", instance.progress.run, chance=machine.chance)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self, grace: float | None = None) -> None:  # noqa: ARG002 - nothing runs that it could wait for
        """Give back what was claimed, and close the store."""
        if self._open is None:
            return
        instance, self._open = self._open.instance, None
        if self._progress is not None:
            self._progress.task.cancel()
        try:
            instance.secrets.close()
            await instance.store_gauges.stop()
            instance.notifier_calls.stop()
            await instance.wires.close()
            await instance.node_runner.stop(0)
            await instance.committer.stop()
            await instance.driver.release_all()
        finally:
            await self._store.close()

    @property
    def is_applied(self) -> bool:
        """Whether an instance that drives has applied the operation that was asked for last."""
        return self._applied is not None and self._applied.is_applied


class AppliedElsewhere:
    """Waits for an instance that drives: without one, nothing would apply a command."""

    def __init__(self, store: Inspectable, waits: AppliedWait) -> None:
        self._store = store
        self._waits = waits
        self.is_applied = False  # the last command that was waited for

    async def until_applied(self, execution_id: str, n: int, within: WaitLimit | None) -> None:
        """Wait until an execution has applied its n-th command, if an instance is running that could."""
        self.is_applied = False
        if not await self._store.instances.list_others():
            return
        await self._waits.until_applied(execution_id, n, within)
        row = await self._store.queries.find_execution(execution_id)
        self.is_applied = row is not None and (row.head.commands_done >= n or row.head.status in CLOSED)
