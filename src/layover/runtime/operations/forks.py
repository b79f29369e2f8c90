"""Forks executions: a new one begins with results of another, which is only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from layover.core.engine.forks import plan_fork, was_reached
from layover.core.engine.past import outermost
from layover.core.payloads import plain
from layover.core.plan import excludes_requester
from layover.errors import InvalidInput, NotAllowed, WrongState
from layover.model.forks import ForkPlan
from layover.runtime.operations.refusals import is_place_of, unknown_node
from layover.runtime.operations.starter import check_input
from layover.runtime.queries.past import past_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.commands import Fork
    from layover.core.engine.past import Past
    from layover.core.engine.state import Facts
    from layover.core.plan import Plan
    from layover.interface.requests import ForkRequest
    from layover.model.executions import Execution
    from layover.ports.records import AuditRow
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.instance import Instance
    from layover.runtime.operations.executions import Executions
    from layover.runtime.operations.start_options import Options
    from layover.runtime.queries.queries import Queries

_MOST_BYTES: Final = 8_000_000  # of the results that a fork begins with: they are one event of its log


class _Prepared(NamedTuple):
    """A fork that can be made, and what it says of the origin."""

    row: ExecutionRow
    facts: Facts
    fork: Fork
    input: object
    plan: ForkPlan


class Forks:
    """Forks executions."""

    def __init__(self, instance: Instance, queries: Queries, executions: Executions) -> None:
        self._instance = instance
        self._queries = queries
        self._executions = executions

    async def plan(self, execution_id: str, request: ForkRequest) -> ForkPlan:
        """Return what a fork would keep and repeat; nothing is changed."""
        return (await self._prepared(execution_id, request, is_plan=True)).plan

    async def fork(
        self, execution_id: str, request: ForkRequest, new_id: str, options: Options, audit: AuditRow | None
    ) -> Execution:
        """Begin a fork under an id; if that is in use, return the execution that has it."""
        found = await self._prepared(execution_id, request)
        facts = found.facts
        fork = replace(found.fork, reason=request.reason, by=options.user)
        return await self._executions.start(
            facts.workflow,
            found.input,
            id=new_id,
            version=found.plan.version,
            on_conflict="return" if request.id is None else "reject",
            options=replace(
                options,
                tags=found.row.info.tags,
                priority=found.row.info.priority,
                correlation_id=found.row.info.correlation_id,
                trigger=facts.trigger,
                fork=fork,
            ),
            audit=audit,
        )

    async def _prepared(self, execution_id: str, request: ForkRequest, *, is_plan: bool = False) -> _Prepared:
        row, cached = await self._queries.load(execution_id)
        facts, last = cached.state.facts, row.head.last_seq
        at = request.start if isinstance(request.start, int) else last
        if at > last:
            message = f"its newest event is number {last}"
            raise InvalidInput(f"`from`: {message}.", (("from", message),), code="invalid_input")
        past = await past_of(self._instance.store, row, self._instance.plans, at)
        node = _root(past, request.start) if isinstance(request.start, str) else ""
        version = row.version if request.version is None else request.version
        startable = await self._instance.plans.startable(facts.workflow, version, self._instance.clock.now())
        given = facts.input if request.input is UNSET else plain(request.input)
        check_input(startable.plan, given)
        is_past = is_plan and at < last  # then what was called since is called again
        latest = await past_of(self._instance.store, row, self._instance.plans, last) if is_past else None
        found = plan_fork(past, startable.plan, node, latest=latest)
        _check_decided(past.state.plan, startable.plan, found.kept, is_other=given != facts.input)
        _check_size(found.fork)
        variables = {**startable.plan.definition.variables}
        for one in found.fork.sets:
            variables.update(one.values)
        told = ForkPlan(
            at=at,
            version=version,
            kept=found.kept,
            repeated=found.repeats.repeated,
            dropped=found.repeats.dropped,
            calls=found.repeats.calls,
            variables=variables,
        )
        return _Prepared(row, facts, found.fork, given, told)


def _root(past: Past, node: str) -> str:
    """Return the node outside all scopes that a fork goes on from: a loop or parallel begins anew as a whole."""
    state, root = past.state, outermost(node)
    if not is_place_of(state.plan, node):
        raise unknown_node(state.plan, state.facts.workflow, node)
    if not was_reached(state, root):
        raise WrongState(f"`{root}` had not been reached, so nothing can go on from there.", state.status)
    return root


def _check_decided(origin: Plan, plan: Plan, kept: Sequence[str], *, is_other: bool) -> None:
    """Refuse another input behind an approval that excludes the requester: nobody else has decided about that.

    Nor is what was decided by that rule kept in a version without it, of which a fork could have another input.
    """
    for name in kept:
        was_excluded = excludes_requester(origin.graph.by_id[name])
        is_excluded = excludes_requester(plan.graph.by_id[name])
        if (is_other and (was_excluded or is_excluded)) or (was_excluded and not is_excluded):
            why = "for another input" if is_other else "by a rule that this version does not have"
            message = f"`{name}` was decided {why}. Fork from `{name}`, so that it is decided anew."
            raise NotAllowed(message, code="requester_excluded")


def _check_size(fork: Fork) -> None:
    size = len(msgspec.json.encode(fork))
    if size > _MOST_BYTES:
        message = f"The results that it would begin with have {size:,} bytes; at most {_MOST_BYTES:,} are taken over."
        raise InvalidInput(message, code="payload_too_large")
