"""A database with an execution of every kind in it, and ways to damage it behind the engine's back."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import apsw

from layover.bootstrap import open_runtime, open_store
from layover.core.engine import commands as cmd
from layover.core.engine.codec import decode_events, encode_events
from layover.ports.records import Claim, Enqueue
from layover.ports.view_records import PointFilter
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover.core.engine.events import AnyEvent
    from layover.runtime.runtime import Runtime

Entries: TypeAlias = "list[tuple[int, list[AnyEvent]]]"

FORM = "type: form, schema: {type: object, required: [size]}"
WORKFLOWS = {
    "chain": "[{id: a, type: echo, next: b}, {id: b, type: echo}]",
    "broken": "[{id: a, type: breaks}]",
    "flaky": "[{id: a, type: flaky}]",
    "asking": "[{id: ask, type: approval, approvers: {users: [ann, bob]}, need: 2}]",
    "form": f"[{{id: ask, {FORM}, next: a}}, {{id: a, type: echo, next: again}}, {{id: again, {FORM}}}]",
    "timer": "[{id: nap, type: delay, duration: 1h}]",
    "trying": "[{id: a, type: breaks, retry: {max_attempts: 3, delay: 1h, jitter: 0}}]",
    "around": "[{id: each, type: loop, for_each: '[1, 2]', body: [{id: a, type: echo}], next: both},"
    " {id: both, type: parallel, branches: [{id: l, body: [{id: c, type: echo}]},"
    " {id: r, body: [{id: d, type: delay, duration: 1h}]}]}]",
}

_failing = True


async def echo() -> str:
    return "done"


async def breaks() -> None:
    raise ValueError("no")


async def flaky() -> str:
    if _failing:
        raise ValueError("not yet")
    return "done"


def named(name: str, workflow: str | None = None) -> str:
    """Return the id of an execution in the scene."""
    return id_from_key(workflow or name, name)


async def build(address: str) -> None:
    """Make the database: executions that are done, failed, waiting, asking, held, tried again, driven, and told."""
    global _failing  # noqa: PLW0603 - what a function does is all that can be changed about it
    nodes = [echo, breaks, flaky]
    async with open_runtime(address, nodes=nodes, settings=RuntimeSettings(snapshot_at_rest=1)) as engine:
        for name, graph in WORKFLOWS.items():
            await engine.workflows.register(f"name: {name}\nnodes: {graph}\n")
        await engine.executions.start("form", key="snapshot", wait="rest")
    async with open_runtime(address, nodes=nodes) as engine:
        await _answer(engine, named("snapshot", "form"))
        for name in ("chain", "broken", "flaky", "asking", "form", "timer", "trying", "around"):
            await engine.executions.start(name, key=name, wait="rest")
        for name in ("held", "told", "driven"):
            await engine.executions.start("timer", key=name, wait="rest")
        await engine.executions.start("form", key="reserved", wait="rest")
        await engine.executions.start("asking", key="cancelled", wait="rest")
        (asked,) = await engine.points.list(named("asking"))
        await engine.answers.answer(asked.point.id, by="ann", approved=True)
        await engine.executions.wait(named("asking"), "rest")
        await _answer(engine, named("form"))
        await _answer(engine, named("form"))
        await engine.control.pause(named("held", "timer"), "lunch")
        await engine.control.cancel(named("cancelled", "asking"), "never mind")
        _failing = False
        await engine.control.retry(named("flaky"))
        await engine.executions.wait(named("flaky"))
        _failing = True
    await _leave_unheard(address)


async def _answer(engine: Runtime, execution_id: str) -> None:
    (asked,) = await engine.points.list(execution_id)
    await engine.answers.answer(asked.point.id, {"size": 1}, by="ann")
    await engine.instance.listeners.until(execution_id, lambda head: head.commands_done == head.commands_seq)
    await engine.executions.wait(execution_id, "rest")


async def _leave_unheard(address: str) -> None:
    """Take a command, an answer and a lease, and let nobody act on them."""
    store = open_store(address)
    await store.open("nobody")
    now = await store.now()
    await store.commands.enqueue(
        [Enqueue(execution_id=named("told", "timer"), kind="Pause", body=b"{}", source="x")], now
    )
    (row,) = await store.queries.list_points(PointFilter(execution_id=named("reserved", "form")))
    await store.answers.reserve(cmd.Answer(point=row.point.id, by="ann", data={"size": 1}), "y", now)
    await store.claims.claim(
        Claim(instance="nobody", now=now, lease_until=now + 30_000, execution_id=named("driven", "timer"))
    )
    await store.close()


class Damage:
    """A file that somebody writes to who is not the engine."""

    def __init__(self, path: Path) -> None:
        self._db = apsw.Connection(str(path))

    def __call__(self, statement: str, *, of: str = "") -> None:
        """Run a statement; `:id` is the execution."""
        self._db.execute(statement, {"id": bytes.fromhex(of.replace("-", ""))})
        assert self._db.changes() > 0, f"nothing was damaged by {statement}"

    def edit(self, of: str, change: Callable[[Entries], None]) -> None:
        """Change the events of a log, and keep everything right that counts them."""
        id_ = bytes.fromhex(of.replace("-", ""))
        rows = list(self._db.execute("SELECT at, body FROM events WHERE execution_id = ? ORDER BY seq", (id_,)))
        entries: Entries = [(at, decode_events(body)) for at, body in rows]
        change(entries)
        self._db.execute("DELETE FROM events WHERE execution_id = ?", (id_,))
        seq = 0
        for at, events in entries:
            values = (id_, seq, len(events), at, encode_events(events))
            self._db.execute("INSERT INTO events (execution_id, seq, count, at, body) VALUES (?, ?, ?, ?, ?)", values)
            seq += len(events)
        self._db.execute("UPDATE heads SET last_seq = ? WHERE execution_id = ?", (seq - 1, id_))

    def close(self) -> None:
        self._db.close()
