"""Undos: a function that takes back whatever a call may have done that was lost with its instance."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover import Engine, Settings, node
from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.nodes.registry import Registry, UnknownNodeType, UnknownUndo
from layover.runtime.runtime import Runtime
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import call, end, flow, settings_with, until_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.registry import AnyFunction
    from layover.runtime.settings import RuntimeSettings


def charged(on_crash: str = "undo", **more: object) -> dict[str, object]:
    made: dict[str, object] = flow(
        call("a", "charge", input={"amount": "${input}"}, on_crash=on_crash, **more), end("${nodes.a}")
    )
    return made


class Shop:
    """A function that is lost in its first call, what it has charged, and what was undone."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.charges: list[int] = []
        self.begun = asyncio.Event()
        self.is_stuck = True

    async def charge(self, amount: int, context: NodeContext) -> str:
        self.keys.append(context.idempotency_key)
        self.charges.append(amount)
        if self.is_stuck:
            self.is_stuck = False
            await context.checkpoint("half")
            self.begun.set()
            await asyncio.Event().wait()
        assert context.restored is None
        return f"charged {amount}"


def with_undo(folder: Path, shop: Shop, undo: AnyFunction | None, settings: RuntimeSettings | None = None) -> Runtime:
    undos = {"charge": undo} if undo is not None else None
    store = SqliteStore(folder / "layover.db")
    return Runtime(store, nodes=[shop.charge], undos=undos, settings=settings or settings_with(grace=0))


async def lose_a_call(folder: Path, shop: Shop, workflow: dict[str, object]) -> str:
    """Start an execution whose call is lost with its instance; return its id."""
    async with with_undo(folder, shop, None) as engine:
        await engine.workflows.register(workflow)
        started = await engine.executions.start("flow", 7)
        await shop.begun.wait()
        return started.id


async def test_a_lost_call_is_undone_under_its_idempotency_key_and_made_again(tmp_path: Path) -> None:
    shop, undone = Shop(), list[tuple[object, ...]]()

    async def undo(amount: int, context: NodeContext) -> str:
        undone.append((amount, context.idempotency_key, context.attempt, context.restored))
        shop.charges.clear()
        return "whatever an undo returns is of no interest"

    id_ = await lose_a_call(tmp_path, shop, charged())
    async with with_undo(tmp_path, shop, undo) as engine:
        assert await engine.executions.result(id_) == "charged 7"
    assert undone == [(7, shop.keys[0], 2, "half")]
    assert shop.charges == [7]
    assert len(set(shop.keys)) == 1


async def test_an_undo_that_is_not_async_runs_on_a_thread_and_may_return_anything(tmp_path: Path) -> None:
    shop = Shop()

    def undo(amount: int, context: SyncNodeContext) -> object:
        context.heartbeat()
        shop.charges.remove(amount)
        return object()

    id_ = await lose_a_call(tmp_path, shop, charged())
    async with with_undo(tmp_path, shop, undo) as engine:
        assert await engine.executions.result(id_) == "charged 7"
    assert shop.charges == [7]


async def test_an_undo_that_fails_is_called_again_as_the_node_says(tmp_path: Path) -> None:
    shop, tried = Shop(), list[int]()

    async def undo(amount: int) -> None:
        tried.append(amount)
        if len(tried) < 3:
            raise ConnectionError("the bank is closed")

    id_ = await lose_a_call(tmp_path, shop, charged(retry={"max_attempts": 3, "delay": "1ms"}))
    async with with_undo(tmp_path, shop, undo) as engine:
        assert await engine.executions.result(id_) == "charged 7"
    assert tried == [7, 7, 7]


async def fails(amount: int) -> None:
    raise ConnectionError(f"the bank does not give back {amount}")


async def notes(amount: int, context: NodeContext) -> None:
    await context.once(f"undo {amount}", dict)


@pytest.mark.parametrize(
    ("undo", "problem", "choices"),
    [
        (fails, "The undo failed: the bank does not give back 7", ["repeat", "undo", "fail"]),
        (notes, "not in a probe, an undo or a direct call", ["repeat", "undo", "fail"]),
        (None, "No undo is registered for the node type `charge`", ["repeat", "fail"]),
    ],
    ids=["fails", "records", "missing"],
)
async def test_a_person_is_asked_if_it_cannot_be_undone(
    tmp_path: Path, undo: Callable[..., object] | None, problem: str, choices: list[str]
) -> None:
    shop = Shop()
    id_ = await lose_a_call(tmp_path, shop, charged())
    async with with_undo(tmp_path, shop, undo) as engine:
        await until_status(engine, id_, "paused")
        (row,) = await engine.points.list(id_)
        assert problem in str(row.point.details["problem"])
        assert row.point.details["otherwise"] == choices
        await engine.answers.answer(row.point.id, {"happened": True, "output": "seen"}, by="ann")
        assert await engine.executions.result(id_) == "seen"
    assert shop.charges == [7]


async def test_an_operator_has_it_undone(tmp_path: Path) -> None:
    shop, undone = Shop(), list[int]()

    async def undo(amount: int) -> None:
        undone.append(amount)

    id_ = await lose_a_call(tmp_path, shop, charged("pause"))
    async with with_undo(tmp_path, shop, undo) as engine:
        await until_status(engine, id_, "paused")
        (row,) = await engine.points.list(id_)
        await engine.answers.answer(row.point.id, {"happened": False, "otherwise": "undo"}, by="ann")
        assert await engine.executions.result(id_) == "charged 7"
    assert undone == [7]


@pytest.mark.parametrize("on_crash", ["probe", "undo"])
async def test_what_takes_too_long_about_a_lost_call_is_stopped(tmp_path: Path, on_crash: str) -> None:
    shop, stopped = Shop(), asyncio.Event()

    async def hangs(amount: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            if amount:
                stopped.set()

    id_ = await lose_a_call(tmp_path, shop, charged(on_crash, timeout="20ms"))
    given = {on_crash + "s": {"charge": hangs}}
    store = SqliteStore(tmp_path / "layover.db")
    async with Runtime(store, nodes=[shop.charge], settings=settings_with(grace=0), **given) as engine:  # type: ignore[arg-type]
        await until_status(engine, id_, "paused")
        await stopped.wait()


async def test_why_and_the_nodes_tell_of_an_undo(tmp_path: Path) -> None:
    shop, begun, let_go = Shop(), asyncio.Event(), asyncio.Event()

    async def undo(amount: int) -> None:
        begun.set()
        await let_go.wait()
        raise ConnectionError(f"the bank does not give back {amount}")

    id_ = await lose_a_call(tmp_path, shop, charged(retry={"max_attempts": 2, "delay": "1h", "jitter": 0}))
    async with Engine(
        f"sqlite:///{tmp_path / 'layover.db'}",
        nodes=[shop.charge],
        undos={"charge": undo},
        settings=Settings(grace="1ms"),
    ) as engine:
        execution = await engine.execution(id_)
        await begun.wait()
        assert (await execution.why()).summary.startswith("The undo of `a` is running on ")
        let_go.set()
        await execution.wait("rest")
        why = await execution.why()
        assert why.summary.startswith("The undo of `a` failed once and is tried again in ")
        (retry,) = await engine.retries().all()
        assert (retry.context_id, retry.failures) == ("a", 1)
        (told,) = [one for one in await execution.nodes().all() if one.context_id == "a"]
        assert told.status == "backoff"
        assert told.attempts[-1].error is not None
        assert "the bank does not give back 7" in told.attempts[-1].error.message
        await execution.cancel_retry("a")
        await execution.wait("people")
        assert "`a` waits for an operator, who says what became of its lost call" in (await execution.why()).summary


def test_an_undo_belongs_to_a_function() -> None:
    @node
    async def charge(amount: float) -> None: ...

    @charge.undo
    async def refund(amount: float) -> str:
        return f"{amount}"

    async def other(amount: float) -> None: ...

    registry = Registry()
    with pytest.raises(UnknownNodeType):
        registry.add_undo("charge", other)
    registry.add(charge)
    assert registry.find_undo("charge").function is refund
    assert "charge" in registry.undos
    registry.add(charge, undo=other)
    assert registry.find_undo("charge").function is other
    registry.add(other, "charge")
    assert "charge" not in registry.undos
    with pytest.raises(UnknownUndo):
        registry.find_undo("charge")
