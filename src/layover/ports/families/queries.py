"""Queries: what is read of executions and pause points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Entry, Head, PointRow, Wait
    from layover.ports.view_records import (
        AwaitedCounts,
        ExecutionFilter,
        ExecutionRow,
        Gauges,
        Loaded,
        PausedFilter,
        PointFilter,
        RestingCounts,
        Standing,
    )


class QueryStore(Protocol):
    """Reads executions, their logs and their pause points."""

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""

    async def read_heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read the heads of executions."""

    async def find_execution(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""

    async def list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions, newest first."""

    async def list_paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List executions whose status is `paused`, the one paused longest first."""

    async def read_standings(self, execution_ids: Sequence[str]) -> list[Standing | None]:
        """Read where executions stand."""

    async def read_history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read the log from the entry that holds event `since` on, at most `limit` entries."""

    async def list_points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points, oldest first."""

    async def find_point(self, point_id: str) -> PointRow | None:
        """Find a pause point, also a closed one."""

    async def find_token(self, hash_: bytes) -> Wait | None:
        """Find the pause point that the token of a callback belongs to."""

    async def count_by_status(self) -> dict[str, int]:
        """Count executions by status."""

    async def count_awaited(self, most: int) -> AwaitedCounts:
        """Count executions by what they wait on; of each kind, so many points or executions at most are looked at."""

    async def count_resting(self, workflow: str, most: int) -> RestingCounts:
        """Count what has not ended of a workflow: executions by status, and points that wait by their nodes.

        No more than `most` executions of each status, whatever their workflow, and `most` points are looked at.
        """

    async def read_gauges(self, now: int, before: int, workflows: int) -> Gauges:
        """Count what has not ended or waits, pauses since before a moment, and what is paused of so many workflows.

        Workflows come in the order of their names. Counts stop somewhere: at 100,000, or 10,000 of one workflow.
        """
