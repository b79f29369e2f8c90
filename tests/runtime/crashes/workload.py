"""What the processes run that are to die: a little of everything, each execution with an output known in advance.

Whatever drives it can be begun again at any time: starts have keys, answers too, and an execution that was held before
is let go. What nodes do is kept outside of the engine, in a file that survives: one line for each call that began.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.records import CLOSED
from layover.runtime.errors import AnswerRefused, ExecutionCancelled, WrongState
from layover.runtime.ids import id_from_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover import Engine
    from layover.nodes.registry import AnyFunction

SIZE = "{type: object, required: [size]}"
WORKFLOWS = {
    "chain": "[{id: a, type: work, next: b}, {id: b, type: threaded, next: c}, {id: c, type: work}]",
    "retry": "[{id: a, type: third_time, retry: {max_attempts: 9, delay: 5ms}, next: b}, {id: b, type: work}]",
    "timer": "[{id: a, type: work, next: nap}, {id: nap, type: delay, duration: 30ms, next: b}, {id: b, type: work}]",
    "loop": "[{id: each, type: loop, for_each: '[1, 2, 3]', body: [{id: a, type: work}]}]",
    "parallel": "[{id: all, type: parallel, branches: ["
    "{id: l, body: [{id: a, type: work, next: nap}, {id: nap, type: delay, duration: 20ms}]},"
    " {id: r, body: [{id: b, type: work, next: c}, {id: c, type: threaded}]}], next: d}, {id: d, type: work}]",
    "form": f"[{{id: a, type: work, next: ask}}, {{id: ask, type: form, schema: {SIZE}, next: b}},"
    " {id: b, type: work}]",
    "forms": "[{id: both, type: parallel, branches: ["
    f"{{id: l, body: [{{id: ask_l, type: form, schema: {SIZE}, next: a}}, {{id: a, type: work}}]}},"
    f" {{id: r, body: [{{id: ask_r, type: form, schema: {SIZE}, next: b}}, {{id: b, type: work}}]}}]}}]",
    "held": "[{id: a, type: work, next: ask}, {id: ask, type: approval, next: b}, {id: b, type: work}]",
    "late": "[{id: a, type: hangs_once, timeout: 30ms, retry: {max_attempts: 9, delay: 5ms}, next: b},"
    " {id: b, type: work}]",
    "again": "[{id: a, type: fails_once, next: b}, {id: b, type: work}]",
    "unwanted": f"[{{id: a, type: work, next: ask}}, {{id: ask, type: form, schema: {SIZE}}}]",
    "patient": "[{id: a, type: waits, next: b}, {id: b, type: work}]",
    "endless": "[{id: a, type: hangs_once, next: b}, {id: b, type: work}]",
}
OUTPUTS: dict[str, object] = {
    "chain": "c",
    "retry": "b",
    "timer": "b",
    "loop": ["a:each.0", "a:each.1", "a:each.2"],
    "parallel": "d",
    "form": "b",
    "forms": {"l": "a:both.l", "r": "b:both.r"},
    "held": "b",
    "late": "b",
    "again": "b",
    "unwanted": "cancelled",
    "patient": "b",
    "endless": "b",
}
ALWAYS = ("chain", "retry", "timer", "loop", "parallel", "form", "forms", "held", "late", "again", "unwanted")


class Effects:
    """What nodes have done to the world: one line for each call that began."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "effects"

    def add(self, context: NodeContext) -> None:
        """Keep that a call began, for ever."""
        line = f"{context.execution_id} {context.context_id} {context.attempt}\n"
        write(self._path, line)

    def read(self) -> list[tuple[str, str, int]]:
        """Return every call that ever began."""
        if not self._path.exists():
            return []
        words = [line.split() for line in self._path.read_text().splitlines()]
        return [(execution, node, int(attempt)) for execution, node, attempt in words]


def write(path: Path, line: str) -> None:
    """Add a line to a file, such that it is there even if the process dies right after."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())
        os.fsync(file)
    finally:
        os.close(file)


def functions(effects: Effects, until: Callable[[], asyncio.Event] = asyncio.Event) -> list[AnyFunction]:
    """Return the functions that nodes call; `waits` waits for an event."""

    async def work(context: NodeContext) -> str:
        effects.add(context)
        return context.context_id

    def threaded(context: NodeContext) -> str:
        effects.add(context)
        return context.context_id

    async def third_time(context: NodeContext) -> str:
        effects.add(context)
        if context.attempt < 3:
            raise ConnectionError("not yet")
        return context.context_id

    async def hangs_once(context: NodeContext) -> str:
        effects.add(context)
        if context.attempt == 1:
            await asyncio.Event().wait()
        return context.context_id

    async def fails_once(context: NodeContext) -> str:
        effects.add(context)
        if context.attempt == 1:
            raise ConnectionError("not today")
        return context.context_id

    async def waits(context: NodeContext) -> str:
        effects.add(context)
        if context.attempt == 1:
            await until().wait()
        return context.context_id

    return [work, threaded, third_time, fails_once, hangs_once, waits]


async def register(engine: Engine) -> None:
    """Make the workflows known."""
    for name, graph in WORKFLOWS.items():
        await engine.register(f"name: {name}\nnodes: {graph}\n")


def id_of(name: str, copy: int = 0) -> str:
    """Return the id of an execution of the workload."""
    return id_from_key(name, f"{name}-{copy}")


async def begin(engine: Engine, name: str, acks: Path, copy: int = 0) -> str:
    """Start an execution, unless it was before; keep that it was acknowledged."""
    begun = await engine.start(name, key=f"{name}-{copy}", on_conflict="return")
    write(acks, f"{begun.id} {name}\n")
    return begun.id


async def finish(engine: Engine, name: str, copy: int = 0) -> object:
    """Do what people and operators have to do for an execution until it ends; return its output."""
    id_ = id_of(name, copy)
    if name == "held":
        await _hold(engine, id_)
    while True:
        head = await engine.instance.listeners.until(id_, lambda head: head.status in (*CLOSED, "paused"))
        if head is None or head.status in ("completed", "cancelled"):
            return await _result(engine, id_)
        if head.status == "failed":
            with suppress(WrongState):  # another process does the same
                await engine.retry(id_, by="ann")
        elif name == "unwanted":
            with suppress(WrongState):
                await engine.cancel(id_, by="ann")
        else:
            await _answer(engine, id_)


async def _result(engine: Engine, execution_id: str) -> object:
    try:
        return await engine.result(execution_id)
    except ExecutionCancelled:
        return "cancelled"


async def _answer(engine: Engine, execution_id: str) -> None:
    """Answer what is asked, and wait until that is heard; if an operator's hold is in the way, let go."""
    with suppress(AnswerRefused, WrongState):  # another process does the same
        for row in await engine.points(execution_id):
            approved = True if row.point.kind == "approval" else None
            await engine.answer(row.point.id, {"size": 1}, by="ann", approved=approved, key=row.point.id)
        if (await engine.get(execution_id)).paused_reason:
            await engine.resume(execution_id, by="ann")
    await engine.instance.listeners.until(execution_id, lambda head: head.commands_done == head.commands_seq)


async def _hold(engine: Engine, execution_id: str) -> None:
    """Hold an execution twice and let it go, unless that was done before."""
    await engine.instance.listeners.until(execution_id, lambda head: head.status in (*CLOSED, "paused"))
    found = await engine.get(execution_id)
    for _ in range(found.resume_count, 2):
        with suppress(WrongState):  # another process does the same
            if not found.paused_reason:
                await engine.pause(execution_id, "lunch", by="ann")
            found = await engine.resume(execution_id, by="ann")
