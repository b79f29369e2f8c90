"""The scene of the triggers: what a program can ask of them, and do to them."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.interface.play import Play

# Its next occurrence is at the turn of the year: none comes by itself while the scene is played.
YEARLY: dict[str, Any] = {
    "name": "yearly",
    "type": "schedule",
    "cron": "0 0 1 1 *",
    "zone": "UTC",
    "overlap": "allow",
    "data": {"n": 1},
    "filter": "trigger.data.n > 0",
}
SENT: dict[str, Any] = {"name": "sent", "type": "signal", "signal": "tick"}
# No door has the source, so nothing is polled while the scene is played.
POLLING: dict[str, Any] = {
    "name": "polling",
    "nodes": [{"id": "out", "type": "end", "output": "${input}"}],
    "triggers": [{"name": "polled", "type": "poll", "source": "nobody_has_it", "with": {"folder": "INBOX"}}],
}
TICKING: dict[str, Any] = {
    "name": "ticking",
    "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "nodes": [{"id": "out", "type": "end", "output": "${input}"}],
    "triggers": [YEARLY, SENT, {**SENT, "name": "third", "signal": "tock"}],
}


async def triggers(play: Play) -> None:
    """Triggers, their inputs and their logs."""
    door = play.door
    await play.do(door, "register", TICKING)
    await play.listed(door, "triggers")
    await play.listed(door, "triggers", workflow="ticking")
    await play.listed(door, "triggers", workflow="echo")
    await play.refused(door, "triggers", workflow="not a name!")
    yearly = await play.do(door, "trigger", "ticking/yearly")
    await play.do(door, "trigger", yearly.id)
    for name in ("ticking/other", "nothing/yearly", "x", "", "x" * 10_001):
        await play.refused(door, "trigger", name)
    await _schedules(play, yearly)
    await _states(play, yearly)
    await _inputs(play, yearly, await play.do(door, "trigger", "ticking/sent"))
    await _backfills(play, yearly)
    await _polls(play, yearly)
    await _alone(play)
    await play.refused(yearly, "update", {**YEARLY, "cron": "0 0 2 1 *"})
    await play.refused(yearly, "delete")
    await play.refused(yearly, "rotate_token")


async def _schedules(play: Play, yearly: Any) -> None:
    await play.do(yearly, "next")
    await play.do(yearly, "next", 2)
    for count in (0, 101, "two"):
        await play.refused(yearly, "next", count)
    await play.do(yearly, "why")


async def _states(play: Play, yearly: Any) -> None:
    await play.refused(yearly, "resume")
    await play.refused(yearly, "pause", "x" * 10_001)
    for reason in ("holiday", "another"):
        await play.do(yearly, "pause", reason)
    await play.do(yearly, "why")
    await play.do(yearly, "resume", catch_up=True)
    await play.do(yearly, "pause")
    await play.do(yearly, "resume")
    await play.do(yearly, "refresh")


async def _inputs(play: Play, yearly: Any, sent: Any) -> None:
    for data in ({"n": 1}, {"n": 0}, {"n": "one"}):
        await play.do(yearly, "fire", data, id="tried", dry_run=True)
    first = await play.do(yearly, "fire", {"n": 1}, id="mine")
    await play.do(yearly, "fire", {"n": 2}, id="mine")
    await play.do(await play.call(play.door, "execution", first.execution_id), "result")
    for id_ in ("bad", "worse"):
        await play.do(yearly, "fire", {"n": 1.5}, id=id_)
    await play.do(yearly, "discard", "worse")
    for act in ("replay", "discard"):
        for id_ in ("mine", "nothing", "", "x" * 10_001):
            await play.refused(yearly, act, id_)
    await play.refused(yearly, "fire", {"n": 1}, id="")
    await play.refused(yearly, "fire", {"n": float("nan")})
    await play.refused(yearly, "fire", object())
    await play.listed(yearly, "inputs")
    await play.listed(yearly, "inputs", state="rejected")
    await play.refused(yearly, "inputs", state="sleeping")
    await play.listed(yearly, "history")
    await play.listed(sent, "inputs")
    for name in ("inputs", "history"):
        listing = await play.call(yearly, name)
        await play.refused(listing, "page", limit=0)
        await play.refused(listing, "page", cursor="nonsense!")
    await play.call(yearly, "replay", "bad")  # it is tried again at once, so what is read of it may vary
    await play.refused(sent, "next")
    await play.refused(sent, "backfill", "2020-01-01", "2021-01-01")


async def _backfills(play: Play, yearly: Any) -> None:
    await play.do(yearly, "backfill", "2020-01-01", date(2023, 1, 1), dry_run=True)
    await play.do(yearly, "backfill", date(2020, 1, 1), "2022-01-01T00:00")
    await play.do(yearly, "backfill", "2020-01-01", "2023-01-01")
    await play.do(yearly, "backfill", "2020-01-01", "2021-01-01", again=True)
    await play.do(yearly, "backfill", "2021-01-01", "2020-01-01")
    for begin, end in (
        ("soon", "2021-01-01"),
        ("", "2021-01-01"),
        ("2020-01-01", "2999-01-01"),
    ):
        await play.refused(yearly, "backfill", begin, end)


async def _polls(play: Play, yearly: Any) -> None:
    await play.refused(play.door, "register", POLLING)
    await play.do(play.door, "register", POLLING, allow_unknown=True)
    polled = await play.call(play.door, "trigger", "polling/polled")
    await play.call(polled, "pause", "for a while")  # it would say any moment that it has no source
    await play.do(polled, "refresh")
    await play.do(polled, "rewind", "17")
    await play.do(polled, "rewind", None)
    await play.refused(polled, "rewind", "x" * 16_001)
    await play.refused(polled, "rewind", "ä" * 8_001)
    await play.refused(polled, "rewind", 17)
    await play.refused(yearly, "rewind", "17")
    await play.do(polled, "why")


async def _alone(play: Play) -> None:
    """Triggers that belong to no definition."""
    door = play.door
    weekly = {**YEARLY, "name": "weekly", "cron": "0 0 * * MON"}
    for workflow, given in (
        ("ticking", {**YEARLY, "name": "weekly", "cron": "never"}),
        ("ticking", {"name": "weekly"}),
        ("ticking", {}),
        ("ticking", {**weekly, "name": "not a name!"}),
        ("ticking", "weekly"),
        ("ticking", {**weekly, "data": {"x": object()}}),
        ("ticking", YEARLY),
        ("nothing", weekly),
        ("not a name!", weekly),
    ):
        await play.refused(door, "create_trigger", workflow, given)
    made = await play.do(door, "create_trigger", "ticking", weekly, idempotency_key="made")
    await play.do(door, "create_trigger", "ticking", weekly, idempotency_key="made")
    await play.refused(door, "create_trigger", "ticking", weekly)
    await play.refused(door, "create_trigger", "ticking", {**weekly, "every": "1h"}, idempotency_key="made")
    await play.do(made, "update", {**weekly, "cron": "0 0 * * TUE"})
    await play.refused(made, "update", {**weekly, "name": "other"})
    await play.refused(made, "update", {"type": "schedule"})
    poll = {"name": "weekly", "type": "poll", "source": "nobody_has_it"}
    await play.refused(made, "update", poll)
    await play.refused(door, "create_trigger", "ticking", {**poll, "name": "polled"})
    await play.refused(made, "rotate_token")
    await play.do(door, "register", {**TICKING, "triggers": [YEARLY, SENT, {**SENT, "name": "third", "signal": "t"}]})
    await play.refused(door, "register", {**TICKING, "triggers": [weekly]})
    await play.do(made, "refresh")
    await play.do(made, "delete")
    await play.do(made, "delete")
    await play.refused(made, "update", weekly)
    await play.do(made, "refresh")
    for limit in (0, 1_001):
        await play.refused(made, "replay_all", limit=limit)
    await play.refused(made, "replay_all", cursor="nonsense!")
    await play.do(made, "replay_all", limit=5)
