"""What operators do to executions: pause, resume, cancel, retry, rewind, move.

An execution that has not applied it within ten seconds, since no instance drives it, is returned as it is, and applies
it later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.errors import AnswerRefused, InvalidInput, WrongState
from layover.interface.requests import PointAnswer
from layover.ports.records import CLOSED
from layover.runtime.ids import checked_id
from layover.runtime.operations.command_sender import Operation
from layover.service.actor import READ
from layover.service.answers import answer
from layover.service.resume_times import end_of, end_texts
from layover.service.visible import without_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.interface.requests import ResumeTime
    from layover.model.executions import Execution
    from layover.model.repeat_plans import RepeatPlan
    from layover.ports.records import PointRow
    from layover.service.actor import Actor

_NEEDS: Final = "execution:cancel"
_DECIDES: Final = ("approval.approve", "approval.reject")
_TOO_LATE: Final = frozenset({"pause_expired", "deadline_passed"})


class ControlService:
    """What operators do to executions."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def pause(
        self, execution_id: str, reason: str, idempotency_key: str | None, until: ResumeTime | None = None
    ) -> Execution:
        """Hold an execution: nothing starts from now on. One that is held stays so, with its first reason.

        With `until` it goes on by itself then.
        """
        by = await self._checked("execution.pause", execution_id, idempotency_key, reason=reason, **end_texts(until))
        end = end_of(until, self._actor.runtime.instance.clock.now())
        return await self._visible(await self._actor.runtime.control.pause(execution_id, reason, end, **by))

    async def schedule_resume(
        self, execution_id: str, when: ResumeTime | None, reason: str, idempotency_key: str | None
    ) -> Execution:
        """Set when an execution that an operator holds goes on by itself; None: it no longer does."""
        act, details = "execution.schedule_resume", end_texts(when)
        by = await self._checked(act, execution_id, idempotency_key, reason=reason, **details)
        end = end_of(when, self._actor.runtime.instance.clock.now())
        return await self._visible(await self._actor.runtime.control.schedule_resume(execution_id, end, **by))

    async def resume(
        self,
        execution_id: str,
        data: Mapping[str, object] | None,
        approved: bool | None,  # noqa: FBT001 - as the interface
        reason: str,
        idempotency_key: str | None,
    ) -> Execution:
        """Let an execution go on that an operator holds; with `approved`, decide the only open approval.

        `data` becomes part of the variables: at once, or when the decision is applied. Only those who are asked at the
        approval may decide it.
        """
        self._actor.require(_NEEDS)
        given = dict(data or {})
        id_ = checked_id(execution_id)
        await self._actor.check_key("execution.resume", id_, idempotency_key, given, approved, reason)
        if approved is not None:
            held = await self._is_held(execution_id)
            decided = await self._decided(execution_id, given, approved, reason, idempotency_key, held=held)
            return await self._visible(decided)
        try:
            return await self._visible(await self._resumed(execution_id, given, reason, idempotency_key))
        except WrongState:
            await self._check_in_time(execution_id)
            if given.get("approved") is None:
                raise
        decision = given["approved"]
        if not isinstance(decision, bool):
            fault = (("resume_data.approved", "Expected `bool`"),)
            raise InvalidInput("`approved` is true or false.", fault, code="invalid_body")
        return await self._visible(
            await self._decided(execution_id, given, decision, reason, idempotency_key, held=False)
        )

    async def cancel(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """End an execution, at once."""
        by = await self._checked("execution.cancel", execution_id, idempotency_key, reason=reason)
        return await self._visible(await self._actor.runtime.control.cancel(execution_id, reason, **by))

    async def retry(self, execution_id: str, reason: str, idempotency_key: str | None) -> Execution:
        """Go on with a failed execution from what failed, or with what waits for an operator."""
        by = await self._checked("execution.retry", execution_id, idempotency_key, reason=reason)
        return await self._visible(await self._actor.runtime.control.retry(execution_id, **by))

    async def rewind(self, execution_id: str, to: str, reason: str, idempotency_key: str | None) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        by = await self._checked("execution.rewind", execution_id, idempotency_key, to=to, reason=reason)
        return await self._visible(await self._actor.runtime.control.rewind(execution_id, to, reason, **by))

    async def run_now(self, execution_id: str, node: str | None, reason: str, idempotency_key: str | None) -> Execution:
        """Let a node go on that waits for time; without one, all of them, or the start."""
        by = await self._checked("execution.run_now", execution_id, idempotency_key, node=node or "", reason=reason)
        return await self._visible(await self._actor.runtime.control.run_now(execution_id, node or "", reason, **by))

    async def set_breakpoint(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Pause an execution before a node, once."""
        by = await self._checked("execution.set_breakpoint", execution_id, idempotency_key, node=node, reason=reason)
        return await self._visible(await self._actor.runtime.control.set_breakpoint(execution_id, node, reason, **by))

    async def clear_breakpoint(self, execution_id: str, node: str | None) -> Execution:
        """Do not pause an execution before a node, or before any."""
        by = await self._checked("execution.clear_breakpoint", execution_id, None, node=node or "")
        return await self._visible(await self._actor.runtime.control.clear_breakpoint(execution_id, node or "", **by))

    async def cancel_retry(self, execution_id: str, node: str, reason: str, idempotency_key: str | None) -> Execution:
        """Make no further attempt of a node that is to be tried again."""
        by = await self._checked("execution.cancel_retry", execution_id, idempotency_key, node=node, reason=reason)
        return await self._visible(await self._actor.runtime.control.cancel_retry(execution_id, node, reason, **by))

    async def move(
        self, execution_id: str, version: int, map_: Mapping[str, str], reason: str, idempotency_key: str | None
    ) -> Execution:
        """Go on by another version of the workflow; `map_` has the new ids of nodes by their old ones."""
        details = {"version": str(version), "map": ",".join(f"{old}={new}" for old, new in sorted(map_.items()))}
        by = await self._checked("execution.move", execution_id, idempotency_key, **details, reason=reason)
        return await self._visible(await self._actor.runtime.mover.move(execution_id, version, map_, reason, **by))

    async def plan_retry(self, execution_id: str) -> RepeatPlan:
        """Return what a retry would repeat; nothing is changed."""
        self._actor.require(_NEEDS)
        self._actor.require(*READ)
        return await self._actor.runtime.control.plan(execution_id, cmd.Retry())

    async def plan_rewind(self, execution_id: str, to: str) -> RepeatPlan:
        """Return what a rewind to a node would repeat and drop; nothing is changed."""
        self._actor.require(_NEEDS)
        self._actor.require(*READ)
        return await self._actor.runtime.control.plan(execution_id, cmd.Rewind(to=to))

    async def _visible(self, found: Execution) -> Execution:
        """Return an execution as the user may see it: its data only if they started it, or may read executions."""
        actor = self._actor
        if found.user == actor.by or actor.caller.may(READ):
            return await self._explained(found)
        return without_data(found)

    async def _explained(self, found: Execution) -> Execution:
        """Add the traceback to the error of a failed execution, if the user may read it."""
        if found.error is None or not self._actor.may_debug:
            return found
        return replace(found, error=await self._actor.runtime.queries.with_traceback(found.id, found.error))

    async def _checked(self, act: str, execution_id: str, key: str | None, **details: str) -> Operation:
        """Return what goes with an act, if its idempotency key was not used with other details."""
        by = self._by(act, execution_id, key, **details)
        await self._actor.check_key(act, checked_id(execution_id), key, details)
        return by

    def _by(self, act: str, execution_id: str, key: str | None, **details: str) -> Operation:
        """Check that the user may operate; return who they are, and what is written of the act."""
        actor = self._actor
        actor.require(_NEEDS)
        id_ = checked_id(execution_id)
        known = actor.key(act, id_, key)
        said: dict[str, Any] = {name: value or None for name, value in details.items()}
        audit = actor.entry(act, execution_id=id_, key=known, **said)
        return Operation(by=actor.by, key=known, audit=audit, within=actor.within)

    async def _resumed(self, execution_id: str, data: dict[str, object], reason: str, key: str | None) -> Execution:
        by = self._by("execution.resume", execution_id, key, reason=reason)
        return await self._actor.runtime.control.resume(execution_id, data, reason, **by)

    async def _decided(
        self,
        execution_id: str,
        data: dict[str, object],
        approved: bool,  # noqa: FBT001 - it is the decision
        reason: str,
        key: str | None,
        *,
        held: bool,
    ) -> Execution:
        """Decide the only open approval. If an operator holds the execution besides, it goes on with the data then."""
        actor = self._actor
        found = await actor.runtime.queries.get(execution_id)
        for act in _DECIDES:
            if await actor.has_done(act, found.id, actor.key(act, found.id, key)):
                return found  # what is open by now is not what was decided
        row = await self._sole_approval(found)
        rest = {} if held else {name: value for name, value in data.items() if name != "approved"}
        if rest:
            await actor.runtime.control.check_resume_data(found.id, rest)
        request = PointAnswer(data=rest or None, approved=approved, comment=reason, idempotency_key=key)
        taken = await answer(actor, row, request, variables={} if held else data, target=found.id)
        if held:
            return await self._resumed(execution_id, data, reason, key)
        if taken.reserved is not None:
            n = taken.reserved.n
            listeners = actor.runtime.instance.listeners
            applied = listeners.until(found.id, lambda head: head.commands_done >= n or head.status in CLOSED)
            await actor.within.wait_for(applied)
        return await actor.runtime.queries.get(execution_id)

    async def _sole_approval(self, found: Execution) -> PointRow:
        rows = [row for row in await self._actor.runtime.points.list(found.id) if row.point.kind == "approval"]
        if not rows:
            await self._check_in_time(found.id)
            raise WrongState(f"The execution is {found.status}, and no approval is open.", found.status)
        if len(rows) > 1:
            raise AnswerRefused("ambiguous_point", f"{len(rows)} approvals are open: decide each under its own id.")
        return rows[0]

    async def _check_in_time(self, execution_id: str) -> None:
        """Refuse to go on with what has failed because it was paused for too long."""
        found = await self._actor.runtime.queries.get(execution_id)
        if found.status == "failed" and found.error is not None and found.error.code in _TOO_LATE:
            raise AnswerRefused("expired", "The time to go on has passed.")

    async def _is_held(self, execution_id: str) -> bool:
        """Return whether an operator holds the execution."""
        return any(
            reason.kind == "operator" for reason in (await self._actor.runtime.queries.why(execution_id)).reasons
        )
