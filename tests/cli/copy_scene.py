"""A database that was left by a process which was killed, with an execution of every kind in it; and how they go on.

    python -m tests.cli.copy_scene FILE

makes the database, and ends by its own SIGKILL.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from layover.bootstrap import open_runtime
from layover.core.engine import commands as cmd
from layover.ports.commit_points import watch
from layover.ports.records import Enqueue, Signal
from layover.ports.view_records import PointFilter
from layover.runtime.ids import id_from_key
from layover.runtime.maintenance.verify import violations
from layover.runtime.runtime import Runtime
from layover.runtime.settings import RuntimeSettings
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import approval, call, child, delay, end, flow, form

if TYPE_CHECKING:
    from layover.nodes.registry import AnyFunction
    from layover.ports.commit_points import CommitPoint
    from layover.ports.store import Store

HOUR = 3_600_000
_LONGEST = 60  # seconds: far more than it takes; what waits for something that does not come says where it stands
ODD = {"text": "nul \0, duck 🦆, ünïcödé", "n": 1.5}
LARGE = {"text": "x" * 990_000}
PROMPT = RuntimeSettings(poll=20, command_poll=10, outbox_poll=20, grace=100, snapshot_at_rest=1)
UNTOLD = "a signal that nobody was told of"

CALLBACK: dict[str, object] = {
    "id": "pick",
    "type": "callback",
    "call": "ask_outside",
    "input": {"token": "${callback.token}"},
}
WORKFLOWS = [
    flow(end("${input}"), name="echo"),
    flow(call("a", "breaks"), name="broken"),
    flow(call("a", "lost"), end("${nodes.a}"), name="dies"),
    flow(delay(), end("rung"), name="timer"),
    flow(approval(approvers={"users": ["ann", "bob"]}, need=2), end("agreed"), name="two"),
    flow(form(), end("${nodes.ask.size}"), name="asking"),
    flow(child("a", "asking"), end("${nodes.a}"), name="parent"),
    flow(child("a", "echo", input="${input}"), end("${nodes.a}"), name="unsent"),
    flow(
        {"id": "heard", "type": "wait_signal", "signal": "paid", "key": "k"}, end("${nodes.heard.data}"), name="waits"
    ),
    flow(
        {"id": "was", "type": "wait_signal", "signal": "kept", "lookback": "9h"}, end("${nodes.was.data}"), name="back"
    ),
    flow(form(), end("done"), name="one_by_one", settings={"concurrency": {"limit": 1}}),
    flow(call("a", "absent"), end("${nodes.a}"), name="missing"),
    flow(CALLBACK, end("${nodes.pick}"), name="outside"),
    flow(call("a"), call("b"), form(), end("${nodes.ask.size}"), name="by_leg", settings={"durability": "leg"}),
]


def named(workflow: str, key: str = "") -> str:
    """Return the id of an execution in the scene."""
    return id_from_key(workflow, key or workflow)


def tokens(path: Path) -> Path:
    """Return the file that holds the token of the callback."""
    return path.with_suffix(".token")


async def _build(path: Path) -> None:
    begun = asyncio.Event()

    async def lost() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def breaks() -> None:
        raise ValueError("no")

    async def work() -> str:
        return "done"

    async def ask_outside(token: str) -> None:
        tokens(path).write_text(token)

    functions: list[AnyFunction] = [lost, breaks, work, ask_outside]
    async with open_runtime(f"sqlite:///{path}", nodes=functions, settings=PROMPT) as engine:
        for workflow in WORKFLOWS:
            await engine.workflows.register(workflow)
        for name, value in (("odd", ODD), ("large", LARGE)):
            await engine.executions.start("echo", value, key=name, wait="end")
        await engine.executions.start("broken", key="broken", wait="end")
        for name in ("timer", "two", "asking", "parent", "waits", "outside", "by_leg"):
            await engine.executions.start(name, key=name, wait="rest")
        for key in ("held", "told"):
            await engine.executions.start("timer", key=key, wait="rest")
        await engine.executions.start("asking", key="cancelled", wait="rest")
        await engine.executions.start("asking", key="reserved", wait="rest")
        await engine.executions.start("one_by_one", key="first", wait="rest")
        await engine.executions.start("one_by_one", key="second")
        await engine.executions.start("missing", key="missing")
        await engine.control.cancel(named("asking", "cancelled"))
        await engine.control.pause(named("timer", "held"), "lunch")
        await engine.instance.listeners.until(named("missing"), lambda head: bool(head.missing))
        (asked,) = await engine.points.list(named("two"))
        await engine.answers.answer(asked.point.id, by="ann", approved=True, comment="fine 🦆")
        await engine.executions.wait(named("two"), "rest")
        await engine.signals.deliver("kept", data={"n": 1})
        await engine.executions.start("dies", key="dies")
        await begun.wait()
        await _in_line(engine, named("one_by_one", "second"))
        watch(_Executioner(path))
        await engine.executions.start("unsent", ODD, key="unsent", wait="end")
        raise AssertionError("it should be dead by now")


async def _in_line(engine: Runtime, execution_id: str) -> None:
    """Wait until an execution is in line, and nothing of it is on its way."""
    store = engine.instance.store
    while await store.limits.find_admission(execution_id) is None or await store.outbox.list_undelivered(execution_id):
        pass  # its wish is on its way


class _Executioner:
    """Ends the process once a message is in an outbox for an execution that is not there."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)

    def __call__(self, _point: CommitPoint) -> None:
        sender = bytes.fromhex(named("unsent").replace("-", ""))
        if self._db.execute("SELECT count(*) FROM outbox WHERE sender = ?", (sender,)).get:
            os.kill(os.getpid(), signal.SIGKILL)


async def leave_unheard(path: Path) -> None:
    """Take a command, an answer and a signal, and let nobody act on them."""
    store = SqliteStore(path)
    await store.open("nobody")
    now = await store.now()
    await store.commands.enqueue(
        [Enqueue(execution_id=named("timer", "told"), kind="Pause", body=b"{}", source="x")], now
    )
    (row,) = await store.queries.list_points(PointFilter(execution_id=named("asking", "reserved")))
    await store.answers.reserve(cmd.Answer(point=row.point.id, by="ann", data={"size": 3}), "y", now)
    await store.signals.add(Signal(id=UNTOLD, name="paid", key="k", at=now, data=b'{"sum":7}'))
    await store.close()


async def goes_on(store: Store, token: str) -> None:
    """Have an engine take up what was copied, and see all of it through to its end.

    The clock of the store is hours ahead, so that what waits for a moment is due.
    """

    async def lost() -> str:
        return "found"

    async def absent() -> str:
        return "there"

    async def work() -> str:
        return "done"

    async def ask_outside(token: str) -> None:
        raise AssertionError(f"it was asked before, with {token}")

    functions: list[AnyFunction] = [lost, absent, work, ask_outside]
    async with asyncio.timeout(_LONGEST), Runtime(store, nodes=functions, settings=PROMPT) as engine:
        assert await engine.executions.result(named("dies")) == "found"
        assert await engine.executions.result(named("timer")) == "rung"
        assert await engine.executions.result(named("missing")) == "there"
        assert await engine.executions.result(named("unsent")) == ODD
        assert await engine.executions.result(named("waits")) == {"sum": 7}
        assert await engine.executions.result(named("asking", "reserved")) == 3
        assert await engine.executions.result(named("echo", "odd")) == ODD
        assert await engine.executions.result(named("echo", "large")) == LARGE
        assert (await engine.executions.start("back", wait="end")).output == {"n": 1}
        await engine.callbacks.reply(token, {"pallet": 9})
        assert await engine.executions.result(named("outside")) == {"pallet": 9}
        await _answer(engine, named("asking"))
        await _answer(engine, named("by_leg"))
        (asked,) = await engine.points.list(named("two"))
        assert [(given.by, given.comment) for given in asked.point.decisions] == [("ann", "fine 🦆")]
        await engine.answers.answer(asked.point.id, by="bob", approved=True)
        assert await engine.executions.result(named("two")) == "agreed"
        (row,) = [row for row in await engine.lists.list(workflow="asking") if row.info.parent_id == named("parent")]
        await _answer(engine, row.head.execution_id)
        assert await engine.executions.result(named("parent")) == 1
        assert (await engine.queries.get(named("one_by_one", "second"))).status == "pending"
        for key in ("first", "second"):
            await engine.executions.wait(named("one_by_one", key), "rest")
            await _answer(engine, named("one_by_one", key))
        for key in ("held", "told"):
            await engine.instance.listeners.until(named("timer", key), lambda head: head.status == "paused")
            await engine.control.resume(named("timer", key))
            assert await engine.executions.result(named("timer", key)) == "rung"
        assert (await engine.queries.get(named("asking", "cancelled"))).status == "cancelled"
        assert (await engine.queries.get(named("broken"))).status == "failed"
        assert set(await engine.lists.counts()) == {"completed", "failed", "cancelled"}
        assert await violations(store) == []


async def _answer(engine: Runtime, execution_id: str) -> None:
    (asked,) = await engine.points.list(execution_id)
    await engine.answers.answer(asked.point.id, {"size": 1}, by="ann")
    await engine.executions.wait(execution_id)


if __name__ == "__main__":
    asyncio.run(_build(Path(sys.argv[1])))
