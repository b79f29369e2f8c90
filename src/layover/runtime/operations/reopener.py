"""Reopens closed executions, for a retry or a rewind: a command in the queue of one would be too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.decide import decide
from layover.errors import WrongState
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Claim
from layover.runtime.execution.append_builder import First
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.operations.refusals import does_not_fit

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.model.executions import Execution
    from layover.ports.records import Head
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.instance import Instance
    from layover.runtime.operations.command_sender import CommandSender, CommandWaits, OperationOptions
    from layover.runtime.queries.queries import Queries


class Reopener:
    """Reopens closed executions."""

    def __init__(self, instance: Instance, queries: Queries, sender: CommandSender, waits: CommandWaits) -> None:
        self._instance = instance
        self._queries = queries
        self._sender = sender
        self._waits = waits

    async def reopen(
        self, head: Head, cached: CachedState, command: cmd.Retry | cmd.Rewind, options: OperationOptions
    ) -> Execution:
        """Take up a closed execution to reopen it: a command in its queue would be too late by definition."""
        seen = await self._instance.critical.run(self._take_up(head, cached, command, options))
        await self._waits.until(
            head.execution_id, options.within, lambda head: head.last_seq > seen or head.owner is None
        )
        return await self._queries.get(head.execution_id)

    async def _take_up(
        self, head: Head, cached: CachedState, command: cmd.Retry | cmd.Rewind, options: OperationOptions
    ) -> int:
        """Claim a closed execution and drive it with a command; return how far its log went before."""
        instance = self._instance
        now = await instance.driver.claiming_time()
        lease_until = now + instance.settings.lease_ttl
        claim = Claim(instance=instance.id, now=now, lease_until=lease_until, execution_id=head.execution_id)
        claims = await instance.store.claims.claim(claim)
        if not claims.claimed:
            raise WrongState("Another caller is reopening it.", head.status)
        (claimed,) = claims.claimed
        try:
            if claimed.head.last_seq != cached.last_seq:
                _, cached = await self._queries.load(head.execution_id)
            cached = await instance.driver.timed(claimed.head, cached)
            is_repeated = await self._sender.is_repeated(head.execution_id, options)  # it may have been meanwhile
            check_in_time(instance.driver, lease_until)
            refused = None if is_repeated or decide(cached.state, command, now) else does_not_fit(cached.state, command)
            goes_on = not is_repeated and refused is None
            message = instance.starter.ask_again(cached.state, claimed.head.priority) if goes_on else None
        except BaseException:
            await instance.driver.unclaim(claimed, head.wake_at)  # else nothing reopens it before the lease is over
            raise
        if goes_on:
            command = sent_here(instance.tracer, replace(command, instance=instance.id))
            instance.driver.go_on(
                claimed,
                cached,
                lease_until,
                command,
                first=First(messages=() if message is None else (message,), audit=options.audit),
            )
        else:
            instance.driver.go_on(claimed, cached, lease_until)
        if refused is not None:
            raise refused  # another caller has done it meanwhile
        return claimed.head.last_seq


def check_in_time(driver: Driver, lease_until: int) -> None:
    """Refuse to go on with what was claimed so long ago that its lease may be over."""
    if driver.is_over(lease_until):
        raise StoreUnavailable("It took longer than a lease to take it up.", code="too_slow")
