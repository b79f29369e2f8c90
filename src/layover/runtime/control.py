"""What people and operators do to executions: each is durable before it is answered, and taken at the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.engine.decide import decide
from layover.core.payloads import plain
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import CLOSED, Claim, Claims, Command, Enqueue
from layover.runtime.errors import AnswerRefused, UnknownExecution, WrongState
from layover.runtime.executions import Executions
from layover.runtime.ids import checked_id

if TYPE_CHECKING:
    from layover.core.engine.state import Execution as State
    from layover.ports.records import Head, Reserved
    from layover.runtime.cache import Kept
    from layover.runtime.views import Execution


class Control(Executions):
    """What an engine lets people do."""

    async def pause(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Hold an execution: nothing starts from now on, and what is running comes to its end."""
        return await self._send(execution_id, cmd.Pause(reason=reason, by=by))

    async def resume(
        self, execution_id: str, data: dict[str, object] | None = None, reason: str = "", *, by: str | None = None
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables."""
        given = cast("dict[str, object]", plain(data or {}))
        return await self._effective(execution_id, cmd.Resume(data=given, reason=reason, by=by))

    async def cancel(self, execution_id: str, reason: str = "", *, by: str | None = None) -> Execution:
        """End an execution."""
        return await self._send(execution_id, cmd.Cancel(reason=reason, by=by))

    async def retry(self, execution_id: str, *, by: str | None = None) -> Execution:
        """Go on with a failed execution, or with what waits for an operator, from what failed."""
        return await self._effective(execution_id, cmd.Retry(by=by))

    async def rewind(self, execution_id: str, to: str, reason: str = "", *, by: str | None = None) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        return await self._effective(execution_id, cmd.Rewind(to=to, reason=reason, by=by))

    async def answer(  # noqa: PLR0913 - each is named where it is given
        self,
        point: str,
        data: object = None,
        *,
        by: str = "",
        roles: tuple[str, ...] = (),
        approved: bool | None = None,
        comment: str = "",
        key: str | None = None,
    ) -> Reserved:
        """Answer a pause point; the same `key` again is the same answer."""
        instance = self.instance
        given = cmd.Answer(point=point, by=by, roles=roles, data=plain(data), approved=approved, comment=comment)
        source = f"answer:{point}:{key}" if key is not None else ""
        now = instance.clock.now()
        lease_until = now + instance.settings.lease_ttl
        wish = Claim(instance=instance.id, now=now, lease_until=lease_until) if instance.driver.room > 0 else None
        taken = await instance.store.answer(given, source, now, wish)
        if isinstance(taken, Refused):
            raise AnswerRefused(taken.code, taken.message, taken.errors)
        reached(CommitPoint.ANSWER_COMMITTED)
        if taken.claimed is not None:
            await instance.driver.take(Claims(claimed=(taken.claimed,)), lease_until)
        elif not taken.repeated:
            kind, body = encode_command(given)
            command = Command(n=taken.n, at=now, kind=kind, body=body)
            instance.driver.pass_on(taken.execution_id, command, taken.owner)
        return taken

    async def cancel_point(self, point: str, reason: str = "") -> Execution:
        """Give up waiting at a pause point; its node fails."""
        row = await self.instance.store.point(point)
        if row is None:
            raise AnswerRefused("unknown_point", f"There is no pause point {point}.")
        if row.closed_at is not None:
            raise AnswerRefused("point_closed", f"The pause point is {row.status}.")
        return await self._send(row.execution_id, cmd.CancelPoint(point=point, reason=reason))

    # How a command gets there

    async def _effective(self, execution_id: str, command: cmd.AnyCommand) -> Execution:
        """Send a command that would change something as things stand; refuse one that would not."""
        row, kept = await self._load(execution_id)
        if not decide(kept.state, command, self.instance.clock.now()):
            raise _does_not_fit(kept.state, command)
        if row.head.status in CLOSED:
            return await self._reopen(row.head, kept, command)
        return await self._send(execution_id, command)

    async def _send(self, execution_id: str, command: cmd.AnyCommand) -> Execution:
        """Put a command into the queue of an open execution, and wait until it has been taken from there."""
        instance, id_ = self.instance, checked_id(execution_id)
        kind, body = encode_command(command)
        (taken,) = await instance.driver.send([Enqueue(execution_id=id_, kind=kind, body=body)])
        if isinstance(taken, Refused):
            if taken.code == "unknown_execution":
                raise UnknownExecution(taken.message)
            row = await instance.store.get(id_)
            raise WrongState(taken.message, row.head.status if row is not None else "unknown")
        await instance.listeners.until(id_, lambda head: head.commands_done >= taken.n or head.status in CLOSED)
        return await self.get(id_)

    async def _reopen(self, head: Head, kept: Kept, command: cmd.AnyCommand) -> Execution:
        """Take up a closed execution to reopen it: a command in its queue would be too late by definition."""
        instance = self.instance
        now = instance.clock.now()
        lease_until = now + instance.settings.lease_ttl
        wish = Claim(instance=instance.id, now=now, lease_until=lease_until, execution_id=head.execution_id)
        claims = await instance.store.claim(wish)
        if not claims.claimed:
            raise WrongState("Somebody else is just reopening it.", head.status)
        (claimed,) = claims.claimed
        if claimed.head.last_seq != kept.last_seq:
            (loaded,) = await instance.store.load([head.execution_id])
            if loaded is None:
                raise UnknownExecution(f"There is no execution {head.execution_id}.")
            kept = await instance.driver.state_of(loaded)
        kept = await instance.driver.timed(claimed.head, kept)
        message = instance.beginning.ask_again(kept.state, claimed.head.priority)
        instance.driver.go_on(claimed, kept, lease_until, command, message=message)
        seen = claimed.head.last_seq
        await instance.listeners.until(head.execution_id, lambda head: head.last_seq > seen or head.owner is None)
        return await self.get(head.execution_id)


def _does_not_fit(state: State, command: cmd.AnyCommand) -> WrongState:
    """Return why a command would change nothing."""
    if isinstance(command, cmd.Resume) and any(one.kind == "approval" for one in state.points.rows.values()):
        return WrongState("It waits for a decision: approve or reject.", state.status, code="decision_required")
    what = type(command).__name__.lower()
    return WrongState(f"An execution that is {state.status} cannot be made to {what} here.", state.status)
