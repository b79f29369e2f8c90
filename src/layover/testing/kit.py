"""What a test has in its hands: the fixture `layover`.

It is a real engine on a real database, on time that stands still. Everything that a test does returns when all that it
leads to has happened, so what the test then looks at does not change by itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layover.authoring.workflow import Workflow
from layover.core.ids import uuid8
from layover.core.suggest import did_you_mean
from layover.nodes.function import name_of
from layover.runtime.errors import UnknownWorkflow
from layover.runtime.execution.callback_tokens import hash_of
from layover.runtime.ids import id_from_key
from layover.runtime.operations.executions import Options
from layover.testing.databases import InFile, InMemory
from layover.testing.engines import Engines
from layover.testing.errors import CrashNeverCame, NobodyPlays
from layover.testing.execution import ExecutionInTest
from layover.testing.fakes import Fake, Playing
from layover.testing.playing import check_played
from layover.testing.virtual_time import VirtualTime, milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction, Registry
    from layover.ports.commit_points import CommitPoint
    from layover.runtime.engine import Engine
    from layover.testing.life import MortalEngine
    from layover.testing.surviving import Crash
    from layover.testing.virtual_time import Length

_FILES = (".yaml", ".yml", ".json")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


class Layover:
    """An engine for one test; with a folder, its database is a file there, else it is in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._time = VirtualTime()
        database = InMemory(self._time) if folder is None else InFile(self._time, folder / "layover.db")
        self._engines = Engines(database, self._time, self._furnish)
        self._functions: dict[str, tuple[AnyFunction, AnyFunction | None]] = {}
        self._plans: dict[str, Plan] = {}
        self._starts = 0
        self._signals = 0
        self._worlds = 0
        self.executions: list[ExecutionInTest] = []  # those that the test has started, in their order
        self.only_crash: Crash | None = None  # the one that `survives_crashes` is to try

    # Time

    @property
    def now(self) -> int:
        """The time, in milliseconds UTC."""
        return self._time.now

    @property
    def patience(self) -> float:
        """How many seconds calls may really take before the test fails."""
        return self._engines.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._engines.patience = seconds

    async def skip(self, length: Length) -> None:
        """Let time pass: whatever comes due by then acts at its own moment, in order."""
        await self._engines.alive()
        await self._engines.skip(milliseconds(length))
        await self._refresh()

    async def step(self) -> bool:
        """Let time pass to the next moment at which something is due; false if there is none."""
        due = await self._engines.next_due()
        if due is None:
            return False
        await self._engines.step_to(due)
        await self._refresh()
        return True

    # Functions

    def nodes(self, *functions: AnyFunction) -> None:
        """Have functions called for the node types that have their names."""
        for function in functions:
            self._play(name_of(function), function)

    def probe(self, node_type: str, function: AnyFunction) -> None:
        """Have a function tell whether a call of a node type that was lost in a crash had its effect."""
        if node_type not in self._functions:
            raise NobodyPlays(f"There is nothing to probe: `{node_type}` has neither a function nor a fake.")
        played, _ = self._functions[node_type]
        self._play(node_type, played, function)

    def fake(
        self,
        node_type: str | AnyFunction,
        *,
        returns: object = None,
        raises: BaseException | type[BaseException] | None = None,
        side_effect: AnyFunction | None = None,
        script: Sequence[object] = (),
        takes: Length = 0,
    ) -> Fake:
        """Stand in for a node type, given by its name or its function.

        It returns or raises something, calls something else, or does one thing after the other.
        `takes` lets each call last, in the time of the test. The last entry of a `script` is repeated.
        """
        behaviour = Playing(returns=returns, raises=raises, side_effect=side_effect, script=script, takes=takes)
        name = node_type if isinstance(node_type, str) else name_of(node_type)
        fake = Fake(name, behaviour, self._time)
        self._play(name, fake)
        return fake

    def _play(self, node_type: str, function: AnyFunction, probe: AnyFunction | None = None) -> None:
        self._functions[node_type] = (function, probe)
        if (registry := self._engines.registry) is not None:
            registry.add(function, node_type, probe)
            self._engines.look()

    def _furnish(self, registry: Registry) -> None:
        for node_type, (function, probe) in self._functions.items():
            registry.add(function, node_type, probe)

    # Workflows and executions

    async def register(self, flow: Any) -> str:
        """Keep a workflow, for others to start; return its name."""
        definition = _readable(flow)
        if isinstance(flow, Workflow):
            for function in flow.functions:
                if name_of(function) not in self._functions:  # a fake stays
                    self._play(name_of(function), function)
        version = None
        while version is None:
            version = await self._engines.do(lambda engine: engine.register(definition))
        engine = await self._engines.alive()
        self._plans[version.workflow] = await engine.plan_of(version.workflow)
        return version.workflow

    async def start(
        self,
        flow: Any,
        given: object = None,
        *,
        id: str | None = None,  # noqa: A002 - it is what everybody calls it
        key: str | None = None,
        **options: Any,
    ) -> ExecutionInTest:
        """Begin an execution and go on until it rests.

        `flow` is a workflow as an engine takes it, the path of a file, or the name of one that is registered; the
        options are those of `layover.Options`.
        """
        name = self._registered(flow) or await self.register(flow)
        check_played(self._plans[name], {*self._functions, "http"}, self._plans)
        chosen = id or (id_from_key(name, key) if key is not None else uuid8(f"layover/{self._starts}"))
        self._starts += 1
        wanted = Options(**options)
        execution = ExecutionInTest(self, chosen, name)
        await self.act(lambda engine: engine.start(name, given, id=chosen, options=wanted), chosen, also=execution)
        return execution

    def _registered(self, flow: Any) -> str | None:
        """Return the name of a workflow that is meant by it; None if it is a workflow itself."""
        if not isinstance(flow, str) or not _NAME.fullmatch(flow) or flow.endswith(_FILES):
            return None
        if flow not in self._plans:
            hint = did_you_mean(flow, self._plans)
            raise UnknownWorkflow(f"There is no workflow `{flow}` in this test; register it first.{hint}")
        return flow

    async def signal(self, name: str, key: str = "", data: object = None, *, id: str | None = None) -> None:  # noqa: A002 - as everybody says
        """Bring a signal; whoever waits for it goes on."""
        self._signals += 1
        chosen = id or uuid8(f"layover/signal/{self._signals}")
        await self.act(lambda engine: engine.deliver(name, key, data, id=chosen))

    async def call_back(self, token: str, output: object = None) -> None:
        """Give the reply that belongs to a token."""
        engine = await self._engines.alive()
        wait = await engine.instance.store.token(hash_of(token))
        about = wait.execution_id if wait is not None else None
        await self.act(lambda engine: engine.call_back(token, output), about)

    async def execution(self, execution_id: str) -> ExecutionInTest:
        """Return an execution that the test has not started itself, such as a child."""
        known = [one for one in self.executions if one.id == execution_id]
        if known:
            return known[0]
        engine = await self._engines.alive()
        found = ExecutionInTest(self, execution_id, (await engine.get(execution_id)).workflow)
        self.executions.append(found)
        await self._refresh()
        return found

    # Crashes

    def crash_at(self, point: CommitPoint, nth: int = 1) -> None:
        """Have the engine die when a commit point is reached for the nth time from here on; another one goes on."""
        self._engines.plan.crash_at(point, nth)

    @property
    def crashes(self) -> int:
        """How often an engine has died."""
        return self._engines.plan.crashes

    @property
    def reached(self) -> Mapping[CommitPoint, int]:
        """How often each commit point has been reached."""
        return dict(self._engines.plan.reached)

    def another(self) -> Layover:
        """Return the same with nothing in it: another database, another time, no functions."""
        self._worlds += 1
        if self._folder is None:
            return Layover()
        folder = self._folder / f"world-{self._worlds}"
        folder.mkdir()
        return Layover(folder)

    async def engine(self) -> Engine:
        """Return the engine that is alive, for what there is no word for here; settle after what it is asked."""
        return await self._engines.alive()

    async def settle(self) -> None:
        """Wait until all that has been asked of the engine has led to all that it leads to."""
        await self._engines.settle()
        await self._refresh()

    # What everything that a test does has in common

    async def act(
        self,
        act: Callable[[MortalEngine], Coroutine[Any, Any, object]],
        about: str | None = None,
        also: ExecutionInTest | None = None,
    ) -> None:
        """Do something and settle. If the engine dies over it, it is done again, unless it has become durable.

        When the test acts nothing else is going on, so the execution has moved if and only if it was told.
        """
        engines = self._engines
        while True:
            before, crashes = await self._moved(about), engines.plan.crashes
            await engines.do(act)
            if engines.plan.crashes == crashes or (about is not None and await self._moved(about) != before):
                break
            await engines.settle()  # whoever goes on first puts in order what the dead engine was at
        await engines.settle()
        if also is not None:
            self.executions.append(also)
        await self._refresh()

    async def _moved(self, about: str | None) -> tuple[int, int] | None:
        head = await self._engines.head(about) if about is not None else None
        return (head.last_seq, head.commands_seq) if head is not None else None

    async def _refresh(self) -> None:
        engine = await self._engines.alive()
        for execution in self.executions:
            await execution.refresh(engine)

    async def close(self, *, strict: bool = True) -> None:
        """End; a crash that was asked for and never came fails the test, if it has not failed before."""
        await self._engines.close()
        if strict and (never := self._engines.plan.never_reached):
            raise CrashNeverCame(" ".join(never))


def _readable(flow: Any) -> Any:
    """Return a workflow as an engine takes it: a text that names a file stands for what is in it."""
    if isinstance(flow, Workflow):
        return flow.plan()
    if isinstance(flow, str) and "\n" not in flow and flow.endswith(_FILES):
        return Path(flow)
    return flow
