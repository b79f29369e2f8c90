"""The scene of operators who look at the whole database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.interface.play import Play

LATER: dict[str, Any] = {"name": "later", "nodes": [{"id": "rest", "type": "delay", "duration": "40d"}]}


async def monitoring(play: Play) -> None:
    """Instances, timers, figures."""
    door = play.door
    await play.call(door, "register", LATER)
    started = await play.call(door, "start", "later", until="rest")
    for instance in await play.call(door, "instances"):
        play.note("instance", (instance.alive, instance.here, instance.since is not None))
    stats = await play.call(door, "stats", "week")
    play.note("stats", (stats.span, stats.width_ms, len(stats.buckets), sum(one.started for one in stats.buckets) > 0))
    await play.refused(door, "stats", "year")
    timers = await play.call(await play.call(door, "timers"), "all")
    found = [one for one in timers if one.execution_id == started.id]
    play.note("timers", [(one.workflow, one.status, one.overdue, one.waiting_summary) for one in found])
    await play.call(started, "cancel")
    diagnosis = await play.call(door, "doctor")
    own = {"durability", "disk"}  # as the database is
    found = sorted(one.what for one in diagnosis.findings if one.what not in own)
    play.note("doctor", (diagnosis.ok, found))
    await play.do(door, "node_types")
    schema = await play.call(door, "definition_schema")
    play.note("schema", sorted(schema["$defs"]))
