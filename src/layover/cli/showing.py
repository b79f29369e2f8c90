"""`layover show`, `history` and `why`: one execution, looked at from three sides."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
from cyclopts import Parameter

from layover.cli.client import to_look
from layover.cli.exits import DONE
from layover.cli.listing import asked
from layover.cli.names import execution_named
from layover.cli.options import DEFAULT_DB, Db, ExecutionName, Json
from layover.cli.resources import (
    context_of,
    entry_resource,
    execution_resource,
    node_resource,
    point_resource,
    title_of,
    why_resource,
)
from layover.cli.screen import STYLES, brief, length, moment, print_json, say, say_pieces, when
from layover.cli.story import event_line
from layover.cli.tree import Tree
from layover.core.engine.events import LegStarted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.cli.client import Looking
    from layover.core.plan import Plan
    from layover.ports.records import PointRow, Version
    from layover.runtime.executions import HistoryEntry
    from layover.runtime.node_executions import NodeExecution
    from layover.runtime.views import Execution
    from layover.runtime.why import Reason, Why

_PAGE = 1_000

Since = Annotated[int, Parameter(help="The number of the first event.")]


class Leg(msgspec.Struct, frozen=True):
    """A stretch of work between two rests."""

    number: int
    cause: str
    instance: str
    from_seq: int
    to_seq: int
    at: str | None


class Whole(NamedTuple):
    """Everything that is shown of an execution."""

    execution: Execution
    versions: Sequence[Version]
    plan: Plan
    nodes: Sequence[NodeExecution]
    points: Sequence[PointRow]
    legs: list[Leg]
    now: int


def show(execution: ExecutionName, /, *, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Show an execution: its nodes with their states, its pause points, its legs."""
    whole = asyncio.run(_whole(db, execution))
    if json:
        found = execution_resource(whole.execution, whole.versions)
        found["nodes"] = [node_resource(node) for node in whole.nodes]
        found["pause_points"] = [point_resource(row) for row in whole.points]
        found["legs"] = whole.legs
        print_json(found)
        return DONE
    _print_heading(whole)
    say("nodes:", "bold")
    for line in Tree(whole.plan, whole.nodes, whole.now).lines():
        say_pieces(line)
    if whole.points:
        say("pause points:", "bold")
        for row in whole.points:
            _print_point(row)
    say("legs:", "bold")
    for leg in whole.legs:
        say(f"  {leg.number}  {leg.cause}  events {leg.from_seq}-{leg.to_seq}  {leg.instance}")
    return DONE


def history(execution: ExecutionName, /, *, since: Since = 0, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Print the log of an execution: what happened, in order."""

    async def entries() -> list[HistoryEntry]:
        async with to_look(db) as client:
            return await _log_of(client, await execution_named(client, execution), max(since, 0))

    found = asyncio.run(entries())
    if json:
        print_json({"items": [entry_resource(entry) for entry in found], "next": None})
        return DONE
    for entry in found:
        say(f"{entry.seq:>4}  {when(entry.at)}  {event_line(entry)}")
    return DONE


def why(execution: ExecutionName, /, *, db: Db = DEFAULT_DB, json: Json = False) -> int:
    """Tell what an execution waits for; what that waits for is indented below it."""

    async def answer() -> Why:
        async with to_look(db) as client:
            return await client.why(await execution_named(client, execution))

    found = asyncio.run(answer())
    if json:
        print_json(why_resource(found))
        return DONE
    if not found.reasons:
        say(found.summary)
    for reason in found.reasons:
        _print_reason(reason, "")
    return DONE


async def _whole(db: str, name: str) -> Whole:
    async with to_look(db) as client:
        id_ = await execution_named(client, name)
        execution = await client.get(id_)
        log = await _log_of(client, id_, 0)
        return Whole(
            execution=execution,
            versions=await client.versions(execution.workflow),
            plan=await client.plan(execution.hash),
            nodes=await client.nodes(id_),
            points=await client.points(id_, status=()),
            legs=_legs_of(log),
            now=await client.now(),
        )


async def _log_of(client: Looking, id_: str, since: int) -> list[HistoryEntry]:
    found: list[HistoryEntry] = []
    page = await client.history(id_, since, _PAGE)
    while page:
        found += page
        page = await client.history(id_, page[-1].seq + 1, _PAGE)
    return found


def _legs_of(log: list[HistoryEntry]) -> list[Leg]:
    starts = [entry for entry in log if isinstance(entry.event, LegStarted)]
    ends = [*(entry.seq - 1 for entry in starts[1:]), log[-1].seq if log else 0]
    return [
        Leg(number, entry.event.cause, entry.event.instance, entry.seq, end, when(entry.at))
        for number, (entry, end) in enumerate(zip(starts, ends, strict=False), start=1)
        if isinstance(entry.event, LegStarted)
    ]


def _print_heading(whole: Whole) -> None:
    one = whole.execution
    number = next((f" v{version.number}" for version in whole.versions if version.hash == one.hash), "")
    say_pieces([(one.id, "bold"), (f"  {one.workflow}{number}  ", ""), (one.status, STYLES.get(one.status, ""))])
    if one.outcome and (one.outcome != "executed" or one.outcome_reason):
        say(f"outcome: {one.outcome}{f' ({one.outcome_reason})' if one.outcome_reason else ''}")
    if one.paused_reason:
        say(f"paused: {one.paused_reason}")
    if one.error is not None:
        where = f" at {one.error.context_id}" if one.error.context_id else ""
        say(f"error: {one.error.code}{where}: {one.error.message}", "red")
    took = f", took {length(one.finished_at - one.created_at)}" if one.finished_at is not None else ""
    say(f"created: {moment(one.created_at)}{took}")
    if one.tags:
        say(f"tags: {', '.join(one.tags)}")
    if one.parent_id is not None:
        say(f"parent: {one.parent_id}")
    say(f"input: {brief(one.input)}")
    if one.status == "completed":
        say(f"output: {brief(one.output)}")


def _print_point(row: PointRow) -> None:
    point = row.point
    people = f"  by {asked(row)}" if point.kind in ("approval", "form") else ""
    until = f"  until {moment(point.deadline)}" if point.deadline is not None and row.status == "open" else ""
    title = f"  {title_of(row)}" if title_of(row) else ""
    say_pieces(
        [
            (f"  {context_of(row)}  {point.kind}  ", ""),
            (row.status, STYLES.get(row.status, "")),
            (f"{people}{until}{title}", ""),
        ]
    )
    for decision in point.decisions:
        verb = "approved" if decision.approved else "rejected"
        say(f"    {verb} by {decision.by or 'somebody'}{f': {decision.comment}' if decision.comment else ''}")


def _print_reason(reason: Reason, margin: str) -> None:
    until = f" (until {moment(reason.until)})" if reason.until is not None else ""
    say(f"{margin}{reason.text}{until}")
    for because in reason.because:
        _print_reason(because, f"{margin}  ")
