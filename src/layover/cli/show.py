"""`layover show`, `history` and `why`: one execution, looked at from three sides."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from layover.cli.doors import door_to_read, page_of
from layover.cli.event_lines import event_line
from layover.cli.exits import DONE
from layover.cli.failures import print_failure, print_failures
from layover.cli.id_prefix import execution_named
from layover.cli.lists import approvers_of, shown_lines
from layover.cli.options import HERE, At, ExecutionName, Json
from layover.cli.screen import STYLES, between, brief, moment, print_json, say, say_pieces
from layover.cli.tree import NodeTree, now
from layover.model.shared import Page, builtins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover import Event, Execution, Graph, Leg, NodeExecution, PausePoint, Why, WhyReason
    from layover.cli.options import Target

MOST_SHOWN = 1_000  # nodes and legs of one execution

Since = Annotated[int, Parameter(help="The number of the first event.")]
UntilNumber = Annotated[int | None, Parameter(name="--until", help="The number of the last event.")]
ContextId = Annotated[
    str | None,
    Parameter(name="--context-id", help="Only events of the node with this context id, and of its pause points."),
]
Types = Annotated[
    tuple[str, ...],
    Parameter(
        name="--type",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only events of this type, such as NodeFailed; repeatable.",
    ),
]
Newest = Annotated[bool, Parameter(negative="", help="The newest first.")]
Most = Annotated[int | None, Parameter(name="--limit", help="How many at most; all, unless it is given.")]


class ShownExecution(NamedTuple):
    """Everything that is shown of an execution."""

    execution: Execution
    graph: Graph
    nodes: Sequence[NodeExecution]
    points: Sequence[PausePoint]
    legs: Sequence[Leg]


def show(execution: ExecutionName, /, *, at: At = HERE, json: Json = False) -> int:
    """Show an execution: its nodes with their states, its pause points, its legs; of nodes and legs the first 1,000."""
    whole = asyncio.run(_whole(at, execution))
    if json:
        found = builtins(whole.execution)
        print_json({**found, "nodes": whole.nodes, "pause_points": whole.points, "legs": whole.legs})
        return DONE
    _print_heading(whole.execution)
    say("nodes:", "bold")
    for line in NodeTree(whole.graph, whole.nodes, now()).lines():
        say_pieces(line)
    print_failures(whole.nodes)
    if len(whole.nodes) == MOST_SHOWN:
        say(f"  … the first {MOST_SHOWN:,} nodes; the others are in the history")
    if whole.points:
        say("pause points:", "bold")
        for point in whole.points:
            _print_point(point)
    say("legs:", "bold")
    for number, leg in enumerate(whole.legs, start=1):
        say(f"  {number}  {leg.cause}  events {leg.from_seq}-{leg.to_seq}  {leg.instance}")
    return DONE


def history(  # noqa: PLR0913 - each is an option
    execution: ExecutionName,
    /,
    *,
    since: Since = 0,
    until: UntilNumber = None,
    context_id: ContextId = None,
    type: Types = (),  # noqa: A002 - as everywhere
    newest: Newest = False,
    limit: Most = None,
    at: At = HERE,
    json: Json = False,
) -> int:
    """Print the log of an execution: what happened, in order."""

    async def events() -> Sequence[Event]:
        async with door_to_read(at) as door:
            found = (await execution_named(door, execution)).history(
                since=max(since, 0),
                until=until,
                context_id=context_id,
                type=type,
                order="newest" if newest else "oldest",
            )
            return await found.all() if limit is None else (await page_of(found, max(limit, 1))).items

    found = asyncio.run(events())
    if json:
        print_json(Page(items=tuple(found)))
        return DONE
    for event in found:
        say(f"{event.seq:>4}  {event.at}  {event_line(event)}")
    return DONE


def why(execution: ExecutionName, /, *, at: At = HERE, json: Json = False) -> int:
    """Tell what an execution waits for, or why it failed; what that waits for is indented below it."""

    async def answer() -> Why:
        async with door_to_read(at) as door:
            return await (await execution_named(door, execution)).why()

    found = asyncio.run(answer())
    if json:
        print_json(found)
        return DONE
    if not found.reasons:
        say(found.summary)
    for reason in found.reasons:
        _print_reason(reason, "")
    return DONE


async def _whole(at: Target, name: str) -> ShownExecution:
    async with door_to_read(at) as door:
        found = await execution_named(door, name)
        return ShownExecution(
            execution=found.info,
            graph=await found.graph(),
            nodes=(await page_of(found.nodes(), MOST_SHOWN)).items,
            points=[point.info async for point in found.points(status=())],
            legs=(await page_of(found.legs(), MOST_SHOWN)).items,
        )


def _print_heading(one: Execution) -> None:
    number = f" v{one.version}" if one.version is not None else ""
    say_pieces([(one.id, "bold"), (f"  {one.workflow}{number}  ", ""), (one.status, STYLES.get(one.status, ""))])
    if one.outcome and (one.outcome != "executed" or one.outcome_reason):
        say(f"outcome: {one.outcome}{f' ({one.outcome_reason})' if one.outcome_reason else ''}")
    if one.paused_reason:
        say(f"paused: {one.paused_reason}")
    if one.error is not None:
        where = f" at {one.error.context_id}" if one.error.context_id else ""
        say(f"error: {one.error.code}{where}: {one.error.summary()}", "red")
    took = f", took {between(one.created_at, one.finished_at)}" if one.finished_at is not None else ""
    say(f"created: {moment(one.created_at)}{took}")
    if one.tags:
        say(f"tags: {', '.join(one.tags)}")
    if one.parent_id is not None:
        say(f"parent: {one.parent_id}")
    say(f"input: {brief(one.input)}")
    if one.status == "completed":
        say(f"output: {brief(one.output)}")


def _print_point(point: PausePoint) -> None:
    people = f"  by {approvers_of(point)}" if point.kind in ("approval", "form") else ""
    until = f"  until {moment(point.deadline)}" if point.deadline is not None and point.status == "open" else ""
    title = f"  {point.title}" if point.title else ""
    say_pieces(
        [
            (f"  {point.context_id}  {point.kind}  ", ""),
            (point.status, STYLES.get(point.status, "")),
            (f"{people}{until}{title}", ""),
        ]
    )
    for line in shown_lines(point):
        say(f"    {line}")
    for decision in point.decisions:
        verb = "approved" if decision.approved else "rejected"
        say(f"    {verb} by {decision.by or 'an unnamed user'}{f': {decision.comment}' if decision.comment else ''}")


def _print_reason(reason: WhyReason, margin: str) -> None:
    until = f" (until {moment(reason.until)})" if reason.until is not None else ""
    say(f"{margin}{reason.text}{until}")
    if reason.failure is not None:
        print_failure(reason.failure, f"{margin}  ")
    for because in reason.because:
        _print_reason(because, f"{margin}  ")
