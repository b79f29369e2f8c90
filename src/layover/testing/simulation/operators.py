"""Operators: they hold, resume, cancel, retry and rewind executions, hold whole workflows, and deploy new versions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from layover.model.executions import Execution
    from layover.runtime.operations.workflow_status import WorkflowStatusChange
    from layover.runtime.runtime import Runtime
    from layover.testing.simulation.world import World

_AT_ONCE = 0.3  # of the workflows that are paused are resumed without a wait
_AMONG = 0.05  # of the looks at the end, at which what is held is let go of


class Operators:
    """Everybody who interferes with executions."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._acts = 0
        self._deployed = 0

    def begin(self) -> None:
        """Have them all at work."""
        mixture, scenario, outside = self._world.mixture, self._world.scenario, self._world.outside
        outside.begin(self._operate())
        if mixture.rewinds and scenario.rewinds:
            outside.begin(self._rewind())
        if mixture.deployments and scenario.deploy is not None:
            outside.begin(self._deploy(scenario.deploy))
        if mixture.workflow_pauses:
            outside.begin(self._hold_workflows())

    # Executions

    async def _operate(self) -> None:
        """Hold executions, and let them go; cancel and retry a few."""
        world = self._world
        often = 1 / world.mixture.operations
        while True:
            act = await world.loop.look_until(lambda: world.chance.expovariate(often), self._choose)
            await act

    def _choose(self) -> Awaitable[None] | None:
        """Choose an execution, and what is done to it, if anything is."""
        world = self._world
        if not world.database.heads:
            return None
        id_, draw = world.chance.choice(list(world.database.heads)), world.chance.random()
        oracle, status = world.oracle, world.database.heads[id_].status
        if status in ("paused", "pausing") and (id_ in oracle.held or draw < 0.4):
            return self.resume(id_)
        if world.loop.time() > world.heals_at:
            return None
        if status == "failed" and draw < 0.5:
            return self._do("retry", id_, lambda engine, key: engine.control.retry(id_, key=key))
        if status not in CLOSED and draw < 0.8:
            return self._do("pause", id_, lambda engine, key: engine.control.pause(id_, "look", key=key), oracle.paused)
        if status not in CLOSED and draw < 0.87 and world.scenario.cancels:
            return self._do("cancel", id_, lambda engine, key: engine.control.cancel(id_, "enough", key=key))
        return None

    async def _do(
        self,
        what: str,
        id_: str,
        make: Callable[[Runtime, str | None], Awaitable[Execution]],
        tell: Callable[[Execution], None] | None = None,
    ) -> None:
        """Do something to an execution; now and then twice under the same key."""
        world = self._world
        self._acts += 1
        world.noted(world.outside, f"{what} {id_}")
        again = world.requests.is_rash()
        key = f"act-{self._acts}" if again else None
        for _ in range(2 if again else 1):
            await world.requests.ask(
                lambda engine: make(engine, key),
                tell or (lambda view: world.oracle.told(what, view)),
                world.requests.patience(),
            )

    async def resume(self, id_: str) -> None:
        """Let an execution go on."""
        self._world.oracle.resumes(id_)
        await self._do("resume", id_, lambda engine, key: engine.control.resume(id_, key=key))

    async def _rewind(self) -> None:
        """Take executions back to a node that they have been at."""
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / world.mixture.rewinds))
            if world.loop.time() > world.heals_at:
                return
            if world.database.heads:
                await self._take_back(world.chance.choice(list(world.database.heads)))

    async def _take_back(self, id_: str) -> None:
        events = self._world.oracle.log(id_)
        nodes = [one.node for one in events if isinstance(one, ev.NodeCompleted | ev.NodeFailed)]
        if nodes:
            to = self._world.chance.choice(list(dict.fromkeys(nodes)))
            self._world.counts["rewinds"] += 1
            await self._do("rewind", id_, lambda engine, key: engine.control.rewind(id_, to, "once more", key=key))

    # Workflows

    async def _hold_workflows(self) -> None:
        """Hold all of a workflow for a while."""
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / world.mixture.workflow_pauses))
            names = sorted({one.workflow for one in world.database.versions})
            if world.loop.time() > world.heals_at or not names:
                return
            await self._hold_workflow(world.chance.choice(names), running=world.chance.random() < 0.5)

    async def _hold_workflow(self, name: str, *, running: bool) -> None:
        world = self._world
        world.counts["workflow_pauses"] += 1
        world.noted(world.outside, f"pause {name}")
        known = list(world.database.heads) if running else []
        world.oracle.resumed.pauses(name)
        await world.requests.ask(
            lambda engine: engine.workflow_status.pause(name, "look", running=running),
            lambda moved: world.oracle.workflow_paused(name, moved, known),
            world.requests.patience(),
        )
        if world.chance.random() >= _AT_ONCE:
            await asyncio.sleep(world.chance.expovariate(1 / 20))
        await self._resume_workflow(name, world.requests.patience())

    async def _resume_workflow(self, name: str, patience: float | None = None) -> None:
        self._world.noted(self._world.outside, f"resume {name}")
        self._world.oracle.workflow_resumes(name)
        known = list(self._world.database.heads)

        def told(moved: WorkflowStatusChange) -> None:
            if moved.status.state == "active" and not moved.more:
                self._world.oracle.resumed.told(name, known)

        await self._world.requests.ask(lambda engine: engine.workflow_status.resume(name), told, patience)

    async def _deploy(self, make: Callable[..., object]) -> None:
        """Register new versions while executions of older ones run."""
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / world.mixture.deployments))
            if world.loop.time() > world.heals_at:
                return
            self._deployed += 1
            world.counts["deployments"] += 1
            world.noted(world.outside, "deploy another version")
            await self._register(make(world.chance, self._deployed))

    async def _register(self, definition: Any) -> None:
        await self._world.requests.ask(
            lambda engine: engine.workflows.register(definition), None, self._world.requests.patience()
        )

    # The end

    async def let_go(self) -> None:
        """Let go of what is held, once in a while, now that all is healed."""
        world = self._world
        if world.chance.random() >= _AMONG:
            return
        for name, status in list(world.database.workflow_statuses.items()):
            if status.state == "paused":
                await self._resume_workflow(name)
        for id_, head in list(world.database.heads.items()):
            if head.status == "paused":
                await self.resume(id_)
