"""Workflows as they cross the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.api.resources.workflows import (
    DefinitionProblem,
    StandingChanged,
    VersionSummary,
    Workflow,
    WorkflowSummary,
)
from layover.core.moments import moment

if TYPE_CHECKING:
    from layover.core.definitions.problems import Problem
    from layover.ports.access import Standing
    from layover.ports.records import Version


class _Told(msgspec.Struct, frozen=True):
    """What a definition says of itself for people."""

    description: str = ""
    tags: list[str] = []


def summary_of(version: Version, standing: Standing | None) -> WorkflowSummary:
    """Return a workflow of a list; one that nothing is noted of is active."""
    told = msgspec.json.decode(version.document, type=_Told)
    return WorkflowSummary(
        name=version.workflow,
        version=version.number,
        hash=version.hash,
        state=standing.state if standing is not None else "active",
        state_reason=standing.reason if standing is not None else "",
        description=told.description,
        tags=told.tags,
        created_at=moment(version.created_at),
    )


def workflow_of(version: Version, standing: Standing) -> Workflow:
    """Return a version with its definition."""
    return Workflow(
        name=version.workflow,
        version=version.number,
        hash=version.hash,
        state=standing.state,
        state_reason=standing.reason,
        created_at=moment(version.created_at),
        definition=msgspec.json.decode(version.document),
    )


def version_of(version: Version) -> VersionSummary:
    """Return a version of a list."""
    return VersionSummary(version=version.number, hash=version.hash, created_at=moment(version.created_at))


def standing_of(standing: Standing, *, executions: int = 0, more: bool = False) -> StandingChanged:
    """Return how a workflow stands, and how many executions were moved with it."""
    return StandingChanged(
        name=standing.workflow, state=standing.state, reason=standing.reason, executions=executions, more=more
    )


def problem_of(problem: Problem) -> DefinitionProblem:
    """Return something that is wrong with a definition."""
    return DefinitionProblem(
        code=problem.code,
        path=problem.path,
        message=problem.message,
        line=problem.line,
        column=problem.column,
        suggestion=problem.suggestion,
        severity=problem.severity,
    )
