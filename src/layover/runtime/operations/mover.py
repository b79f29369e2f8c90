"""Moves executions at rest to another version of their workflow.

A move is no command in a queue: the version has to be at hand where it is decided. So an instance claims the execution,
decides the move as the first thing of a leg, and goes on from there. One that is being driven is waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from layover.core.engine import commands as cmd
from layover.core.engine.moving import outlook
from layover.errors import InvalidInput, NotFound, WrongState
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
    from layover.ports.records import Head
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
        if (refused := self._refusal(row.head, cached.state, plan, names)) is not None:
            raise refused
        if row.head.owner is not None:
            await self._waits.until(id_, options.within, lambda head: head.owner is None)
        command = cmd.Move(
            hash=plan.hash, version=version, names=dict(names), reason=reason, by=options.by, key=options.source
        )
        seen = await self._instance.critical.run(self._take_up(id_, plan, command, options))
        await self._waits.until(id_, options.within, lambda head: head.last_seq > seen)
        return await self._queries.get(id_)

    def _refusal(self, head: Head, state: ExecutionState, plan: Plan, names: Mapping[str, str]) -> WrongState | None:
        """Return why an execution cannot be moved; None if it can."""
        if head.status in CLOSED:
            text = f"The execution is {head.status}: only open ones go on by another version."
            return WrongState(text, head.status)
        found = outlook(state, plan, names)
        return WrongState(found.reason, head.status, code="cannot_move") if found.code else None

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
            is_repeated = await self._sender.is_repeated(id_, options)  # it may have been meanwhile
        except BaseException:
            await instance.driver.unclaim(claimed, now)  # an instance that takes it up finds out when it is due
            raise
        refused = None if is_repeated else self._refusal(claimed.head, cached.state, plan, command.names)
        if is_repeated or refused is not None:
            instance.driver.go_on(claimed, cached, lease_until)
        else:
            cached.state.know(plan)
            first = First(audit=options.audit)
            instance.driver.go_on(claimed, cached, lease_until, sent_here(instance.tracer, command), first=first)
        if refused is not None:
            raise refused
        return claimed.head.last_seq if not is_repeated else -1


def check_names(plan: Plan, names: Mapping[str, str]) -> None:
    """Refuse names that cannot be meant: nodes that a version does not have, or two nodes that would become one."""
    ids = ids_in(plan.graph)
    for new in names.values():
        if new not in ids:
            text = f"The version has no node `{new:.100}` that another could be mapped to."
            raise NotFound(text, code="unknown_node")
    if len(set(names.values())) < len(names):
        fault = "two nodes cannot become the same one"
        raise InvalidInput(f"`map`: {fault}.", (("map", fault),), code="invalid_parameter")


def ids_in(graph: PlannedGraph) -> set[str]:
    """Return the ids of all nodes of a graph, those in containers included."""
    return set(_ids_in(graph))


def _ids_in(graph: PlannedGraph) -> Iterator[str]:
    for planned in graph.nodes:
        yield planned.id
        for body in planned.bodies.values():
            yield from _ids_in(body)
