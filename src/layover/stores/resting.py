"""Where executions of a workflow rest: the nodes of their open points, read from the beginning of each body."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from layover.ports.view_records import RestingCounts, RestingPoints

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.events import PointKind

OPEN: Final = ("pending", "running", "pausing", "waiting", "paused")
BEGINNING: Final = 1_000  # bytes of a body: its id and node come first, and the rest may be long
_NODE: Final = re.compile(rb'\{"id":"(?:[^"\\]|\\.)*","node":("(?:[^"\\]|\\.)*")')


def node_of_body(beginning: bytes) -> str | None:
    """Return the node of a point of which the beginning of its body is known; None if the node is not within it."""
    found = _NODE.match(beginning)
    return None if found is None else msgspec.json.decode(found[1], type=str)


def resting_counts(
    executions: dict[str, tuple[int, int]], points: Iterable[tuple[str | None, PointKind, int]], most: int
) -> RestingCounts:
    """Return what was counted: of each status, how many were looked at and how many fit; of each point, its node."""
    found: dict[tuple[str, PointKind], tuple[int, int]] = {}
    seen, is_unknown = 0, False
    for node, kind, opened_at in points:
        seen += 1
        if node is None:
            is_unknown = True
            continue
        count, oldest = found.get((node, kind), (0, opened_at))
        found[node, kind] = count + 1, min(oldest, opened_at)
    return RestingCounts(
        executions={status: fit for status, (_, fit) in executions.items()},
        points=tuple(
            RestingPoints(node=node, kind=kind, count=count, oldest=oldest)
            for (node, kind), (count, oldest) in sorted(found.items())
        ),
        more=is_unknown or seen >= most or any(looked >= most for looked, _ in executions.values()),
    )
