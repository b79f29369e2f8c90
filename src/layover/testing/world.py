"""The world of one test: its time, its engines one after the other, its functions, and the executions that it follows.

Whatever a test does is done by the engine that is alive. If that one dies over it, the next one is asked again, unless
what was to be done is durable. All that it leads to has happened when it returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from layover.errors import BadUse
from layover.nodes.notifier import NotifierFunction
from layover.nodes.source import SourceFunction
from layover.service.actor import Actor
from layover.service.service import UserService
from layover.testing.databases import InFile, InMemory
from layover.testing.engines import Died, Engines
from layover.testing.polled import PushedSource
from layover.testing.secrets import GivenSecrets
from layover.testing.sent import Receivers
from layover.testing.virtual_time import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from layover.core.plan import Plan
    from layover.interface.execution_handle import ExecutionHandle
    from layover.model.access import Caller
    from layover.nodes.registry import AnyFunction, Registry
    from layover.ports.records import Head
    from layover.testing.surviving import Crash

T = TypeVar("T")


class _Followed:
    """An execution that a test has in its hands, and how far it was when it was last read."""

    def __init__(self, handle: ExecutionHandle, head: Head | None) -> None:
        self.handle = handle
        self.head = head


class KitWorld:
    """What all doors of one test share; with a folder, its database is a file there, else it is in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.time = VirtualTime()
        database = InMemory(self.time) if folder is None else InFile(self.time, folder / "layover.db")
        self.secrets = GivenSecrets()
        self.receivers = Receivers()
        self.engines = Engines(database, self.time, self._furnish, self.secrets, self.receivers)
        self.plans: dict[str, Plan] = {}  # of the workflows that are registered, by name
        self.starts = 0
        self.signals = 0
        self.hooks = 0
        self.worlds = 0
        self.only_crash: Crash | None = None
        self._functions: dict[str, tuple[AnyFunction, AnyFunction | None, AnyFunction | None]] = {}
        self._sources: dict[str, SourceFunction[..., Any]] = {}
        self._pushed: dict[str, PushedSource] = {}
        self._followed: list[_Followed] = []

    # Functions

    @property
    def played(self) -> set[str]:
        """The node types that have a function."""
        return {*self._functions, "http"}

    def play(
        self,
        node_type: str,
        function: AnyFunction,
        probe: AnyFunction | None = None,
        undo: AnyFunction | None = None,
    ) -> None:
        """Have a function called for a node type, or a source polled by its name."""
        if isinstance(function, SourceFunction):
            self._poll(function)
            return
        if isinstance(function, NotifierFunction):
            self._tell(function)
            return
        known, *had = self._functions.get(node_type, (None, None, None))
        if known is function:
            probe, undo = probe or had[0], undo or had[1]
        self._functions[node_type] = (function, probe, undo)
        if (registry := self.engines.registry) is not None:
            registry.add(function, node_type, probe, undo)
            self.engines.look()

    def function(self, node_type: str) -> AnyFunction | None:
        """Return the function of a node type."""
        found = self._functions.get(node_type)
        return found[0] if found is not None else None

    def source(self, name: str) -> PushedSource:
        """Return the source of a test, which it fills by itself."""
        found = self._pushed.get(name)
        if found is None:
            found = self._pushed[name] = PushedSource(name)
            self._sources[name] = function = found.as_function()
            if (registry := self.engines.registry) is not None:
                registry.add_source(function)
        return found

    def _tell(self, notifier: NotifierFunction[..., Any]) -> None:
        """Have a function be a destination; of what it is told by itself is settled when the engine opens."""
        registry = self.engines.registry
        if registry is not None and notifier.on:
            raise BadUse(f"Give the notifier `{notifier.name}` before anything else is done in the test.")
        self.engines.notifiers[notifier.name] = notifier
        if registry is not None:
            registry.add_notifier(notifier)

    def _poll(self, source: SourceFunction[..., Any]) -> None:
        """Have a source polled, unless the test fills it by itself."""
        if source.name in self._pushed:
            return
        self._sources[source.name] = source
        if (registry := self.engines.registry) is not None:
            registry.add_source(source)

    def _furnish(self, registry: Registry) -> None:
        for source in self._sources.values():
            registry.add_source(source)
        for node_type, (function, probe, undo) in self._functions.items():
            registry.add(function, node_type, probe, undo)

    # Asking and acting

    async def ask(self, caller: Caller, work: Callable[[UserService], Coroutine[Any, Any, T]]) -> T:
        """Return what the engine that is alive answers; if it dies over it, the next one is asked."""
        while True:
            try:
                return await self._once(caller, work)
            except Died:
                await self.engines.settle()  # the next one first puts in order what the dead one was at

    async def act(
        self, caller: Caller, work: Callable[[UserService], Coroutine[Any, Any, T]], about: str | None
    ) -> None:
        """Do something to an execution, and settle; if the engine dies over it, it is done again unless it is durable.

        When a test acts nothing else is going on, so an execution has moved if and only if it was told.
        """
        while True:
            before = await self._moved(about)
            try:
                await self._once(caller, work)
                break
            except Died:
                if about is not None and await self._moved(about) != before:
                    break
            await self.engines.settle()
        await self.settle()

    async def _once(self, caller: Caller, work: Callable[[UserService], Coroutine[Any, Any, T]]) -> T:
        return await self.engines.do(lambda engine: work(UserService(Actor(engine, caller))))

    async def _moved(self, about: str | None) -> tuple[int, int] | None:
        head = await self.engines.head(about) if about is not None else None
        return (head.last_seq, head.commands_seq) if head is not None else None

    # Time

    async def settle(self) -> None:
        """Wait until all that was asked of the engine has led to all that it leads to."""
        await self.engines.settle()
        await self._refresh()

    async def step(self, limit: int | None = None) -> bool:
        """Let time pass to the next moment at which something is due; false if there is none, or none by a limit."""
        due = await self.engines.next_due()
        if due is None or (limit is not None and due > limit):
            return False
        await self.skip(due - self.time.now)
        return True

    async def skip(self, length: int) -> None:
        """Let time pass: whatever comes due by then acts at its own moment, in order."""
        await self.engines.skip(max(length, 0))
        await self._refresh()

    # Executions in the hands of the test

    @property
    def handles(self) -> list[ExecutionHandle]:
        """The executions that the test has in its hands, in the order in which it got them."""
        return [one.handle for one in self._followed]

    async def follow(self, handle: ExecutionHandle) -> None:
        """Keep an execution that the test has in its hands as it is, whatever happens."""
        self._followed.append(_Followed(handle, await self.engines.head(handle.id)))

    async def _refresh(self) -> None:
        for one in self._followed:
            head = await self.engines.head(one.handle.id)
            if head != one.head:
                one.head = head
                await one.handle.refresh()

    async def close(self) -> None:
        """Stop the engine."""
        await self.engines.close()
