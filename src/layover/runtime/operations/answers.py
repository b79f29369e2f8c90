"""What people do at pause points: answer, delegate, and give up waiting.

Each is durable before it returns. An answer that the same person repeats under the same `key` counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

import msgspec

from layover.core.approval_rules import ApprovalRules, Approver, DecisionRefused, check_delegation
from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.moments import Moment
from layover.core.payloads import plain
from layover.errors import AnswerRefused
from layover.model.problems import ClaimHolder, PointDifference
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import Claim, Claims, QueuedCommand
from layover.runtime.execution.leg_tracing import sent_here
from layover.runtime.ids import is_point_id
from layover.runtime.operations.command_sender import Operation, options_of, source_of

if TYPE_CHECKING:
    from layover.core.engine.conversations import TalkCommand
    from layover.model.executions import Execution
    from layover.ports.records import AuditRow, PointRow, Reserved
    from layover.runtime.instance import Instance
    from layover.runtime.operations.command_sender import CommandSender
    from layover.runtime.operations.timeouts import WaitLimit
    from layover.runtime.queries.queries import Queries


class Answers:
    """Takes answers to pause points."""

    def __init__(self, instance: Instance, queries: Queries, sender: CommandSender) -> None:
        self._instance = instance
        self._queries = queries
        self._sender = sender

    async def answer(  # noqa: PLR0913 - each is named where it is given
        self,
        point: str,
        data: object = None,
        *,
        by: str = "",
        roles: tuple[str, ...] = (),
        approved: bool | None = None,
        comment: str = "",
        variables: dict[str, object] | None = None,
        seen: str | None = None,
        key: str | None = None,
        audit: AuditRow | None = None,
    ) -> Reserved:
        """Answer a pause point; the same `key` again is the same answer.

        The variables are set when the answer is applied, as the data of a resume are.
        """
        instance = self._instance
        now = instance.clock.now()
        _check_point(point)
        brought = cast("dict[str, object]", plain(variables or {}))
        answer = cmd.Answer(
            point=point,
            by=by,
            roles=roles,
            data=plain(data),
            approved=approved,
            comment=comment,
            at=now,
            variables=brought,
            seen=seen,
        )
        given = sent_here(instance.tracer, answer)
        plain((by, roles, comment, seen))  # what cannot be written is refused here, before it goes along with others
        source = source_of(f"answer:{point}:{approved}", by, key)
        taken = await instance.critical.run(self._reserve(given, source, now, audit))
        if isinstance(taken, Refused):
            instance.metrics.resume_errors += 1
            raise _refused(taken)
        return taken

    async def talk(
        self,
        act: TalkCommand,
        *,
        key: str | None = None,
        audit: AuditRow | None = None,
        within: WaitLimit | None = None,
        applied: bool = True,
    ) -> Reserved:
        """Claim a pause point, give the claim back, ask back, or reply; the same `key` again is the same act."""
        instance = self._instance
        _check_point(act.point)
        given = sent_here(instance.tracer, act)
        source = source_of(f"{type(act).__name__.lower()}:{act.point}", act.by, key)
        taken = await instance.critical.run(self._reserve(given, source, act.at, audit))
        if isinstance(taken, Refused):
            raise _refused(taken)
        if applied:
            await self._sender.until_applied(taken.execution_id, taken.n, within)
        return taken

    async def _reserve(self, given: cmd.PointAct, source: str, now: int, audit: AuditRow | None) -> Reserved | Refused:
        """Write an answer, and drive the execution that was claimed with it, or notify its driver."""
        instance = self._instance
        lease_until = now + instance.settings.lease_ttl
        claim = Claim(instance=instance.id, now=now, lease_until=lease_until) if instance.driver.room > 0 else None
        taken = await instance.store.answers.reserve(given, source, now, claim, audit)
        if isinstance(taken, Refused):
            return taken
        reached(CommitPoint.ANSWER_COMMITTED)
        if taken.claimed is not None:
            await instance.resumer.take(Claims(claimed=(taken.claimed,)), lease_until)
        elif not taken.repeated:
            kind, body = encode_command(given)
            command = QueuedCommand(n=taken.n, at=now, kind=kind, body=body)
            instance.driver.pass_on(taken.execution_id, command, taken.owner)
        return taken

    async def delegate(  # noqa: PLR0913 - each is named where it is given
        self,
        point: str,
        to: str,
        *,
        by: str,
        roles: tuple[str, ...] = (),
        key: str | None = None,
        audit: AuditRow | None = None,
        within: WaitLimit | None = None,
    ) -> Execution:
        """Let another user decide at an approval in one's place."""
        options = options_of(f"delegate:{point}", Operation(by=by, key=key, audit=audit, within=within))
        row = await self._point(point)
        if await self._sender.is_repeated(row.execution_id, options):
            return await self._queries.get(row.execution_id)
        _check_open(row)
        if row.point.kind != "approval":
            raise AnswerRefused("not_answerable", f"A `{row.point.kind}` has no decision to delegate.")
        found = check_delegation(row.point.rules or ApprovalRules(), Approver(by, roles), row.point.decisions, to)
        if isinstance(found, DecisionRefused):
            raise AnswerRefused(found.code, found.message)
        return await self._sender.send(row.execution_id, cmd.Delegate(point=point, by=by, roles=roles, to=to), options)

    async def take_back(self, point: str, reason: str = "", **operation: Unpack[Operation]) -> Execution:
        """Take back what a user has answered, if that is not final yet."""
        options = options_of(f"take_back:{point}", operation)
        row = await self._point(point)
        if await self._sender.is_repeated(row.execution_id, options):
            return await self._queries.get(row.execution_id)
        if row.closed_at is not None:
            raise AnswerRefused("already_applied", f"The pause point is {row.status}.")
        plain(reason)
        now = self._instance.clock.now()
        act = cmd.TakeBack(point=point, by=options.by or "", reason=reason, at=now)
        given = sent_here(self._instance.tracer, act)
        taken = await self._instance.critical.run(self._reserve(given, options.source, now, options.audit))
        if isinstance(taken, Refused):
            raise _refused(taken)
        await self._sender.until_applied(taken.execution_id, taken.n, options.within)
        return await self._queries.get(taken.execution_id)

    async def cancel_point(self, point: str, reason: str = "", **operation: Unpack[Operation]) -> Execution:
        """Give up waiting at a pause point; its node fails."""
        options = options_of(f"cancel_point:{point}", operation)
        row = await self._point(point)
        if await self._sender.is_repeated(row.execution_id, options):
            return await self._queries.get(row.execution_id)
        _check_open(row)
        return await self._sender.send(
            row.execution_id, cmd.CancelPoint(point=point, reason=reason, by=options.by), options
        )

    async def _point(self, point: str) -> PointRow:
        _check_point(point)
        row = await self._instance.store.queries.find_point(point)
        if row is None:
            raise _unknown_point(point)
        return row


def _refused(taken: Refused) -> AnswerRefused:
    claim = taken.claim
    holder = ClaimHolder(by=claim.by, until=Moment.of(claim.until)) if claim is not None else None
    return AnswerRefused(taken.code, taken.message, taken.errors, claim=holder, difference=_difference_of(taken))


def _difference_of(refused: Refused) -> PointDifference | None:
    """Return how a point differs from what was seen, as callers get it."""
    found = refused.difference
    if found is None:
        return None
    return PointDifference(seen=found.seen, now=found.now, view=msgspec.json.decode(found.view.document()))


def _check_point(point: str) -> None:
    """Refuse what cannot be the id of a pause point."""
    if not is_point_id(point):
        raise _unknown_point(point)


def _unknown_point(point: object) -> AnswerRefused:
    return AnswerRefused("unknown_point", f"There is no pause point {str(point)[:64]!r}.")


def _check_open(row: PointRow) -> None:
    """Refuse an act on a point that is no longer open."""
    if row.closed_at is not None:
        code = "point_expired" if row.status == "expired" else "point_closed"
        raise AnswerRefused(code, f"The pause point is {row.status}.")
