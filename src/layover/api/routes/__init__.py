"""Every family of routes, in the order in which the document shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.api.routes import (
    approvals,
    audit,
    batches,
    console,
    control,
    decisions,
    definitions,
    deliveries,
    destinations,
    document,
    executions,
    forks,
    health,
    hooks,
    keys,
    monitoring,
    node_searches,
    people,
    points,
    resume,
    secrets,
    session,
    sign_in,
    signals_and_callbacks,
    start,
    streams,
    triggers,
    user_settings,
    views,
    waits,
    workflows,
)

if TYPE_CHECKING:
    from layover.api.routing import Pages, Route, Routes

FAMILIES: Final[tuple[Routes, ...]] = (
    start.routes,
    executions.routes,
    control.routes,
    waits.routes,
    forks.routes,
    streams.routes,
    points.routes,
    approvals.routes,
    resume.routes,
    signals_and_callbacks.routes,
    workflows.routes,
    triggers.routes,
    hooks.routes,
    destinations.routes,
    deliveries.routes,
    batches.routes,
    node_searches.routes,
    people.routes,
    monitoring.routes,
    views.routes,
    user_settings.routes,
    definitions.routes,
    session.routes,
    keys.routes,
    secrets.routes,
    audit.routes,
    audit.published,
    health.routes,
    document.routes,
)
ROUTES: Final[tuple[Route, ...]] = tuple(route for family in FAMILIES for route in family.routes)
PAGES: Final[tuple[Pages, ...]] = (
    decisions.pages,
    sign_in.pages,
    console.pages,
)  # what people see; the document does not have them
PAGE_ROUTES: Final[tuple[Route, ...]] = tuple(route for family in PAGES for route in family.routes)
