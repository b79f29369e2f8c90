"""Every family of routes, in the order in which the document shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.api.routes import (
    approvals,
    audit,
    control,
    definitions,
    document,
    executions,
    health,
    keys,
    outside,
    points,
    resuming,
    starting,
    streams,
    workflows,
)

if TYPE_CHECKING:
    from layover.api.routing import Route, Routes

FAMILIES: Final[tuple[Routes, ...]] = (
    starting.routes,
    executions.routes,
    control.routes,
    streams.routes,
    points.routes,
    approvals.routes,
    resuming.routes,
    outside.routes,
    workflows.routes,
    definitions.routes,
    keys.routes,
    audit.routes,
    health.routes,
    document.routes,
)
ROUTES: Final[tuple[Route, ...]] = tuple(route for family in FAMILIES for route in family.routes)
