"""Probes: a function that tells whether a call that was lost with its instance had its effect."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.nodes.probes import NOT_HAPPENED, UNKNOWN, Happened
from layover.nodes.registry import Registry, UnknownNodeType, UnknownProbe
from layover.runtime.runtime import Runtime
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import call, end, flow, settings_with, until_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.registry import AnyFunction

CHARGED = flow(call("a", "charge", input={"amount": "${input}"}, on_crash="probe"), end("${nodes.a}"))


class Shop:
    """A function that is lost in its first call, and how often it was called."""

    def __init__(self) -> None:
        self.charged = list[int]()
        self.begun = asyncio.Event()

    async def charge(self, amount: int) -> str:
        self.charged.append(amount)
        if len(self.charged) == 1:
            self.begun.set()
            await asyncio.Event().wait()
        return f"charged {amount}"


def with_probe(folder: Path, shop: Shop, probe: AnyFunction | None) -> Runtime:
    settings = settings_with(grace=0)
    probes = {"charge": probe} if probe is not None else None
    return Runtime(SqliteStore(folder / "layover.db"), nodes=[shop.charge], probes=probes, settings=settings)


async def lose_a_call(folder: Path, shop: Shop) -> str:
    """Start an execution whose call is lost with its instance; return its id."""
    async with with_probe(folder, shop, None) as engine:
        await engine.workflows.register(CHARGED)
        started = await engine.executions.start("flow", 7)
        await shop.begun.wait()
        return started.id


async def test_what_happened_is_not_done_again(tmp_path: Path) -> None:
    shop, asked = Shop(), list[int]()

    async def probe(amount: int) -> Happened:
        asked.append(amount)
        return Happened({"found": amount})

    id_ = await lose_a_call(tmp_path, shop)
    async with with_probe(tmp_path, shop, probe) as engine:
        assert await engine.executions.result(id_) == {"found": 7}
    assert (shop.charged, asked) == ([7], [7])


async def test_what_did_not_happen_is_done_again(tmp_path: Path) -> None:
    shop = Shop()

    def probe(amount: int, context: SyncNodeContext) -> object:
        assert (amount, context.context_id, context.attempt) == (7, "a", 2)
        context.heartbeat()
        return NOT_HAPPENED

    id_ = await lose_a_call(tmp_path, shop)
    async with with_probe(tmp_path, shop, probe) as engine:
        assert await engine.executions.result(id_) == "charged 7"
    assert shop.charged == [7, 7]


def fails() -> None:
    raise ConnectionError("the bank is closed")


PROBES: list[tuple[Callable[..., object] | None, str]] = [
    (lambda amount: UNKNOWN, ""),  # noqa: ARG005 - it is given the input all the same
    (lambda amount: None, ""),  # noqa: ARG005
    (lambda amount: True, "The probe returned True"),  # noqa: ARG005
    (lambda amount: Happened(object()), "JSON"),  # noqa: ARG005
    (lambda amount: fails(), "the bank is closed"),  # noqa: ARG005
    (None, "No probe is registered for the node type `charge`"),
]


@pytest.mark.parametrize(
    ("probe", "problem"), PROBES, ids=["unknown", "none", "nonsense", "no json", "raises", "missing"]
)
async def test_a_person_is_asked_if_no_probe_can_tell(
    tmp_path: Path, probe: Callable[..., object] | None, problem: str
) -> None:
    shop = Shop()
    id_ = await lose_a_call(tmp_path, shop)
    async with with_probe(tmp_path, shop, probe) as engine:
        await until_status(engine, id_, "paused")
        (row,) = await engine.points.list(id_)
        assert problem in str(row.point.details.get("problem", ""))
        await engine.answers.answer(row.point.id, {"happened": True, "output": "seen"}, by="ann")
        assert await engine.executions.result(id_) == "seen"
    assert shop.charged == [7]


async def test_a_probe_only_looks(tmp_path: Path) -> None:
    shop = Shop()

    async def probe(amount: int, context: NodeContext) -> object:
        return await context.once(f"look {amount}", dict)

    id_ = await lose_a_call(tmp_path, shop)
    async with with_probe(tmp_path, shop, probe) as engine:
        await until_status(engine, id_, "paused")
        (row,) = await engine.points.list(id_)
        assert "a probe" in str(row.point.details["problem"])


def test_a_probe_belongs_to_a_function() -> None:
    def work() -> None:
        return

    registry = Registry()
    with pytest.raises(UnknownNodeType):
        registry.add_probe("work", fails)
    registry.add(work, probe=fails)
    assert registry.find_probe("work").function is fails
    registry.add(work)
    with pytest.raises(UnknownProbe):
        registry.find_probe("work")
