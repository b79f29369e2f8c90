"""What operators do to executions: each operation is durable before it returns, and applied at the next step.

An operation that the same user repeats under the same `key` counts once; the repeat returns the current state. The
`audit` entry is written with the operation, and not again with a repeat. A caller that waits only `within` some time
may get a state to which the operation is not applied yet; it is applied all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from layover.core.engine import commands as cmd
from layover.core.engine.codec import decode_events
from layover.core.engine.decide import decide
from layover.core.engine.events import ExecutionResumed
from layover.core.engine.gate import longest_pause_ends
from layover.core.engine.rewind import can_go_back
from layover.core.moments import moment
from layover.core.payloads import plain
from layover.core.resume_waits import NO_END
from layover.errors import InvalidInput, WrongState
from layover.ports.records import CLOSED
from layover.runtime.ids import checked_id
from layover.runtime.operations.command_sender import PAGE, options_of
from layover.runtime.operations.refusals import check_breakpoint, check_resume_data, does_not_fit, unless_closed
from layover.runtime.operations.repeat_plans import plan_of
from layover.runtime.queries.past import past_of

if TYPE_CHECKING:
    from layover.core.engine.past import Past
    from layover.core.engine.state import ExecutionState
    from layover.core.resume_waits import PauseEnd
    from layover.model.executions import Execution
    from layover.model.repeat_plans import RepeatPlan
    from layover.ports.records import Head
    from layover.runtime.instance import Instance
    from layover.runtime.operations.command_sender import CommandSender, Operation, OperationOptions
    from layover.runtime.operations.reopener import Reopener
    from layover.runtime.queries.queries import Queries


class Control:
    """Pauses, resumes, cancels, retries and rewinds executions."""

    def __init__(self, instance: Instance, queries: Queries, sender: CommandSender, reopener: Reopener) -> None:
        self._instance = instance
        self._queries = queries
        self._sender = sender
        self._reopener = reopener

    async def pause(
        self, execution_id: str, reason: str = "", end: PauseEnd = NO_END, **operation: Unpack[Operation]
    ) -> Execution:
        """Hold an execution: nothing starts from now on, and what is running comes to its end.

        One that an operator holds already stays as it is, with the first reason; with an `end` it goes on by itself.
        """
        row, cached = await self._queries.load(execution_id)
        facts = cached.state.facts
        changes_nothing = facts.gate != "open" and (not end.is_set or end.is_same(facts.resume_end))
        if changes_nothing and row.head.commands_done >= row.head.commands_seq:
            return await self._queries.get(execution_id)
        self._check_moment(cached.state, end.at)
        options = options_of("pause", operation)
        again = await self._sender.is_repeated(row.head.execution_id, options)
        command = cmd.Pause(reason=reason, by=options.by, resume_at=end.at, resume_on=end.on)
        view = await self._sender.send(execution_id, command, options)
        return view if again else unless_closed(view)

    async def schedule_resume(self, execution_id: str, end: PauseEnd, **operation: Unpack[Operation]) -> Execution:
        """Set when an execution that an operator holds goes on by itself; with no end, it no longer does."""
        row, cached = await self._queries.load(execution_id)
        facts = cached.state.facts
        is_same = facts.gate != "open" and end.is_same(facts.resume_end)
        if is_same and row.head.commands_done >= row.head.commands_seq:
            return await self._queries.get(execution_id)
        self._check_moment(cached.state, end.at)
        options = options_of("schedule_resume", operation)
        return await self._effective(execution_id, cmd.ScheduleResume(at=end.at, on=end.on, by=options.by), options)

    def _check_moment(self, state: ExecutionState, at: int | None) -> None:
        """Refuse a moment at which the execution would have failed, because it was paused for too long."""
        ends = longest_pause_ends(state, self._instance.clock.now())
        if at is not None and ends is not None and at > ends:
            message = f"It may be paused until {moment(ends)} at most (`max_pause`): set an earlier moment."
            raise InvalidInput(message, (("at", message),), code="beyond_max_pause")

    async def resume(
        self, execution_id: str, data: dict[str, object] | None = None, reason: str = "", **operation: Unpack[Operation]
    ) -> Execution:
        """Let an execution go on; the data becomes part of its variables."""
        options = options_of("resume", operation)
        given = cast("dict[str, object]", plain(data or {}))
        _, cached = await self._queries.load(execution_id)
        if decide(cached.state, cmd.Resume(), self._instance.clock.now()):  # else it is refused as it is
            check_resume_data(cached.state.plan, given)
        return await self._effective(execution_id, cmd.Resume(data=given, reason=reason, by=options.by), options)

    async def check_resume_data(self, execution_id: str, data: dict[str, object]) -> None:
        """Refuse data that does not fit what the workflow expects of a resume."""
        _, cached = await self._queries.load(execution_id)
        check_resume_data(cached.state.plan, data)

    async def cancel(self, execution_id: str, reason: str = "", **operation: Unpack[Operation]) -> Execution:
        """End an execution."""
        options = options_of("cancel", operation)
        again = await self._sender.is_repeated(checked_id(execution_id), options)
        view = await self._sender.send(execution_id, cmd.Cancel(reason=reason, by=options.by), options)
        return view if again or view.status == "cancelled" else unless_closed(view)

    async def retry(self, execution_id: str, **operation: Unpack[Operation]) -> Execution:
        """Go on with a failed execution, or with what waits for an operator, from what failed."""
        options = options_of("retry", operation)
        return await self._effective(execution_id, cmd.Retry(by=options.by, key=options.source), options)

    async def rewind(self, execution_id: str, to: str, reason: str = "", **operation: Unpack[Operation]) -> Execution:
        """Drop the results of a node and of all that came after it, and go on from there."""
        options = options_of("rewind", operation)
        command = await self._with_variables(
            execution_id, cmd.Rewind(to=to, reason=reason, by=options.by, key=options.source)
        )
        return await self._effective(execution_id, command, options)

    async def run_now(
        self, execution_id: str, node: str, reason: str = "", **operation: Unpack[Operation]
    ) -> Execution:
        """Let a node go on that waits for time; without one, all of them, or the start."""
        options = options_of("run_now", operation)
        return await self._effective(execution_id, cmd.RunNow(node=node, reason=reason, by=options.by), options)

    async def cancel_retry(
        self, execution_id: str, node: str, reason: str = "", **operation: Unpack[Operation]
    ) -> Execution:
        """Make no further attempt of a node that is to be tried again."""
        options = options_of("cancel_retry", operation)
        return await self._effective(execution_id, cmd.CancelRetry(node=node, reason=reason, by=options.by), options)

    async def set_breakpoint(
        self, execution_id: str, node: str, reason: str = "", **operation: Unpack[Operation]
    ) -> Execution:
        """Pause an execution before a node, once."""
        row, cached = await self._queries.load(execution_id)
        facts = cached.state.facts
        check_breakpoint(cached.state.plan, node, facts.breakpoints)
        if node in facts.breakpoints and row.head.commands_done >= row.head.commands_seq:
            return await self._queries.get(execution_id)
        options = options_of("set_breakpoint", operation)
        again = await self._sender.is_repeated(row.head.execution_id, options)
        command = cmd.SetBreakpoint(node=node, reason=reason, by=options.by)
        view = await self._sender.send(execution_id, command, options)
        return view if again else unless_closed(view)

    async def clear_breakpoint(self, execution_id: str, node: str, **operation: Unpack[Operation]) -> Execution:
        """Do not pause an execution before a node, or before any."""
        row, _ = await self._queries.load(execution_id)
        options = options_of("clear_breakpoint", operation)
        command = cmd.ClearBreakpoint(node=node, by=options.by)
        if row.head.commands_done < row.head.commands_seq:  # it may be among what is not applied yet
            return await self._sender.send(execution_id, command, options)
        return await self._effective(execution_id, command, options)

    async def plan(self, execution_id: str, command: cmd.Retry | cmd.Rewind) -> RepeatPlan:
        """Return what a retry or a rewind would do; nothing is changed."""
        if isinstance(command, cmd.Rewind):
            past = await self._past_of(execution_id, command)
            command = command if past is None else past.rewind(command)
        else:
            row, _ = await self._queries.load(execution_id)
            past = await past_of(self._instance.store, row, self._instance.plans, row.head.last_seq)
        _, cached = await self._queries.load(execution_id)
        called_before = past.called if past is not None else ()
        return plan_of(cached.state, command, self._instance.clock.now(), called_before)

    async def _with_variables(self, execution_id: str, command: cmd.Rewind) -> cmd.Rewind:
        """Return a rewind with the values that variables get back, which only the log knows."""
        past = await self._past_of(execution_id, command)
        return command if past is None else past.rewind(command)

    async def _past_of(self, execution_id: str, command: cmd.Rewind) -> Past | None:
        """Return the past of an execution; None if it cannot go back, since then the rewind is refused as it is."""
        row, cached = await self._queries.load(execution_id)
        if not can_go_back(cached.state, command.to):
            return None
        return await past_of(self._instance.store, row, self._instance.plans, row.head.last_seq)

    async def _effective(self, execution_id: str, command: cmd.AnyCommand, options: OperationOptions) -> Execution:
        """Send a command that would change something as things stand; refuse one that would not."""
        row, cached = await self._queries.load(execution_id)
        if await self._sender.is_repeated(row.head.execution_id, options):
            return await self._queries.get(execution_id)
        if not decide(cached.state, command, self._instance.clock.now()):
            self._instance.metrics.resume_errors += 1
            raise does_not_fit(cached.state, command)
        if row.head.status in CLOSED and isinstance(command, cmd.Retry | cmd.Rewind):
            return await self._reopener.reopen(row.head, cached, command, options)
        try:
            view = await self._sender.send(execution_id, command, options)
        except WrongState:
            if isinstance(command, cmd.Retry | cmd.Rewind):  # what was closed meanwhile may be reopened
                return await self._effective(execution_id, command, options)
            raise
        if isinstance(command, cmd.Resume) and cached.state.facts.gate != "open":
            await self._check_applied(row.head, command, view)
        return view

    async def _check_applied(self, before: Head, command: cmd.Resume, view: Execution) -> None:
        """Refuse a resume that came after another one: its data is not stored."""
        resumed: list[ExecutionResumed] = []
        since = before.last_seq + 1
        while entries := await self._instance.store.queries.read_history(view.id, since, PAGE):
            events = [event for entry in entries for event in decode_events(entry.events)]
            resumed += [event for event in events if isinstance(event, ExecutionResumed)]
            since = entries[-1].seq + entries[-1].count
        said = (command.by, command.reason, command.data)
        if any((event.by, event.reason, event.data) == said for event in resumed):
            return
        if resumed or view.closed:  # else it is not taken yet
            self._instance.metrics.resume_errors += 1
            raise WrongState("Another caller resumed it first: it is no longer paused.", view.status)
