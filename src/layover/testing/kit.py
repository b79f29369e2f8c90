"""What a test has in its hands: the fixture `layover`.

It is the door of an engine, with all its words, on a real engine and a real database, on time that stands still.
Everything that a test does returns when all that it leads to has happened, so what the test then looks at does not
change by itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from layover.authoring.workflow import Workflow
from layover.core.moments import Moment
from layover.engine import CREDENTIAL
from layover.interface.door import Door
from layover.interface.durations import milliseconds_of
from layover.interface.workflow_handle import WorkflowHandle
from layover.nodes.function import name_of
from layover.nodes.source import SourceFunction
from layover.service.permissions import PROGRAM, caller_of
from layover.testing.backend import BackendInTest
from layover.testing.deliveries import KitDelivery, deliver
from layover.testing.errors import CrashNeverCame, NobodyPlays
from layover.testing.fakes import Fake, Playing
from layover.testing.world import KitWorld

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from layover.interface.backend import Backend
    from layover.interface.durations import Duration
    from layover.interface.execution_handle import ExecutionHandle
    from layover.interface.sources import Definition
    from layover.model.access import Caller
    from layover.model.triggers import HookReceipt
    from layover.nodes.registry import AnyFunction
    from layover.ports.commit_points import CommitPoint
    from layover.testing.polled import PushedSource
    from layover.testing.sent import SentMessage
    from layover.testing.surviving import Crash

_FILES = (".yaml", ".yml", ".json")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


class Layover(Door):
    """An engine for one test; with a folder, its database is a file there, else it is in memory.

    Executions that a test has in its hands are always read anew: they are as they are.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._world = KitWorld(folder)
        self._act_as(PROGRAM)

    def as_user(self, user: str, roles: Sequence[str] = ()) -> Self:
        """Return the same as a user: what is done through it is checked and audited as theirs."""
        view = object.__new__(type(self))
        view._world = self._world
        view._act_as(caller_of(user, tuple(roles), CREDENTIAL))
        return view

    def _act_as(self, caller: Caller) -> None:
        self._backend = cast("Backend", BackendInTest(self._world, caller))

    # Time

    @property
    def now(self) -> Moment:
        """The time of the test; it begins at the same moment in every one."""
        return Moment.of(self._world.time.now)

    @property
    def patience(self) -> Duration:
        """How long calls may really take before the test fails."""
        return self._world.engines.patience

    @patience.setter
    def patience(self, length: Duration) -> None:
        milliseconds_of("patience", length)
        self._world.engines.patience = length

    async def skip(self, length: Duration) -> None:
        """Let time pass: whatever comes due by then acts at its own moment, in order."""
        await self._world.skip(milliseconds_of("length", length))

    async def step(self) -> bool:
        """Let time pass to the next moment at which something is due; false if there is none."""
        return await self._world.step()

    async def settle(self) -> None:
        """Wait until all that was done has led to all that it leads to; what is done through here does it by itself."""
        await self._world.settle()

    # Functions

    def nodes(self, *functions: AnyFunction) -> None:
        """Have functions called for the node types that have their names; sources are polled by theirs."""
        for function in functions:
            self._world.play(name_of(function), function)

    def probe(self, node_type: str, function: AnyFunction) -> None:
        """Have a function tell whether a call of a node type that was lost in a crash had its effect."""
        played = self._world.function(node_type)
        if played is None:
            raise NobodyPlays(f"There is nothing to probe: `{node_type}` has neither a function nor a fake.")
        self._world.play(node_type, played, probe=function)

    def undo(self, node_type: str, function: AnyFunction) -> None:
        """Have a function take back what a call of a node type may have done that was lost in a crash."""
        played = self._world.function(node_type)
        if played is None:
            raise NobodyPlays(f"There is nothing to undo: `{node_type}` has neither a function nor a fake.")
        self._world.play(node_type, played, undo=function)

    def fake(
        self,
        node_type: str | AnyFunction,
        *,
        returns: object = None,
        raises: BaseException | type[BaseException] | None = None,
        side_effect: AnyFunction | None = None,
        script: Sequence[object] = (),
        takes: Duration | None = None,
    ) -> Fake:
        """Stand in for a node type, given by its name or its function.

        It returns or raises something, calls something else, or does one thing after the other.
        `takes` lets each call last, in the time of the test. The last entry of a `script` is repeated.
        """
        behaviour = Playing(returns=returns, raises=raises, side_effect=side_effect, script=script, takes=takes)
        name = node_type if isinstance(node_type, str) else name_of(node_type)
        fake = Fake(name, behaviour, self._world.time)
        self._world.play(name, fake)
        return fake

    def source(self, name: str) -> PushedSource:
        """Stand in for a source that triggers poll: what is pushed into it is found by the next poll.

        The same name again is the same source.
        """
        return self._world.source(name)

    def secret(self, name: str, value: str | None) -> None:
        """Give a secret to the calls that use it, or take it away; every workflow of the test may have it.

        An engine keeps a value for 30 seconds: after a rotation, calls get the new one when the test has skipped them.
        """
        self._world.secrets.set(name, value)

    @property
    def sent(self) -> list[SentMessage]:
        """What was sent to people and systems, rendered, in its order; nothing leaves the machine.

        What came several times under one id, as after a crash, is one message whose `times` says how often.
        """
        return self._world.receivers.sent

    def refuse(self, destination: str, *, times: int | None = None) -> None:
        """Have a destination refuse what is sent to it next, so often; without `times`, from now on."""
        self._world.receivers.refuse(destination, times)

    async def hook(
        self,
        name: str,
        body: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as everywhere
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str | Sequence[str]] | None = None,
    ) -> HookReceipt:
        """Deliver to a webhook, signed as its scheme says, and go on until all that it leads to has happened.

        `name` is that of the trigger, or WORKFLOW/NAME. A body that is not bytes is sent as JSON. The same `id` again
        is the same delivery, where the scheme has ids beside the body. Headers that are given count before those of the
        signature; `query` has the parameters of the address. NotAllowed if the delivery is refused.
        """
        self._world.hooks += 1
        delivery = KitDelivery(name, body, id or f"delivery-{self._world.hooks}", headers or {}, query or {})
        receipt = await self._world.ask(PROGRAM, lambda service: deliver(service, self._world.secrets, delivery))
        await self._world.settle()
        return receipt

    # Workflows and executions

    async def register(self, workflow: Definition, *, allow_unknown: bool = True) -> WorkflowHandle:
        """Store a workflow, for others to start; the functions of its node types may be given later."""
        if isinstance(workflow, Workflow):
            for function in workflow.functions:
                if isinstance(function, SourceFunction) or self._world.function(name_of(function)) is None:
                    self._world.play(name_of(function), function)  # a fake stays
        if isinstance(workflow, str) and "\n" not in workflow and workflow.endswith(_FILES):
            workflow = Path(workflow)
        return await super().register(workflow, allow_unknown=allow_unknown)

    async def start(
        self,
        workflow: Definition | WorkflowHandle,
        input: object = None,  # noqa: A002 - as everywhere
        **options: Any,
    ) -> ExecutionHandle:
        """Start an execution and go on until it rests; the options are those of an engine.

        `workflow` is the name of a registered one, or a workflow itself, which is registered first.
        """
        if not (isinstance(workflow, WorkflowHandle) or _is_name(workflow)):
            workflow = await self.register(workflow)
        started = await super().start(cast("str | WorkflowHandle", workflow), input, **options)
        await self._world.follow(started)
        return started

    async def run(
        self,
        workflow: Definition | WorkflowHandle,
        input: object = None,  # noqa: A002 - as everywhere
        **options: Any,
    ) -> Any:
        """Start an execution, let as much time pass as it takes, and return its result."""
        return await super().run(cast("str | WorkflowHandle", workflow), input, **options)

    async def execution(self, id: str) -> ExecutionHandle:  # noqa: A002 - as everywhere
        """Return an execution, such as a child of one that the test has started."""
        found = await super().execution(id)
        await self._world.follow(found)
        return found

    @property
    def handles(self) -> list[ExecutionHandle]:
        """The executions that the test has in its hands, in the order in which it got them."""
        return self._world.handles

    # Crashes

    def crash_at(self, point: CommitPoint, nth: int = 1) -> None:
        """Have the engine die when a commit point is reached for the nth time from here on; another one goes on."""
        self._world.engines.plan.crash_at(point, nth)

    @property
    def crashes(self) -> int:
        """How often an engine has died."""
        return self._world.engines.plan.crashes

    @property
    def reached(self) -> Mapping[CommitPoint, int]:
        """How often each commit point has been reached."""
        return dict(self._world.engines.plan.reached)

    @property
    def only_crash(self) -> Crash | None:
        """The one crash that `survives_crashes` is to try."""
        return self._world.only_crash

    @only_crash.setter
    def only_crash(self, crash: Crash | None) -> None:
        self._world.only_crash = crash

    def another(self) -> Layover:
        """Return the same with nothing in it: another database, another time, no functions."""
        world = self._world
        world.worlds += 1
        if world.folder is None:
            return Layover()
        folder = world.folder / f"world-{world.worlds}"
        folder.mkdir()
        return Layover(folder)

    # Its end

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close(strict=error is None)

    async def close(self, *, strict: bool = True) -> None:
        """End; a crash that was asked for and never came fails the test, if it has not failed before."""
        await self._world.close()
        if strict and (never := self._world.engines.plan.never_reached):
            raise CrashNeverCame(" ".join(never))


def _is_name(workflow: object) -> bool:
    return isinstance(workflow, str) and bool(_NAME.fullmatch(workflow)) and not workflow.endswith(_FILES)
