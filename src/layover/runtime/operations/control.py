"""Operations of people and operators on executions: each is durable before it returns, and applied at the next step.

An operation that the same person repeats under the same `key` counts once; the repeat returns the current state. The
`audit` entry is written with the operation, and not again with a repeat. A caller that waits only `within` some time
may get a state to which the operation is not applied yet; it is applied all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, Person, Refusal, check_delegation
from layover.core.context_ids import MalformedContextId, parse_context_id
from layover.core.engine import commands as cmd
from layover.core.engine.answers import Refused
from layover.core.engine.codec import decode_events
from layover.core.engine.command_codec import encode_command
from layover.core.engine.decide import decide
from layover.core.engine.events import ExecutionReopened, ExecutionResumed
from layover.core.ids import uuid8
from layover.core.payloads import plain
from layover.core.plan import planned_at
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreUnavailable
from layover.ports.records import CLOSED, Claim, Claims, Command, Enqueue
from layover.runtime.errors import AnswerRefused, UnknownExecution, UnknownNode, WrongState
from layover.runtime.ids import checked_id, is_point_id
from layover.runtime.operations.executions import Executions
from layover.runtime.operations.timeouts import WaitTimeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import Execution as State
    from layover.ports.records import AuditEntry, Head, PointRow, Reserved
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.queries.views import Execution

_A_PAGE = 1_000
_REOPENING = ("key:retry:", "key:rewind:")


class Act(NamedTuple):
    """The options of an operation: its idempotency key, its audit entry, and how long to wait for it."""

    source: str = ""
    audit: AuditEntry | None = None
    within: WaitTimeout | None = None


class Control(Executions):
    """The operations of an engine on executions and pause points."""

    async def pause(
        self,
        execution_id: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Hold an execution: nothing starts from now on, and what is running comes to its end.

        One that an operator holds already stays as it is, with the first reason.
        """
        row, cached = await self._load(execution_id)
        if cached.state.facts.gate != "open" and row.head.commands_done >= row.head.commands_seq:
            return await self.get(execution_id)
        act = _act("pause", by, key, audit, within)
        again = await self._is_repeated(row.head.execution_id, act)
        view = await self._send(execution_id, cmd.Pause(reason=reason, by=by), act)
        return view if again else _unless_closed(view)

    async def resume(  # noqa: PLR0913 - each is named where it is given
        self,
        execution_id: str,
        data: dict[str, object] | None = None,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables."""
        given = cast("dict[str, object]", plain(data or {}))
        command = cmd.Resume(data=given, reason=reason, by=by)
        return await self._effective(execution_id, command, _act("resume", by, key, audit, within))

    async def cancel(
        self,
        execution_id: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """End an execution."""
        act = _act("cancel", by, key, audit, within)
        again = await self._is_repeated(checked_id(execution_id), act)
        view = await self._send(execution_id, cmd.Cancel(reason=reason, by=by), act)
        return view if again or view.status == "cancelled" else _unless_closed(view)

    async def retry(
        self,
        execution_id: str,
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Go on with a failed execution, or with what waits for an operator, from what failed."""
        act = _act("retry", by, key, audit, within)
        return await self._effective(execution_id, cmd.Retry(by=by, key=act.source), act)

    async def rewind(  # noqa: PLR0913 - each is named where it is given
        self,
        execution_id: str,
        to: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        act = _act("rewind", by, key, audit, within)
        command = cmd.Rewind(to=to, reason=reason, by=by, key=act.source)
        return await self._effective(execution_id, command, act)

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
        key: str | None = None,
        audit: AuditEntry | None = None,
    ) -> Reserved:
        """Answer a pause point; the same `key` again is the same answer.

        The variables are set when the answer is applied, as the data of a resume are.
        """
        instance = self.instance
        now = instance.clock.now()
        _check_point(point)
        brought = cast("dict[str, object]", plain(variables or {}))
        given = cmd.Answer(
            point=point,
            by=by,
            roles=roles,
            data=plain(data),
            approved=approved,
            comment=comment,
            at=now,
            variables=brought,
        )
        plain((by, roles, comment))  # what cannot be written is refused here, before it goes along with others
        source = _act(f"answer:{point}:{approved}", by, key).source
        taken = await instance.critical.run(self._answer(given, source, now, audit))
        if isinstance(taken, Refused):
            instance.metrics.resume_errors += 1
            raise AnswerRefused(taken.code, taken.message, taken.errors)
        return taken

    async def _answer(self, given: cmd.Answer, source: str, now: int, audit: AuditEntry | None) -> Reserved | Refused:
        """Have an answer written, and the execution driven that was claimed with it; or whoever drives it told."""
        instance = self.instance
        lease_until = now + instance.settings.lease_ttl
        wish = Claim(instance=instance.id, now=now, lease_until=lease_until) if instance.driver.room > 0 else None
        taken = await instance.store.answer(given, source, now, wish, audit)
        if isinstance(taken, Refused):
            return taken
        reached(CommitPoint.ANSWER_COMMITTED)
        if taken.claimed is not None:
            await instance.driver.take(Claims(claimed=(taken.claimed,)), lease_until)
        elif not taken.repeated:
            kind, body = encode_command(given)
            command = Command(n=taken.n, at=now, kind=kind, body=body)
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
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Let somebody else decide at an approval in one's place."""
        act = _act(f"delegate:{point}", by, key, audit, within)
        row = await self._point(point)
        if await self._is_repeated(row.execution_id, act):
            return await self.get(row.execution_id)
        _check_open(row)
        if row.point.kind != "approval":
            raise AnswerRefused("not_answerable", f"A `{row.point.kind}` has no decision to delegate.")
        found = check_delegation(row.point.rules or ApprovalRules(), Person(by, roles), row.point.decisions, to)
        if isinstance(found, Refusal):
            raise AnswerRefused(found.code, found.message)
        return await self._send(row.execution_id, cmd.Delegate(point=point, by=by, roles=roles, to=to), act)

    async def cancel_point(
        self,
        point: str,
        reason: str = "",
        *,
        by: str | None = None,
        key: str | None = None,
        audit: AuditEntry | None = None,
        within: WaitTimeout | None = None,
    ) -> Execution:
        """Give up waiting at a pause point; its node fails."""
        act = _act(f"cancel_point:{point}", by, key, audit, within)
        row = await self._point(point)
        if await self._is_repeated(row.execution_id, act):
            return await self.get(row.execution_id)
        _check_open(row)
        return await self._send(row.execution_id, cmd.CancelPoint(point=point, reason=reason, by=by), act)

    async def _point(self, point: str) -> PointRow:
        _check_point(point)
        row = await self.instance.store.point(point)
        if row is None:
            raise _unknown_point(point)
        return row

    # How a command gets there

    async def _effective(self, execution_id: str, command: cmd.AnyCommand, act: Act) -> Execution:
        """Send a command that would change something as things stand; refuse one that would not."""
        row, cached = await self._load(execution_id)
        if await self._is_repeated(row.head.execution_id, act):
            return await self.get(execution_id)
        if not decide(cached.state, command, self.instance.clock.now()):
            self.instance.metrics.resume_errors += 1
            raise _does_not_fit(cached.state, command)
        if row.head.status in CLOSED and isinstance(command, cmd.Retry | cmd.Rewind):
            return await self._reopen(row.head, cached, command, act)
        try:
            view = await self._send(execution_id, command, act)
        except WrongState:
            if isinstance(command, cmd.Retry | cmd.Rewind):  # what was closed meanwhile may be reopened
                return await self._effective(execution_id, command, act)
            raise
        if isinstance(command, cmd.Resume) and cached.state.facts.gate != "open":
            await self._check_heard(row.head, command, view)
        return view

    async def _check_heard(self, before: Head, command: cmd.Resume, view: Execution) -> None:
        """Refuse a resume that came to nothing since somebody else was faster: what it brought is nowhere."""
        resumed: list[ExecutionResumed] = []
        since = before.last_seq + 1
        while entries := await self.instance.store.history(view.id, since, _A_PAGE):
            events = [event for entry in entries for event in decode_events(entry.events)]
            resumed += [event for event in events if isinstance(event, ExecutionResumed)]
            since = entries[-1].seq + entries[-1].count
        said = (command.by, command.reason, command.data)
        if any((event.by, event.reason, event.data) == said for event in resumed):
            return
        if resumed or view.closed:  # else it is not taken yet
            self.instance.metrics.resume_errors += 1
            raise WrongState("Another caller resumed it first: it is no longer paused.", view.status)

    async def _send(self, execution_id: str, command: cmd.AnyCommand, act: Act) -> Execution:
        """Put a command into the queue of an open execution, and wait until it has been taken from there."""
        instance, id_ = self.instance, checked_id(execution_id)
        kind, body = encode_command(command)
        (taken,) = await instance.driver.send(
            [Enqueue(execution_id=id_, kind=kind, body=body, source=act.source, audit=act.audit)]
        )
        if isinstance(taken, Refused):
            if taken.code == "unknown_execution":
                raise UnknownExecution(taken.message)
            row = await instance.store.get(id_)
            raise WrongState(taken.message, row.head.status if row is not None else "unknown")
        await self._until_taken(id_, taken.n, act)
        return await self.get(id_)

    async def _until_taken(self, execution_id: str, n: int, act: Act) -> None:
        """Wait until an execution has applied its n-th command, or is closed."""
        await self._until(execution_id, act, lambda head: head.commands_done >= n or head.status in CLOSED)

    async def _until(self, execution_id: str, act: Act, wanted: Callable[[Head], bool]) -> None:
        """Wait until an execution is as wanted, or for as long as whoever acts upon it does."""
        limit = act.within if act.within is not None else WaitTimeout(self.instance.settings.act_wait / 1000)
        await limit.keep(self.instance.listeners.until(execution_id, wanted))

    async def _reopen(self, head: Head, cached: CachedState, command: cmd.Retry | cmd.Rewind, act: Act) -> Execution:
        """Take up a closed execution to reopen it: a command in its queue would be too late by definition."""
        seen = await self.instance.critical.run(self._take_up(head, cached, command, act))
        await self._until(head.execution_id, act, lambda head: head.last_seq > seen or head.owner is None)
        return await self.get(head.execution_id)

    async def _take_up(self, head: Head, cached: CachedState, command: cmd.Retry | cmd.Rewind, act: Act) -> int:
        """Claim a closed execution and drive it with a command; return how far its log went before."""
        instance = self.instance
        now = await instance.driver.claiming_time()
        lease_until = now + instance.settings.lease_ttl
        wish = Claim(instance=instance.id, now=now, lease_until=lease_until, execution_id=head.execution_id)
        claims = await instance.store.claim(wish)
        if not claims.claimed:
            raise WrongState("Another caller is reopening it.", head.status)
        (claimed,) = claims.claimed
        try:
            if claimed.head.last_seq != cached.last_seq:
                cached = await self._loaded(head.execution_id)
            cached = await instance.driver.timed(claimed.head, cached)
            is_repeated = await self._is_repeated(head.execution_id, act)  # it may have been meanwhile
            _check_in_time(instance.driver, lease_until)
            refused = (
                None if is_repeated or decide(cached.state, command, now) else _does_not_fit(cached.state, command)
            )
            goes_on = not is_repeated and refused is None
            message = instance.starter.ask_again(cached.state, claimed.head.priority) if goes_on else None
        except BaseException:
            await instance.driver.unclaim(claimed, head.wake_at)  # else nobody could reopen it before the lease is over
            raise
        if goes_on:
            command = replace(command, instance=instance.id)
            instance.driver.go_on(claimed, cached, lease_until, command, message=message, audit=act.audit)
        else:
            instance.driver.go_on(claimed, cached, lease_until)
        if refused is not None:
            raise refused  # somebody else has done it meanwhile
        return claimed.head.last_seq

    async def _loaded(self, execution_id: str) -> CachedState:
        """Return an execution as the store has it."""
        (loaded,) = await self.instance.store.load([execution_id])
        if loaded is None:
            raise UnknownExecution(f"There is no execution {execution_id}.")
        return await self.instance.driver.state_of(loaded)

    async def _is_repeated(self, execution_id: str, act: Act) -> bool:
        """Return whether something was asked before, of the queue of an execution or when it was reopened."""
        source = act.source
        if not source:
            return False
        store = self.instance.store
        if await store.is_taken(execution_id, source):
            return True
        since, written = 0, source.encode()
        while source.startswith(_REOPENING) and (entries := await store.history(execution_id, since, _A_PAGE)):
            events = [one for entry in entries if written in entry.events for one in decode_events(entry.events)]
            if any(isinstance(event, ExecutionReopened) and event.key == source for event in events):
                return True
            since = entries[-1].seq + entries[-1].count
        return False


def _act(
    what: str,
    by: str | None,
    key: str | None,
    audit: AuditEntry | None = None,
    within: WaitTimeout | None = None,
) -> Act:
    """Return what goes with a command of somebody; without a key it is another one each time."""
    if key is None:
        return Act(audit=audit, within=within)
    known_by = uuid8("\0".join((what, by or "", key)))
    return Act(f"key:{what.partition(':')[0]}:{known_by}", audit, within)


def _check_in_time(driver: Driver, lease_until: int) -> None:
    """Refuse to go on with what was claimed so long ago that its lease may be over."""
    if driver.is_over(lease_until):
        raise StoreUnavailable("It took longer than a lease to take it up.", code="too_slow")


def _unless_closed(view: Execution) -> Execution:
    """Return an execution that something was asked of, unless what was ahead of it in line led to the end."""
    if view.closed:
        raise WrongState(f"The execution is {view.status}.", view.status)
    return view


def _check_point(point: str) -> None:
    """Refuse what cannot be the id of a pause point."""
    if not is_point_id(point):
        raise _unknown_point(point)


def _unknown_point(point: object) -> AnswerRefused:
    return AnswerRefused("unknown_point", f"There is no pause point {str(point)[:64]!r}.")


def _check_open(row: PointRow) -> None:
    """Refuse what is to happen to a point at which nobody waits any more."""
    if row.closed_at is not None:
        code = "point_expired" if row.status == "expired" else "point_closed"
        raise AnswerRefused(code, f"The pause point is {row.status}.")


def _does_not_fit(state: State, command: cmd.AnyCommand) -> WrongState | UnknownNode:
    """Return why a command would change nothing."""
    if isinstance(command, cmd.Rewind):
        return _cannot_go_back(state, command.to)
    undecided = any(one.kind == "approval" and one.status == "open" for one in state.points.rows.values())
    if isinstance(command, cmd.Resume) and undecided:
        return WrongState("It waits for a decision: approve or reject.", state.status, code="decision_required")
    what = type(command).__name__.lower()
    return WrongState(f"An execution that is {state.status} cannot be made to {what} here.", state.status)


def _cannot_go_back(state: State, to: str) -> WrongState | UnknownNode:
    """Return why one cannot go back to a node: there is none, it was not reached, or what it was in is done."""
    try:
        place = parse_context_id(to)
    except MalformedContextId:
        place = None
    if place is None or place.key is not None or planned_at(state.plan, place) is None:
        return UnknownNode(f"The workflow `{state.facts.workflow}` has no node `{to[:200]}`.")
    path = to.partition(":")[2]
    if path in state.scopes or path in state.halted:
        return WrongState(f"`{to[:200]}` has not been reached, so there is nothing to go back to.", state.status)
    return WrongState(f"`{to[:200]}` is in a round or branch that is done or has not begun.", state.status)
