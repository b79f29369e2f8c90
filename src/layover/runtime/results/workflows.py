"""Workflows as callers get them, built from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.context_ids import context_id, parse_context_id
from layover.core.moments import Moment
from layover.model.workflows import Resting, RestingNode, WorkflowChange, WorkflowVersion
from layover.runtime.results.pause_ends import resume_signal

if TYPE_CHECKING:
    from layover.core.engine.events import PointKind
    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Version
    from layover.ports.view_records import RestingCounts


class _ForPeople(msgspec.Struct, frozen=True):
    """What a definition says of itself for people."""

    description: str = ""
    tags: tuple[str, ...] = ()


def version_of(version: Version, status: WorkflowStatus | None, *, with_definition: bool = False) -> WorkflowVersion:
    """Return a version of a workflow; a workflow without a stored status is active."""
    told = msgspec.json.decode(version.document, type=_ForPeople)
    return WorkflowVersion(
        name=version.workflow,
        version=version.number,
        hash=version.hash,
        state=status.state if status is not None else "active",
        state_reason=status.reason if status is not None else "",
        resume_at=Moment.maybe(status.end.at) if status is not None else None,
        resume_on=resume_signal(status.end.on) if status is not None else None,
        breakpoints=dict(status.breakpoints) if status is not None else {},
        description=told.description,
        tags=told.tags,
        created_at=Moment.of(version.created_at),
        definition=msgspec.json.decode(version.document) if with_definition else None,
    )


def change_of(status: WorkflowStatus, *, executions: int = 0, more: bool = False) -> WorkflowChange:
    """Return the status of a workflow, and how many executions were paused or resumed with it."""
    return WorkflowChange(
        name=status.workflow,
        state=status.state,
        reason=status.reason,
        executions=executions,
        more=more,
        resume_at=Moment.maybe(status.end.at),
        resume_on=resume_signal(status.end.on),
        breakpoints=dict(status.breakpoints),
    )


def resting_of(name: str, found: RestingCounts) -> Resting:
    """Return where the executions of a workflow rest; all rounds of a loop are one node, as in the graph."""
    nodes: dict[tuple[str, PointKind], tuple[int, int]] = {}
    for one in found.points:
        place = _in_graph(one.node), one.kind
        count, oldest = nodes.get(place, (0, one.oldest))
        nodes[place] = count + one.count, min(oldest, one.oldest)
    return Resting(
        name=name,
        executions={status: count for status, count in found.executions.items() if count},  # type: ignore[misc]  # as stores have them
        nodes=tuple(
            RestingNode(id=id_, kind=kind, count=count, since=Moment.of(oldest))
            for (id_, kind), (count, oldest) in sorted(nodes.items())
        ),
        more=found.more,
    )


def _in_graph(text: str) -> str:
    """Return the id in the graph of a position in an execution: without the numbers of rounds."""
    place = parse_context_id(text)
    steps = (one.container if isinstance(one.key, int) else f"{one.container}.{one.key}" for one in place.scopes)
    return context_id(":".join(steps), place.node)
