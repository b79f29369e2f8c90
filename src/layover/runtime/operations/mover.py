"""Moves executions at rest to another version of their workflow.

A move is no command in a queue: the version has to be at hand where it is decided. So an instance claims the execution,
decides the move as the first thing of a leg, and goes on from there. One that is being driven is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from layover.core.engine import commands as cmd
from layover.core.engine.decide import decide
from layover.core.engine.moving import outlook
from layover.errors import InvalidInput, WrongState
from layover.ports.records import CLOSED, Claim
from layover.runtime.execution.append_builder import First
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.operations.command_sender import options_of
from layover.runtime.operations.reopener import check_in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan, PlannedGraph
    from layover.model.executions import Execution
    from layover.ports.records import Claimed, Head
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.instance import Instance
    from layover.runtime.operations.command_sender import CommandSender, CommandWaits, Operation, OperationOptions
    from layover.runtime.queries.queries import Queries


class Mover:
    """Moves executions to other versions."""

    def __init__(self, instance: Instance, queries: Queries, sender: CommandSender, waits: CommandWaits) -> None:
        self._instance = instance
        self._queries = queries
        self._sender = sender
        self._waits = waits

    async def move(
        self, execution_id: str, version: int, names: Mapping[str, str], reason: str, **operation: Unpack[Operation]
    ) -> Execution:
        """Move an execution to a version by its number; WrongState says why that cannot be."""
        options = options_of("move", operation)
        row, cached = await self._queries.load(execution_id)
        plan = await self._instance.plans.numbered(row.head.workflow, version)
        check_names(plan, names)
        id_ = row.head.execution_id
        if await self._sender.is_repeated(id_, options):
            return await self._queries.get(id_)
        self._check(row.head, cached.state, plan, names)
        if row.head.owner is not None:
            await self._waits.until(id_, options.within, lambda head: head.owner is None)
        command = cmd.Move(
            hash=plan.hash, version=version, names=dict(names), reason=reason, by=options.by, key=options.source
        )
        seen = await self._instance.critical.run(self._take_up(id_, plan, command, options))
        await self._waits.until(id_, options.within, lambda head: head.last_seq > seen)
        return await self._queries.get(id_)

    def _check(self, head: Head, state: ExecutionState, plan: Plan, names: Mapping[str, str]) -> None:
        if head.status in CLOSED:
            raise WrongState(f"The execution is {head.status}: only open ones go on by another version.", head.status)
        found = outlook(state, plan, names)
        if found.code:
            raise WrongState(found.reason, head.status, code="cannot_move")

    async def _take_up(self, id_: str, plan: Plan, command: cmd.Move, options: OperationOptions) -> int:
        """Claim an execution and drive it with the move; return how far its log went before."""
        instance = self._instance
        now = await instance.driver.claiming_time()
        lease_until = now + instance.settings.lease_ttl
        claims = await instance.store.claims.claim(
            Claim(instance=instance.id, now=now, lease_until=lease_until, execution_id=id_)
        )
        if not claims.claimed:
            raise WrongState("It is running: move it when it rests.", "running", code="cannot_move")
        (claimed,) = claims.claimed
        try:
            _, cached = await self._queries.load(id_)
            cached = await instance.driver.timed(claimed.head, cached)
            check_in_time(instance.driver, lease_until)
            if await self._sender.is_repeated(id_, options):  # it may have been meanwhile
                instance.driver.go_on(claimed, cached, lease_until)
                return claimed.head.last_seq - 1
            self._check(claimed.head, cached.state, plan, command.names)
        except BaseException:
            await instance.driver.unclaim(claimed, claimed.head.wake_at)
            raise
        return self._begin(claimed, cached, lease_until, plan, command, options)

    def _begin(
        self,
        claimed: Claimed,
        cached: CachedState,
        lease_until: int,
        plan: Plan,
        command: cmd.Move,
        options: OperationOptions,
    ) -> int:
        instance = self._instance
        cached.state.know(plan)
        if not decide(cached.state, command, instance.clock.now()):
            raise AssertionError("what can be moved moves")
        first = First(audit=options.audit)
        instance.driver.go_on(claimed, cached, lease_until, sent_here(instance.tracer, command), first=first)
        return claimed.head.last_seq


def check_names(plan: Plan, names: Mapping[str, str]) -> None:
    """Refuse names that cannot be meant: nodes that a version does not have, or two nodes that would become one."""
    ids = set(_ids_in(plan.graph))
    for old, new in names.items():
        if new not in ids:
            fault = f"the version has no node `{new:.100}`"
            raise InvalidInput(f"`map`: {fault}.", ((f"map.{old:.100}", fault),), code="invalid_body")
    if len(set(names.values())) < len(names):
        fault = "two nodes cannot become the same one"
        raise InvalidInput(f"`map`: {fault}.", (("map", fault),), code="invalid_body")


def _ids_in(graph: PlannedGraph) -> Iterator[str]:
    for planned in graph.nodes:
        yield planned.id
        for body in planned.bodies.values():
            yield from _ids_in(body)
