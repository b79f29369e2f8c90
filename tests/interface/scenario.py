"""Everything that a program can ask of a door, scene by scene: `SCENES` are played in this order on a new database."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from layover import ResumeSignal, Workflow, WrongState, node
from tests.interface.batch_scene import batches, moves
from tests.interface.delivery_scene import deliveries
from tests.interface.monitoring_scene import monitoring
from tests.interface.trigger_scene import triggers

if TYPE_CHECKING:
    from tests.interface.play import Play

NOBODY_HAS_IT = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"
ECHO: dict[str, Any] = {"name": "echo", "nodes": [{"id": "out", "type": "end", "output": "${input}"}]}
ASKING = """
name: asking
description: A size, then a decision
tags: [people]
nodes:
  - {id: size, type: form, title: Which?, schema: {type: integer}, next: review}
  - {id: review, type: approval, title: May it?}
"""
REVIEW: dict[str, Any] = {
    "name": "review",
    "nodes": [{"id": "ok", "type": "approval", "title": "May it?", "approvers": {"users": ["ada", "ben"]}}],
}
REVOCABLE: dict[str, Any] = {
    "name": "revocable",
    "nodes": [{"id": "ok", "type": "approval", "undo": "1h", "leads_to": {"approved": "It is paid."}}],
}
CALLING: dict[str, Any] = {
    "name": "calling",
    "nodes": [{"id": "pick", "type": "callback", "call": "order_goods", "input": {"token": "${callback.token}"}}],
}
LISTENING: dict[str, Any] = {
    "name": "listening",
    "nodes": [{"id": "paid", "type": "wait_signal", "signal": "paid", "key": "${input.order}"}],
}
RESTING: dict[str, Any] = {"name": "resting", "nodes": [{"id": "nap", "type": "delay", "duration": "3d"}]}
TRYING: dict[str, Any] = {
    "name": "trying",
    "nodes": [
        {
            "id": "charge",
            "type": "charge",
            "input": {"amount": "${input.amount}"},
            "retry": {"max_attempts": 5, "delay": "1d", "max_delay": "1d"},
        }
    ],
}
LACKING: dict[str, Any] = {"name": "lacking", "nodes": [{"id": "pay", "type": "nobody_has_it"}]}

tokens: list[str] = []
broken: list[bool] = []


@node
def order_goods(token: str) -> None:
    """Remember where to reply to."""
    tokens.append(token)


@node
def charge(amount: int) -> int:
    """Fail while something is broken."""
    if broken:
        raise ValueError("it is broken")
    return amount


def charging() -> Workflow:
    """Return a workflow that is built in Python."""
    made = Workflow("charging")
    made.call("charge", charge, input={"amount": "${input.amount}"})
    return made


async def _tried(play: Play, newest: Any) -> None:
    """What a definition would change and do, and where executions rest."""
    door = play.door
    await play.do(newest, "compare", {**ECHO, "variables": {"x": 2}})
    await play.do(newest, "compare", "name: echo\nnodes:\n  - {id: a, type: end}\n")
    await play.refused(newest, "compare", {**ECHO, "name": "other"})
    await play.refused(newest, "compare", "name: [")
    await play.do(newest, "resting")
    await play.do(newest, "dry_run", {"a": 1})
    await play.do(door, "dry_run", ECHO, {"a": 1})
    await play.do(door, "dry_run", ASKING, answers={"size": 5, "review": True})
    await play.refused(door, "dry_run", {"name": "x", "nodes": []})
    await play.refused(door, "dry_run", "name: [")
    asking = await play.do(door, "workflow", "asking")
    await play.do(asking, "dry_run", answers={"size": 5, "review": True})
    await play.do(asking, "dry_run")
    await play.refused(asking, "dry_run", answers={"size": "no number"})


async def workflows(play: Play) -> None:
    """Definitions, their versions, and whether they may be started."""
    door = play.door
    echo = await play.do(door, "register", ECHO)
    await play.do(door, "register", {**ECHO, "variables": {"x": 1}})
    for source in (ASKING, REVIEW, REVOCABLE, CALLING, LISTENING, RESTING, charging(), TRYING):
        await play.do(door, "register", source)
    await play.do(door, "register", LACKING, allow_unknown=True)
    await play.refused(door, "register", LACKING)
    await play.refused(door, "register", {"name": "x", "nodes": []})
    await play.refused(door, "register", "name: [")
    await play.refused(door, "register", "name: x\nnodes:\n  - {id: a, type: ennd}\n")
    await play.do(door, "check", {"name": "x", "nodes": [{"id": "a", "type": "ennd"}]})
    await play.do(door, "check", "name: x\nnodes:\n  - {id: a, type: ennd}\n")
    await play.do(door, "check", ASKING)
    await play.do(door, "check", LACKING, allow_unknown=True)
    await play.listed(door, "workflows")
    newest = await play.do(door, "workflow", "echo")
    await play.do(door, "workflow", "echo", version=1)
    await play.refused(door, "workflow", "nothing")
    await play.refused(door, "workflow", "echo", version=7)
    await play.do(echo, "refresh")
    await play.listed(echo, "versions")
    await play.do(newest, "graph")
    await play.do(newest, "source")
    written = await play.call(door, "register", "# Says nothing\nname: written\nnodes: [{id: a, type: end}]\n")
    assert (await play.call(written, "source")).as_written
    await play.do(
        await play.call(door, "register", json.dumps({"name": "written", "nodes": [{"id": "a", "type": "end"}]})),
        "source",
    )
    await play.do(newest, "diff")
    await play.do(newest, "diff", 2, 1)
    await play.refused(newest, "diff", 1, 9)
    await _tried(play, newest)
    bundle = await play.do(door, "export_workflows", "echo", "asking")
    await play.do(door, "export_workflows")
    await play.refused(door, "export_workflows", "nothing")
    await play.do(door, "import_workflows", bundle)
    await play.do(newest, "deactivate", "broken")
    await play.refused(door, "start", "echo")
    await play.do(newest, "activate")
    await play.do(newest, "pause", "lunch", running=True)
    held = await play.call(door, "start", "echo")
    await play.refused(newest, "pause", until_cron="@daily", resume_on={"signal": "open"})
    await play.refused(newest, "resume", on={"signal": "open", "filter": "signal.dota"})
    await play.do(newest, "pause", resume_on={"signal": "open", "key": "k", "filter": "signal.data == 1"})
    await play.do(newest, "refresh")
    await play.call(newest, "resume", cron="@daily", zone="Europe/Berlin")
    await play.do(newest, "clear_resume")
    await play.do(newest, "resume")
    await play.refused(newest, "resume", cron="@daily")
    await play.refused(newest, "clear_resume")
    await play.do(held, "result")


async def _searches(play: Play, door: Any, id_: str) -> None:
    await _views(play, door)
    await _settings(play, door)
    await _nodes(play, door)
    await _events(play, await play.call(door, "execution", id_))
    early, late = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    await play.listed(door, "executions", since=early, until=late, min_duration="0s", max_duration=timedelta(days=1))
    await play.listed(door, "executions", since=late)
    await play.listed(door, "executions", correlation_id="c-1", min_resumes=0)
    await play.listed(door, "executions", error_code="none")
    await play.listed(door, "executions", q=id_[:13])
    await play.refused(door, "executions", since=datetime(2000, 1, 1))  # noqa: DTZ001 - it has no zone
    await play.refused(door, "executions", min_duration="long")
    await play.refused(door, "executions", min_resumes=-1)
    await play.refused(door, "executions", q="")
    await play.do(door, "waiting_counts")
    for wanted in (
        {"on": "person"},
        {"on": ["timer", "retry"]},
        {"resumed": True},
        {"node_type": "form", "user": "eve"},
    ):
        await play.listed(door, "executions", **wanted)
    for wrong in ({"on": "nobody"}, {"resumed": "yes"}, {"user": ""}, {"node_type": "x" * 300}):
        await play.refused(door, "executions", **wrong)
    await play.refused(door, "executions", order="paused", q="c")
    await play.refused(door, "executions", status="sleeping")
    await play.refused(door, "executions", order="random")


async def starting(play: Play) -> None:
    """Starting executions, and reading what became of them."""
    door = play.door
    given = {"n": 1, "tier": "gold"}
    done = await play.do(
        door,
        "start",
        "echo",
        given,
        version=1,
        tags=["t"],
        priority=3,
        correlation_id="c",
        trigger={"by": "hand"},
        until="end",
        timeout="30s",
    )
    await play.do(door, "run", await play.call(door, "workflow", "echo"), {"a": [1, None]}, timeout="30s")
    await play.do(door, "run", "echo")
    paused = await play.do(door, "start", "asking", until="people", idempotency_key="once")
    again = await play.do(door, "start", "asking", idempotency_key="once")
    assert again.id == paused.id
    await play.refused(door, "start", "asking", {"other": 1}, idempotency_key="once")
    own = await play.do(door, "start", "echo", id=NOBODY_HAS_IT, until="end")
    await play.refused(door, "start", "echo", id=NOBODY_HAS_IT)
    await play.do(door, "start", "echo", id=NOBODY_HAS_IT, on_conflict="return", until="end")
    await play.refused(door, "start", "nothing")
    await play.refused(door, "start", "echo", version=9)
    await play.refused(door, "start", "echo", id="x")
    await play.refused(door, "start", "echo", object())
    await play.refused(door, "start", "echo", {"n": float("nan")})
    await play.refused(door, "start", "echo", {"$secret": "X"})
    await play.refused(door, "start", "echo", until="soon")
    await play.refused(door, "start", "echo", timeout=5)
    await play.refused(door, "start", "echo", delay="soon")
    await play.refused(door, "start", "echo", on_conflict="perhaps")
    await play.refused(door, "run", "asking", timeout="0s")
    delayed = await play.do(door, "start", "echo", delay="1h")
    await play.do(delayed, "why")
    await play.do(delayed, "cancel", "not needed")
    await play.do(door, "execution", own.id)
    await play.refused(door, "execution", "11111111-1111-4111-8111-111111111111")
    await play.refused(door, "execution", "x")
    await play.listed(door, "executions")
    await play.listed(door, "executions", workflow="echo", status=["completed"], where=["input.n=1"], tag="t")
    await play.listed(door, "executions", contains={"tier": "gold"})
    await play.listed(door, "executions", order="paused", workflow="asking")
    await play.listed(door, "executions", parent_id=own.id)
    await _searches(play, door, own.id)
    await play.refused(door, "executions", where=["nonsense"])
    await play.refused(door, "executions", order="paused", tag="t")
    await play.do(door, "counts")
    for listed in ("history", "replay"):
        await play.listed(done, listed)
        await play.listed(done, listed, since=2)
    for followed in ("events", "watch"):
        play.note(followed, await play.iterated(await play.call(done, followed, since=1)))
    play.note("logs", await play.iterated(await play.call(done, "logs", node="a", follow=False)))
    for wanted in ({}, {"parent": "", "status": "completed"}, {"parent": "nothing"}, {"context_id": "out"}):
        await play.listed(done, "nodes", **wanted)
    await play.listed(done, "legs")
    await play.listed(done, "resume_queue")
    await play.do(done, "graph")
    await play.do(paused, "why")
    await play.do(done, "why")
    await play.do(paused, "cancel")


async def _views(play: Play, door: Any) -> None:
    await play.do(door, "views")
    wanted = {"workflow": "echo", "status": ["completed"], "where": ["input.n=1"], "min_duration": "0s"}
    saved = await play.call(door, "save_view", "mine", **wanted, until="2999-01-01T00:00:00Z")
    assert (await play.call(door, "view", "mine")) == saved == (await play.call(door, "views"))[0]
    await play.listed(door, "executions", **saved.arguments())
    for name in ("", "x" * 101, "a/b", "..", "\n"):
        await play.refused(door, "save_view", name)
    for more in ({"since": "soon"}, {"where": ["x"]}, {"max_duration": "long"}, {"status": ["lost"]}, {"unknown": 1}):
        await play.refused(door, "save_view", "mine", **more)
    await play.refused(door, "save_view", "mine", contains={"a": "x" * 20_000})
    await play.do(door, "delete_view", "mine")
    for act in ("view", "delete_view"):
        await play.refused(door, act, "mine")


async def _settings(play: Play, door: Any) -> None:
    await play.do(door, "my_settings")
    for wanted in ({"theme": "dark", "landing": "executions"}, {"single_keys": False, "zone": "utc"}, {}):
        saved = await play.call(door, "save_my_settings", **wanted)
        assert (await play.call(door, "my_settings")) == saved
    for wrong in ({"theme": "pink"}, {"zone": 1}, {"single_keys": "no"}, {"landing": "nowhere"}, {"unknown": 1}):
        await play.refused(door, "save_my_settings", **wrong)


async def _nodes(play: Play, door: Any) -> None:
    early, late = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    for wanted in (
        {"workflow": "echo", "node": "out", "status": "completed", "tag": "t"},
        {"type": "form", "since": early, "until": late, "workflow": "echo"},
        {"workflow": "echo", "error_code": "none", "min_duration": "0s", "max_duration": "1h", "min_resumes": 0},
    ):
        await play.listed(door, "node_executions", **wanted)
    for wrong in ({"status": "lost"}, {"node": ""}, {"min_resumes": -1}, {"min_duration": "long"}, {"since": 1}):
        await play.refused(door, "node_executions", **wrong)


async def _events(play: Play, done: Any) -> None:
    for wanted in (
        {"since": 1, "until": 3, "order": "newest"},
        {"type": "ExecutionCompleted"},
        {"type": ["NodeCompleted", "NodeStarted"], "context_id": "out"},
        {"context_id": "nowhere"},
        {"since": 3, "until": 1},
    ):
        await play.listed(done, "history", **wanted)
    for wrong in ({"type": "Nothing"}, {"order": "best"}, {"until": -1}, {"context_id": ""}):
        await play.refused(done, "history", **wrong)


async def _plan_repeats(play: Play, one: Any) -> None:
    await play.call(one, "plan_rewind", "size")
    await play.refused(one, "plan_rewind", "nowhere")
    await play.refused(one, "move", 99)
    await play.refused(one, "move", 1)
    await play.refused(one, "plan_retry")


async def waiting_for_time(play: Play) -> None:
    """Delays and retries that are run now, listed and cancelled."""
    door = play.door
    asleep = await play.do(door, "start", "resting", until="rest")
    await play.refused(asleep, "run_now", "nowhere")
    await play.refused(asleep, "run_now", "")
    await play.refused(asleep, "cancel_retry", "nap")
    await play.do(asleep, "run_now", "nap", reason="now", idempotency_key="n")
    await play.do(asleep, "result", timeout="30s")
    await play.refused(asleep, "run_now")
    broken.append(True)
    retried = await play.do(door, "start", "trying", {"amount": 7}, until="rest")
    await play.listed(door, "retries", workflow="trying")
    await play.listed(door, "retries")
    await play.do(retried, "cancel_retry", "charge", reason="enough")
    broken.clear()
    await play.refused(retried, "result", timeout="30s")


async def stopping_before_nodes(play: Play) -> None:
    """Breakpoints, of one execution and of all of a workflow."""
    door = play.door
    one = await play.do(door, "start", "asking", until="people")
    await play.refused(one, "clear_breakpoint")
    await play.refused(one, "pause", before="nowhere")
    await play.refused(one, "pause", before="")
    await play.refused(one, "pause", before="review", until=datetime(2999, 1, 1, tzinfo=UTC))
    await play.do(one, "pause", "look", before="review", idempotency_key="b")
    await play.do(one, "pause", before="size")
    await play.do(one, "clear_breakpoint", "size")
    await play.do(one, "answer", "size", 7)
    await play.do(one, "wait", "people", timeout="30s")
    await play.do(one, "resume")
    await play.do(one, "cancel")
    workflow = await play.do(door, "workflow", "asking")
    await play.refused(workflow, "pause", before="nowhere")
    await play.refused(workflow, "pause", before="size", running=True)
    await play.refused(workflow, "clear_breakpoint")
    await play.call(workflow, "pause", before="size")
    await play.do(door, "start", "asking", until="people")
    await play.call(workflow, "clear_breakpoint", "size")


async def forking(play: Play) -> None:
    """Executions that begin with results of another one."""
    door = play.door
    origin = await play.do(door, "start", "asking", until="people")
    await play.call(origin, "answer", "size", 5)
    await play.do(origin, "wait", "people")
    await play.do(origin, "plan_fork")
    await play.do(origin, "plan_fork", "size")
    await play.do(origin, "plan_fork", 1)
    await play.refused(origin, "plan_fork", "nowhere")
    await play.refused(origin, "plan_fork", 999)
    await play.refused(origin, "plan_fork", -1)
    await play.refused(origin, "plan_fork", True)
    await play.refused(origin, "plan_fork", version=99)
    await play.refused(origin, "fork", "size", reason="x" * 300)
    fork = await play.do(origin, "fork", reason="again", idempotency_key="f")
    await play.do(fork, "wait", "people")
    await play.listed(fork, "nodes")
    await play.do(fork, "cancel")
    again = await play.do(origin, "fork", "size", input={"other": True})
    await play.do(again, "wait", "people")
    await play.do(again, "cancel")
    await play.do(origin, "refresh")
    await play.do(origin, "cancel")


async def operating(play: Play) -> None:
    """What operators do to executions."""
    door = play.door
    one = await play.do(door, "start", "asking", until="people")
    await play.do(one, "pause", "lunch", idempotency_key="p")
    await play.do(one, "why")
    far = datetime(2999, 1, 1, tzinfo=UTC)
    await play.refused(one, "pause", until=far, until_cron="@daily")
    await play.refused(one, "pause", until=datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is refused
    await play.refused(one, "resume", cron="0 0 30 2 *")
    await play.refused(one, "resume", cron="@daily", zone="Europe/Bielefeld")
    await play.refused(one, "resume", {"note": 1}, cron="@daily")
    await play.call(one, "resume", cron="@daily", zone="Europe/Berlin")
    await play.call(one, "pause", until_cron="@daily")
    await play.refused(one, "pause", resume_on={"signal": "paid"}, until_cron="@daily")
    await play.refused(one, "resume", on={"signal": "paid", "filter": "signal.dota"})
    await play.refused(one, "resume", on={"key": "k"})
    await play.do(one, "pause", resume_on={"signal": "paid", "key": "k", "filter": "signal.data == 1"})
    await play.do(one, "why")
    await play.do(one, "resume", on=ResumeSignal(signal="paid"))
    await play.do(one, "clear_resume")
    await play.do(one, "resume", {"note": 1}, reason="back")
    await play.refused(one, "resume")
    await play.refused(one, "wait", timeout="0s")
    await play.refused(one, "wait", "later")
    await play.refused(one, "result", timeout="0s")
    await play.do(one, "wait", "people", timeout="30s")
    await play.call(one, "answer", "size", 5)
    await play.do(one, "wait", "people")
    await _plan_repeats(play, one)
    await play.do(one, "rewind", "size", reason="wrong size")
    await play.refused(one, "rewind", "nowhere")
    await play.do(one, "wait", "rest")
    await play.do(one, "refresh")
    await play.do(one, "cancel", "enough")
    await play.refused(one, "retry")
    await play.refused(one, "pause")
    await play.refused(one, "result")
    broken.append(True)
    failed = await play.do(door, "start", "charging", {"amount": 7}, until="end")
    await play.refused(failed, "result")
    await play.refused(door, "run", "charging", {"amount": 7})
    broken.clear()
    await play.call(failed, "plan_retry")
    await play.call(failed, "retry", reason="mended")
    await play.do(failed, "result", timeout="30s")
    lacking = await play.do(door, "start", "lacking", until="rest")
    await play.refused(lacking, "result")
    await play.refused(lacking, "wait", "end", timeout="30s")
    await play.do(lacking, "why")
    await play.do(lacking, "cancel")


async def people(play: Play) -> None:
    """Pause points, and what people say to them."""
    door = play.door
    one = await play.do(door, "start", "asking", until="people")
    size = await play.do(one, "point", "size")
    await play.refused(one, "point", "nowhere")
    await play.refused(one, "point", "review")
    await play.do(door, "point", size.id)
    await play.refused(door, "point", "x")
    await play.listed(door, "points")
    await play.listed(door, "points", execution_id=one.id, workflow="asking", kind="form", status=["open", "answered"])
    await play.listed(door, "points", execution_id=one.id, status=())
    await play.listed(one, "points")
    await play.listed(one, "points", status=[], children=True)
    await play.refused(door, "points", kind="question")
    await play.refused(door, "points", status="opened")
    await play.refused(one, "points", status="opened")
    await play.listed(door, "inbox")
    await play.listed(door, "inbox", user="ben", roles=["approver"], workflow="asking")
    await play.refused(size, "answer", "no number")
    await play.refused(one, "answer", "size", "no number")
    await play.call(size, "answer", 5, comment="c", idempotency_key="a")
    await play.call(one, "wait", "people")
    await play.do(size, "refresh")
    await play.refused(size, "answer", 6)
    await play.refused(size, "cancel")
    review = await play.do(one, "point", "review")
    await play.refused(review, "answer", {"approved": True})
    await play.refused(review, "approve", seen="0" * 64)
    await play.refused(review, "approve", seen="what I saw")
    await play.call(review, "approve", comment="fine", seen=review.view)
    await play.do(one, "result")
    await play.do(review, "refresh")
    await play.listed(one, "points", status="applied")
    two = await play.call(door, "start", "review", until="people")
    point = await play.do(two, "point", "ok")
    await before_deciding(play, point)
    await play.do(two, "cancel")
    await play.refused(point, "approve")
    three = await play.call(door, "start", "review", until="people")
    rejected = await play.call(three, "point", "ok")
    await play.call(rejected, "reject", {"why": "too dear"}, comment="no")
    await play.refused(three, "result")
    four = await play.call(door, "start", "review", until="people")
    await play.do(four, "resume", {"note": 2}, approved=True, reason="in a hurry")
    await play.call(four, "wait")
    await play.do(four, "refresh")
    five = await play.call(door, "start", "asking", until="people")
    given_up = await play.call(five, "point", "size")
    await play.do(given_up, "cancel", "nobody needs it", idempotency_key="g")
    await play.refused(five, "result")


async def proofs(play: Play) -> None:
    """The receipt of a decision, and the keys that prove it."""
    one = await play.call(play.door, "start", "review", until="people")
    point = await play.call(one, "point", "ok")
    await play.refused(point, "receipt")
    await play.call(point, "approve", comment="fine")
    await play.call(one, "wait")
    receipt = await _sealed(play, point)
    said = json.loads(base64.b64decode(receipt.entry))
    play.note("receipt", {name: said[name] for name in ("user", "act", "target", "after", "details")})
    play.note("seal", (receipt.seal.key_id, receipt.signature, receipt.view))
    await play.refused(point, "receipt", "ben")
    await play.do(play.door, "audit_keys")


async def _sealed(play: Play, point: Any) -> Any:
    """Return the receipt of a decision once that is sealed."""
    while True:
        try:
            return await play.call(point, "receipt")
        except WrongState as error:
            if error.code != "not_final":
                raise
            await asyncio.sleep(0.05)


async def linking(play: Play) -> None:
    """Links to a point: made, and revoked."""
    one = await play.call(play.door, "start", "review", until="people")
    point = await play.call(one, "point", "ok")
    link = await play.call(point, "create_link", "cleo", expires_in="1d")
    assert "/d/" in link.url
    play.note("link", (link.user, link.expires_at is not None))
    await play.do(point, "revoke_links", "cleo")
    await play.do(point, "revoke_links")
    await play.call(one, "cancel")


async def second_thoughts(play: Play) -> None:
    """Answers that are taken back."""
    one = await play.call(play.door, "start", "revocable", until="people")
    point = await play.do(one, "point", "ok")
    await play.refused(point, "take_back")
    await play.do(point, "approve", comment="yes")
    await play.refused(point, "receipt")
    await play.do(point, "take_back", "the wrong one", idempotency_key="t")
    await play.do(point, "take_back", "the wrong one", idempotency_key="t")
    await play.refused(point, "take_back", "x" * 256)
    await play.do(point, "reject")
    await play.call(one, "cancel")
    await play.refused(point, "take_back")


async def before_deciding(play: Play, point: Any) -> None:
    """Claims, questions and delegates of a point."""
    await play.do(point, "claim")
    await play.do(point, "ask", "Which one?", to="ben")
    await play.do(point, "ask", "And why?", to="ben", idempotency_key="q")
    await play.refused(point, "ask", "")
    await play.refused(point, "ask", "x" * 2_001)
    await play.do(point, "reply", "This one.")
    await play.refused(point, "reply", "That one.", number=1)
    await play.refused(point, "reply", "This one.", number=0)
    await play.do(point, "release")
    await play.do(point, "claim", take=True, idempotency_key="c")
    await play.do(point, "delegate", "cleo", comment="on leave")


async def systems(play: Play) -> None:
    """Signals and callbacks."""
    door = play.door
    sent = await play.do(door, "signal", "paid", {"n": 1}, key="k0", id="once")
    await play.do(door, "signal", "paid", {"n": 1}, key="k0", id="once")
    assert sent.id == "once"
    waits = await play.do(door, "start", "listening", {"order": "k1"}, until="rest")
    await play.do(door, "signal", "paid", {"n": 2}, key="k1", id="twice")
    await play.do(waits, "result")
    tokens.clear()
    done = await play.do(door, "start", "calling", until="rest")
    callback = await play.call(door, "callback", tokens[0])
    await play.do(callback, "heartbeat")
    await play.do(callback, "complete", {"pallet": 7})
    await play.do(done, "result")
    await play.refused(callback, "complete")
    await play.refused(callback, "heartbeat")
    await play.refused(await play.call(door, "callback", "no-token"), "complete")
    failed = await play.call(door, "start", "calling", until="rest")
    second = await play.call(door, "callback", tokens[1])
    await play.do(second, "fail", "sold out", retryable=False)
    await play.refused(failed, "result")
    await play.refused(door, "callback")


async def access(play: Play) -> None:
    """Who acts, what was done, and API keys."""
    door = play.door
    await play.do(door, "me")
    made = await play.do(
        door, "create_api_key", "import", user="bob", roles=["viewer"], scopes=["execution:read"], expires_in="1h"
    )
    assert made.key is not None
    assert made.key.startswith("lay_")
    rotated = await play.do(door, "rotate_api_key", made.id, grace="1h")
    await play.do(door, "delete_api_key", rotated.id)
    await play.refused(door, "delete_api_key", rotated.id)
    await play.refused(door, "rotate_api_key", NOBODY_HAS_IT)
    await play.refused(door, "create_api_key", "k", user="bob", roles=["viewer"], scopes=["everything"])
    await play.refused(door, "create_api_key", "", user="bob", roles=["viewer"])
    await play.refused(door, "create_api_key", "k", user="bob", roles=["viewer"], expires_in="0s")
    await play.do(door, "create_sign_in_link", "bob", roles=["viewer"], scopes=["execution:read"], expires_in="5m")
    await play.refused(door, "create_sign_in_link", "", roles=["viewer"])
    await play.refused(door, "create_sign_in_link", "bob", roles=["viewer"], expires_in="25h")
    await play.refused(door, "create_sign_in_link", "bob", roles=["viewer"], scopes=["everything"])
    await play.listed(door, "sessions")
    await play.listed(door, "sessions", user="bob")
    await play.refused(door, "end_session", NOBODY_HAS_IT)
    await play.refused(door, "end_session", "x")
    keys = await play.call(await play.call(door, "api_keys"), "all")
    play.note("api keys", [one for one in keys if one.user == "bob"])  # the door itself may have one, too
    await play.listed(door, "secrets")
    await play.listed(door, "audit", user="ada")
    await play.listed(door, "audit", user="ada", act="key.add")
    await play.listed(door, "audit", target=made.id)
    await play.listed(door, "audit", execution_id=NOBODY_HAS_IT)


async def values_out_of_bounds(play: Play) -> None:
    """Values that no door takes, and ids that nothing has."""
    door, long = play.door, "x" * 10_001
    starts: tuple[dict[str, Any], ...] = (
        {"idempotency_key": ""},
        {"idempotency_key": long},
        {"priority": 10**9},
        {"priority": "high"},
        {"tags": "one"},
        {"tags": [""]},
        {"tags": ["t"] * 51},
        {"correlation_id": long},
        {"version": 0},
        {"delay": timedelta(seconds=-1)},
        {"trigger": float("inf")},
    )
    for named in starts:
        await play.refused(door, "start", "echo", **named)
    await play.refused(door, "start", "not a name!")
    for name in ("", "a/b", "not a name!"):
        await play.refused(door, "workflow", name)
        await play.refused(door, "export_workflows", name)
    await play.refused(door, "workflow", "echo", version=-1)
    for id_ in ("", "a/b", ".."):
        await play.refused(door, "execution", id_)
        await play.refused(door, "point", id_)
        await play.refused(door, "delete_api_key", id_)
        await play.refused(await play.call(door, "callback", id_), "complete")
    filters: tuple[dict[str, Any], ...] = (
        {"workflow": "not a name!"},
        {"tag": ""},
        {"parent_id": "x"},
        {"contains": [1]},
        {"contains": {"a": object()}},
        {"where": ["input.a=1"] * 21},
        {"where": long},
    )
    for named in filters:
        await play.refused(door, "executions", **named)
    await play.refused(door, "points", workflow="not a name!")
    await play.refused(door, "points", execution_id="x")
    await play.refused(door, "inbox", user="")
    await play.refused(door, "inbox", roles=["approver"])
    await play.refused(door, "audit", execution_id="x")
    await play.refused(door, "signal", "")
    await play.refused(door, "signal", "paid", key=long)
    await play.refused(door, "signal", "paid", id="")
    await play.refused(door, "create_api_key", "k", user="bob", roles="viewer")
    for name in ("executions", "workflows", "points", "inbox", "audit", "api_keys", "secrets", "triggers"):
        listing = await play.call(door, name)
        await play.refused(listing, "page", limit=0)
        await play.refused(listing, "page", cursor="nonsense!")
    for source in (b"name: x", {"name": "x", "nodes": [object()]}, {"name": "x", "nodes": [float("nan")]}, "a: \ud800"):
        await play.refused(door, "register", source)
    await play.do(door, "check", "a: \ud800")


async def acts_out_of_bounds(play: Play) -> None:
    """Acts with values that no handle takes."""
    door, long = play.door, "x" * 10_001
    echo = await play.call(door, "workflow", "echo")
    await play.refused(echo, "pause", long)
    await play.refused(echo, "deactivate", long)
    await play.refused(echo, "diff", 0, 1)
    one = await play.call(door, "start", "asking", until="people")
    await play.refused(one, "pause", long)
    await play.refused(one, "cancel", idempotency_key="ü")
    await play.refused(one, "plan_rewind", "")
    await play.refused(one, "move", 0)
    await play.refused(one, "move", 1, map={"a b": "c"})
    await play.refused(one, "move", 1, reason=long)
    await play.refused(one, "plan_rewind", long)
    await play.refused(one, "rewind", "")
    await play.refused(one, "rewind", long)
    await play.refused(one, "resume", [1])
    await play.refused(one, "point", "")
    await play.refused(one, "point", "a:::")
    await play.refused(one, "history", since=-1)
    await play.refused(one, "nodes", status="odd")
    await play.refused(one, "nodes", parent="x" * 5_000)
    await play.refused(one, "events", since=-1)
    await play.refused(one, "watch", since=-1)
    await play.refused(one, "logs", node="x" * 5_000)
    await play.refused(await play.call(one, "history"), "page", cursor="nonsense!")
    point = await play.call(one, "point", "size")
    await play.refused(point, "answer", 5, comment=long)
    await play.refused(point, "delegate", "")
    await play.refused(point, "create_link", "")
    await play.refused(point, "create_link", "ben", expires_in="soon")
    await play.refused(point, "revoke_links", "")
    await play.refused(point, "delegate", "ben")
    await play.refused(point, "approve")
    await play.refused(await play.call(door, "callback", "t"), "fail", long)
    await play.do(one, "cancel")
    await play.do(one, "wait", timeout="0s")  # it is so already


async def repeating(play: Play) -> None:
    """Acts that come again: the same key with the same input returns what there is, with other input it is refused."""
    one = await play.call(play.door, "start", "asking", until="people")
    for _ in range(2):
        await play.do(one, "pause", "lunch", idempotency_key="k")
    await play.refused(one, "pause", "tea", idempotency_key="k")
    for _ in range(2):
        await play.do(one, "resume", {"note": 1}, idempotency_key="k")
    await play.refused(one, "resume", {"note": 2}, idempotency_key="k")
    size = await play.call(one, "point", "size")
    await play.call(size, "answer", 5, idempotency_key="k")
    await play.call(one, "wait", "people")
    await play.do(size, "answer", 5, idempotency_key="k")
    await play.do(size, "answer", 5)
    await play.refused(size, "answer", 6, idempotency_key="k")
    await play.refused(size, "answer", 6)
    review = await play.call(one, "point", "review")
    for _ in range(2):
        await play.do(review, "delegate", "ben", idempotency_key="k")
    await play.refused(review, "delegate", "cleo", idempotency_key="k")
    for _ in range(2):
        await play.do(one, "rewind", "size", reason="wrong", idempotency_key="k")
        await play.call(one, "wait", "people")
    await play.refused(one, "rewind", "review", idempotency_key="k")
    point = await play.call(one, "point", "size")
    for _ in range(2):
        await play.do(point, "cancel", "never mind", idempotency_key="k")
    await play.refused(point, "cancel", "mind", idempotency_key="k")
    two = await play.call(play.door, "start", "asking", until="people")
    for _ in range(2):
        await play.do(two, "cancel", "enough", idempotency_key="k")
    await play.refused(two, "cancel", "too much", idempotency_key="k")


async def ending(play: Play) -> None:
    """A workflow that is deleted, and a door that is closed."""
    door = play.door
    echo = await play.call(door, "workflow", "echo")
    await play.do(echo, "delete")
    await play.refused(door, "workflow", "echo")
    await play.refused(echo, "refresh")
    await play.refused(door, "close", 5)
    await play.do(door, "close", "1s")
    await play.refused(door, "counts")


SCENES = (
    workflows,
    starting,
    operating,
    waiting_for_time,
    stopping_before_nodes,
    forking,
    people,
    proofs,
    second_thoughts,
    linking,
    systems,
    triggers,
    deliveries,
    monitoring,
    access,
    values_out_of_bounds,
    acts_out_of_bounds,
    repeating,
    moves,
    batches,  # after the audit log was read, in which its acts are in no certain order
    ending,
)
