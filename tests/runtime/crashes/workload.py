"""What the processes run that are to die: a little of everything, each execution with an output known in advance.

Whatever drives it can be begun again at any time: starts have keys, answers too, and an execution that was held before
is let go. What nodes do is kept outside of the engine, in a file that survives: one line for each call that began.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from layover.core.ids import child_id
from layover.errors import AnswerRefused, CallbackRefused, ExecutionCancelled, WrongState
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.records import CLOSED
from layover.runtime.ids import id_from_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover.nodes.registry import AnyFunction
    from layover.ports.records import Head
    from layover.runtime.runtime import Runtime

SIZE = "{type: object, required: [size]}"
WORKFLOWS = {
    "chain": "[{id: a, type: work, next: b}, {id: b, type: threaded, next: c}, {id: c, type: work}]",
    "retry": "[{id: a, type: third_time, retry: {max_attempts: 9, delay: 5ms}, next: b}, {id: b, type: work}]",
    "timer": "[{id: a, type: work, next: nap}, {id: nap, type: delay, duration: 30ms, next: b}, {id: b, type: work}]",
    "threads": "[{id: each, type: parallel, for_each: '[1, 2, 3, 4, 5, 6]', body: [{id: a, type: threaded}], next: b},"
    " {id: b, type: work}]",
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
    "leg": "[{id: a, type: work, next: b}, {id: b, type: threaded, next: c}, {id: c, type: work, next: d},"
    " {id: d, type: work}]\nsettings: {durability: leg}",
    "leg_form": f"[{{id: a, type: work, next: b}}, {{id: b, type: work, next: ask}},"
    f" {{id: ask, type: form, schema: {SIZE}, next: c}}, {{id: c, type: work, next: d}}, {{id: d, type: work}}]"
    "\nsettings: {durability: leg}",
    "leg_parallel": "[{id: all, type: parallel, branches: ["
    "{id: l, body: [{id: a, type: work, next: nap}, {id: nap, type: delay, duration: 20ms, next: b},"
    " {id: b, type: work}]}, {id: r, body: [{id: c, type: work, next: d}, {id: d, type: threaded}]}], next: e},"
    " {id: e, type: work}]\nsettings: {durability: leg}",
    "limited": "[{id: a, type: work, next: b}, {id: b, type: threaded}]\nsettings: {concurrency: {limit: 1}}",
    "limited_again": "[{id: a, type: fails_once, next: b}, {id: b, type: work}]"
    "\nsettings: {concurrency: {key: x, limit: 1}}",
    "limited_form": f"[{{id: a, type: work, next: ask}}, {{id: ask, type: form, schema: {SIZE}, next: b}},"
    " {id: b, type: work}]\nsettings: {concurrency: {limit: 2}}",
    "limited_unwanted": f"[{{id: a, type: work, next: ask}}, {{id: ask, type: form, schema: {SIZE}}}]"
    "\nsettings: {concurrency: {limit: 1}}",
    "rated": "[{id: a, type: work, next: b}, {id: b, type: work}]"
    "\nsettings: {concurrency: {limit: 1}, rate: {limit: 1, per: 50ms}}",
    "family": "[{id: a, type: workflow, workflow: timer, next: b}, {id: b, type: work}]",
    "families": "[{id: each, type: parallel, for_each: '[1, 2, 3]', body: ["
    "{id: a, type: workflow, workflow: chain}], next: deep}, {id: deep, type: workflow, workflow: family}]",
    "parting": "[{id: a, type: workflow, workflow: chain, detached: true, next: b}, {id: b, type: work}]",
    "asking_family": "[{id: a, type: workflow, workflow: form, next: b}, {id: b, type: work}]",
    "held_family": "[{id: a, type: workflow, workflow: form, next: b}, {id: b, type: work}]",
    "unwanted_family": "[{id: a, type: workflow, workflow: form, next: b}, {id: b, type: work}]",
    "signalled": "[{id: a, type: work, next: first},"
    " {id: first, type: wait_signal, signal: paid, key: '${execution.id}', next: second},"
    " {id: second, type: wait_signal, signal: paid, key: '${execution.id}', next: b}, {id: b, type: work}]",
    "looking_back": "[{id: a, type: work, next: both}, {id: both, type: wait_signal, lookback: 1h, signals:"
    " [{alias: x, signal: sent, key: '${execution.id}'}, {alias: y, signal: seen, key: '${execution.id}'}], next: b},"
    " {id: b, type: work}]",
    "replied": "[{id: a, type: work, next: pick},"
    " {id: pick, type: callback, call: asks, input: {token: '${callback.token}'}, next: b}, {id: b, type: work}]",
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
    "threads": "b",
    "forms": {"l": "a:both.l", "r": "b:both.r"},
    "held": "b",
    "late": "b",
    "again": "b",
    "unwanted": "cancelled",
    "leg": "d",
    "leg_form": "d",
    "leg_parallel": "e",
    "limited": "b",
    "limited_again": "b",
    "limited_form": "b",
    "limited_unwanted": "cancelled",
    "rated": "b",
    "family": "b",
    "families": "b",
    "parting": "b",
    "asking_family": "b",
    "held_family": "b",
    "unwanted_family": "cancelled",
    "signalled": "b",
    "looking_back": "b",
    "replied": "b",
    "patient": "b",
    "endless": "b",
}
OUTSIDE = ("signalled", "looking_back", "replied")
ALWAYS = (
    "chain", "retry", "timer", "loop", "parallel", "form", "forms", "held", "late", "again", "unwanted",
    "family", "families", "parting", *OUTSIDE,
)  # fmt: skip
FAMILIES = ("family", "families", "parting", "asking_family", "held_family", "unwanted_family")
# The children that somebody has to do something about, or whose parent does not wait for them.
_LOOKED_AFTER = frozenset({"parting", "asking_family", "held_family", "unwanted_family"})


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

    def keep_token(self, context: NodeContext, token: str) -> None:
        """Keep by which token somebody outside is to reply."""
        write(tokens_in(self._path.parent), f"{context.execution_id} {token}\n")


def tokens_in(folder: Path) -> Path:
    """Return where the tokens are that whoever replies has been told."""
    return folder / "tokens"


def acks_in(folder: Path) -> Path:
    """Return where the executions are that somebody has been told of."""
    return folder / "acks"


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

    async def asks(context: NodeContext, token: str) -> None:
        effects.add(context)
        effects.keep_token(context, token)

    async def waits(context: NodeContext) -> str:
        effects.add(context)
        if context.attempt == 1:
            await until().wait()
        return context.context_id

    return [work, threaded, third_time, fails_once, hangs_once, waits, asks]


async def register(engine: Runtime) -> None:
    """Make the workflows known."""
    for name, graph in WORKFLOWS.items():
        await engine.workflows.register(f"name: {name}\nnodes: {graph}\n")


def id_of(name: str, copy: int = 0) -> str:
    """Return the id of an execution of the workload."""
    return id_from_key(name, f"{name}-{copy}")


async def begin(engine: Runtime, name: str, folder: Path, copy: int = 0) -> str:
    """Start an execution, unless it was before; keep that it was acknowledged."""
    if name == "looking_back":
        id_ = id_of(name, copy)
        for signal in ("sent", "seen"):
            await engine.signals.deliver(signal, id_, id=f"{signal}-{id_}")
    begun = await engine.executions.start(name, key=f"{name}-{copy}", on_conflict="return")
    write(acks_in(folder), f"{begun.id} {name}\n")
    return begun.id


async def finish(engine: Runtime, name: str, folder: Path, copy: int = 0) -> object:
    """Do what people and operators have to do for an execution until it ends; return its output."""
    id_ = id_of(name, copy)
    if name == "held":
        await _hold(engine, id_)
    if name in OUTSIDE:
        await _tell_from_outside(engine, id_, folder)
    if name in _LOOKED_AFTER:
        await _look_after(engine, name, id_)
    while True:
        head = await engine.instance.listeners.until(id_, lambda head: head.status in (*CLOSED, "paused"))
        if head is None or head.status in ("completed", "cancelled"):
            return await _result(engine, id_)
        if head.status == "failed":
            with suppress(WrongState):  # another process does the same
                await engine.control.retry(id_, by="ann")
        elif name.endswith("unwanted"):
            with suppress(WrongState):
                await engine.control.cancel(id_, by="ann")
        else:
            await _answer(engine, id_)


async def _look_after(engine: Runtime, name: str, parent: str) -> None:
    """Do what is to be done about a child, and what its parent is to be told meanwhile."""
    inner = child_id(
        parent, "a", 1, (await engine.queries.get(parent)).created_at.milliseconds
    )  # its own id was chosen
    while await engine.instance.store.queries.find_execution(inner) is None:
        pass  # its start is on its way
    if name == "unwanted_family":
        with suppress(WrongState):  # it was cancelled before
            await engine.control.cancel(parent, by="ann")
        await engine.instance.listeners.until(inner, lambda head: head.status == "cancelled")
        return
    if name == "held_family":
        await _hold_family(engine, parent)
    while True:
        head = await engine.instance.listeners.until(inner, lambda head: head.status in (*CLOSED, "paused"))
        if head is None or head.status in CLOSED:
            return
        await _answer(engine, inner)


async def _hold_family(engine: Runtime, parent: str) -> None:
    """Hold a parent with its child twice and let them go, unless that was done before."""
    for _ in range((await engine.queries.get(parent)).resume_count, 2):
        with suppress(WrongState):  # another process does the same
            await engine.control.pause(parent, "lunch", by="ann")
            await engine.instance.listeners.until(parent, lambda head: head.status in (*CLOSED, "paused"))
            await engine.control.resume(parent, by="ann")


async def _result(engine: Runtime, execution_id: str) -> object:
    try:
        return await engine.executions.result(execution_id)
    except ExecutionCancelled:
        return "cancelled"


async def _answer(engine: Runtime, execution_id: str) -> None:
    """Answer what is asked, and wait until that is heard; if an operator's hold is in the way, let go."""
    with suppress(AnswerRefused, WrongState):  # another process does the same
        for row in await engine.points.list(execution_id):
            approved = True if row.point.kind == "approval" else None
            await engine.answers.answer(row.point.id, {"size": 1}, by="ann", approved=approved, key=row.point.id)
        if (await engine.queries.get(execution_id)).paused_reason:
            await engine.control.resume(execution_id, by="ann")
    await engine.instance.listeners.until(execution_id, lambda head: head.commands_done == head.commands_seq)


async def _hold(engine: Runtime, execution_id: str) -> None:
    """Hold an execution twice and let it go, unless that was done before."""
    await engine.instance.listeners.until(execution_id, lambda head: head.status in (*CLOSED, "paused"))
    found = await engine.queries.get(execution_id)
    for _ in range(found.resume_count, 2):
        with suppress(WrongState):  # another process does the same
            if not found.paused_reason:
                await engine.control.pause(execution_id, "lunch", by="ann")
            found = await engine.control.resume(execution_id, by="ann")


async def _tell_from_outside(engine: Runtime, execution_id: str, folder: Path) -> None:
    """Bring what an execution waits for, signals and replies, until it has come to its end."""
    listeners = engine.instance.listeners
    while True:
        head = await listeners.until(execution_id, lambda head: head.status in (*CLOSED, "waiting"))
        if head is None or head.status in CLOSED:
            return
        seen = head.last_seq
        for row in await engine.points.list(execution_id):
            if row.point.details.get("signal") == "paid":
                await engine.signals.deliver("paid", execution_id, id=row.point.id)
            elif row.point.kind == "callback":
                await _reply(engine, execution_id, folder)
        await listeners.until(execution_id, partial(_has_moved, seen))


def _has_moved(seen: int, head: Head) -> bool:
    return head.last_seq > seen or head.status in CLOSED


async def _reply(engine: Runtime, execution_id: str, folder: Path) -> None:
    """Reply by every token that was ever told: one of them counts."""
    for line in await asyncio.to_thread(lambda: tokens_in(folder).read_text().splitlines()):
        asked, token = line.split()
        if asked == execution_id:
            with suppress(CallbackRefused):
                await engine.callbacks.reply(token, "told")
