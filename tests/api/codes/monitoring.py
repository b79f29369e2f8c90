"""What is answered to operators who look at the whole database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.codes.anywhere import a_database_that_is_away, a_fault_of_ours
from tests.api.codes.registry import asked, route

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage
    from tests.api.harness import Answered


@route("list_instances", 200)
@route("list_timers", 200)
@route("get_stats", 200)
@route("examine", 200)
@route("list_node_types", 200)
@route("get_definition_schema", 200)
async def all_of_it(stage: Stage, route: Route) -> Answered:
    return await stage.api.ask(route.method, asked(route).path)


@route("get_stats", "store_unavailable")
async def away(stage: Stage, route: Route) -> Answered:
    stage.api.engine.instance.activity.fresh = 0  # else the numbers of a moment ago are given again
    return await a_database_that_is_away(stage, route)


@route("get_stats", "internal")
async def broken(stage: Stage, route: Route) -> Answered:
    stage.api.engine.instance.activity.fresh = 0
    return await a_fault_of_ours(stage, route)
