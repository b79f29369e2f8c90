"""What operators see of a whole database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.diagnosis import Diagnosis
from layover.model.monitoring import DueTimer, RunningInstance, Stats, StatsSpan
from layover.model.shared import Page

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Monitoring", "The whole database at a glance: instances, timers, and figures over time.")

_READ: Final = ("execution:read",)


class TimersQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of timers."""

    limit: Annotated[int, Meta(ge=1, description="How many at most; more than 100 are 100.")] | None = None
    cursor: Annotated[str, Meta(max_length=400, description="The `next` of the page before.")] | None = None


class StatsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which figures."""

    span: Annotated[
        StatsSpan, Meta(description="The last hour by the minute, the last day by half hours, the last week by two.")
    ] = "hour"


@routes.get("/instances", needs=_READ, answers={200: Page[RunningInstance]})
async def list_instances(call: Request[None, NoQuery]) -> Response:
    """List the instances that have the database open, by name, with how many executions each drives.

    An instance that was lost is listed for as long as leases of it are left.
    """
    return Response(Page(items=await call.service.monitoring.instances()))


@routes.get("/timers", needs=_READ, query=TimersQuery, answers={200: Page[DueTimer]}, problems=("malformed_cursor",))
async def list_timers(call: Request[None, TimersQuery]) -> Response:
    """List what is due at a moment and driven by no instance, the earliest first: timers, retries, starts."""
    settings, query = call.services.settings, call.query
    limit = min(query.limit or settings.page, settings.longest_page)
    return Response(await call.service.monitoring.timers(limit, query.cursor))


@routes.get("/doctor", needs=("admin",), answers={200: Diagnosis})
async def examine(call: Request[None, NoQuery]) -> Response:
    """Look for what keeps this server, its database or the executions from working, and say what to do about it.

    It is examined for five seconds at most, the newest 10,000 open executions with it, and the same is answered again
    for five seconds. Nothing is changed.
    """
    return Response(await call.service.monitoring.doctor())


@routes.get("/stats", needs=_READ, query=StatsQuery, answers={200: Stats})
async def get_stats(call: Request[None, StatsQuery]) -> Response:
    """Show what happened over time, and how much waits now; the same numbers are given again for five seconds.

    Figures are counted from what is kept: executions that were purged are not in them.
    """
    return Response(await call.service.monitoring.stats(call.query.span))
