"""The scene of the batches: every act, what is refused, and what becomes of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.interface.play import Play

UNKNOWN = "11111111-1111-4111-8111-111111111111"
FORM: dict[str, Any] = {
    "name": "sizes",
    "nodes": [{"id": "size", "type": "form", "title": "Which?", "schema": {"type": "integer"}}],
}


async def batches(play: Play) -> None:
    """Batches."""
    door = play.door
    await play.call(door, "register", FORM)
    started = [await play.call(door, "start", "sizes", until="people") for _ in range(3)]
    which = {"ids": [one.id for one in started]}
    await play.listed(door, "batches")
    await play.refused(door, "find_batch", UNKNOWN)
    await play.refused(door, "find_batch", "seven")
    await play.refused(door, "batches", status="never")
    for act, where, more in (
        ("explode", which, {}),
        ("pause", {}, {}),
        ("pause", "all", {}),
        ("pause", {"everything": True}, {}),
        ("pause", {"trigger_id": UNKNOWN}, {}),
        ("pause", which, {"to": "size"}),
        ("pause", which, {"rate": "often"}),
        ("pause", which, {"canary": {"share": "0%", "watch": "1h"}}),
        ("pause", which, {"canary": {"share": "5%", "watch": "soon"}}),
        ("pause", {"ids": ["seven"]}, {}),
        ("pause", which, {"idempotency_key": ""}),
        ("rewind", which, {}),
        ("answer", {"workflow": "sizes"}, {"data": 1}),
        ("replay", {"ids": ["x"]}, {}),
        ("redeliver", {"state": "sent"}, {}),
    ):
        await play.refused(door, "batch", act, where, **more)
    planned = await play.do(door, "batch", "pause", which, dry_run=True, canary={"share": 0.5, "watch": "1h"})
    await play.do(planned, "wait")
    made = await play.call(door, "batch", "pause", which, reason="Prices change", rate="100/s", idempotency_key="b")
    await play.do(made, "wait", timeout="30s")
    again = await play.call(door, "batch", "pause", which, reason="Prices change", rate="100/s", idempotency_key="b")
    await play.do(again, "wait")  # over HTTP, the answer to a repeated request is that of the first
    assert again.info.id == made.info.id
    await play.refused(door, "batch", "cancel", which, idempotency_key="b")
    await play.refused(made, "stop")
    await play.refused(made, "continue_")
    await play.listed(made, "items")
    await play.listed(made, "items", status="failed")
    await play.refused(made, "items", status="never")
    await _every_act(play, which)
    await _points(play)
    await _of_others(play)
    await _stopped(play, which)


async def _every_act(play: Play, which: dict[str, Any]) -> None:
    acts: tuple[tuple[str, dict[str, Any]], ...] = (
        ("pause", {}),
        ("resume", {"data": {"x": 1}}),
        ("rewind", {"to": "size"}),
        ("retry", {}),
        ("cancel", {"reason": "Over"}),
        ("purge", {}),
    )
    for act, more in acts:
        done = await play.call(play.door, "batch", act, which, **more)
        await play.do(done, "wait", timeout="30s")
        await play.listed(done, "items")


async def _points(play: Play) -> None:
    door = play.door
    begun = await play.call(door, "start", "sizes", until="people")
    answered = await play.call(door, "batch", "answer", {"workflow": "sizes", "node": "size"}, data=4)
    await play.do(answered, "wait", timeout="30s")
    await play.listed(answered, "items")
    await play.do(begun, "wait", timeout="30s")


async def _of_others(play: Play) -> None:
    door = play.door
    for act, where in (
        ("redeliver", {"destination": "nowhere"}),
        ("redeliver", {"ids": [UNKNOWN]}),
        ("replay", {"trigger_id": UNKNOWN}),
        ("replay", {"trigger_id": UNKNOWN, "ids": ["x"]}),
    ):
        done = await play.call(door, "batch", act, where)
        await play.do(done, "wait", timeout="30s")
        await play.listed(done, "items")


async def moves(play: Play) -> None:
    """Deployments: a plan, a move, and a batch of them."""
    door = play.door
    before = {"name": "deploying", "nodes": [{"id": "size", "type": "form"}]}
    after = {"name": "deploying", "nodes": [{"id": "length", "type": "form", "title": "How long?"}]}
    await play.call(door, "register", before)
    one, other = [await play.call(door, "start", "deploying", until="people") for _ in range(2)]
    await play.do(door, "plan", after)
    await play.do(door, "plan", after, map={"size": "length"})
    await play.refused(door, "plan", after, map={"size": "width"})
    await play.refused(door, "plan", after, map=["size"])
    await play.refused(door, "plan", {"name": "deploying"})
    await play.call(door, "register", after)
    await play.refused(one, "move", 2)
    await play.call(one, "move", 2, map={"size": "length"}, reason="Sizes are lengths now", idempotency_key="m")
    await play.call(one, "move", 2, map={"size": "length"}, reason="Sizes are lengths now", idempotency_key="m")
    batch = await play.call(door, "batch", "move", {"ids": [other.id]}, version=2, map={"size": "length"})
    await play.do(batch, "wait")
    await play.refused(door, "batch", "move", {"ids": [other.id]})
    for handle in (one, other):
        await play.call(handle, "answer", "length", {})


async def _stopped(play: Play, which: dict[str, Any]) -> None:
    door = play.door
    slow = await play.call(door, "batch", "retry", which, rate="1/h")
    while slow.info.skipped == 0:
        await play.call(slow, "refresh")
    await play.do(slow, "stop", "Enough")
    await play.do(slow, "stop")
    await play.refused(slow, "wait", timeout="forever")
    await play.do(slow, "wait")
    found = await play.do(door, "find_batch", slow.info.id)
    await play.call(found, "continue_")
    await play.refused(found, "delete")
    await play.refused(found, "wait", timeout="0s")
    await play.call(found, "stop", "Over")
    await play.do(found, "refresh")
    await play.call(found, "delete")
    await play.refused(found, "refresh")
    await play.listed(door, "batches", status="stopped")
