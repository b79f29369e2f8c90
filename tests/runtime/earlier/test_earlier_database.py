"""A database of an earlier commit opens and goes on.

`sqlite.sql` and `postgres.sql` are dumps of what `make.txt` made with the release of commit c45e8787, the last one
before the public names changed: an execution in every state, one of them in a call whose process died.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from layover import Engine, ExecutionFailed, NodeContext, Settings, admin, node
from tests.servers.postgres import fresh_schema, run, schema_of

if TYPE_CHECKING:
    from layover import ExecutionHandle, PausePointHandle

_HERE = Path(__file__).parent
_TOKENS = {
    "sqlite": "axuvQhFZxF3wNh2rJ0A19t0JGgM1VZVa6QdGiK-Kvug",
    "postgres": "mJ2L2kI88skgrPylAVtKYdr1r65eU6yIi4mM5Afhv1g",
}
_PROMPT = Settings(poll="20ms", command_poll="10ms", outbox_poll="20ms")


@node
def charge(amount: int) -> int:
    return amount


@node
def order_goods(token: str) -> None:
    raise AssertionError(f"it was called before: {len(token)}")


@node
async def ship(context: NodeContext) -> object:
    return await context.once("parcel", lambda: "parcel 2")


_NODES = (charge, order_goods, ship)


@pytest.fixture(params=["sqlite", "postgres"])
async def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Return the kind and the address of a database that an earlier release has left."""
    script = (_HERE / f"{request.param}.sql").read_text(encoding="utf-8")
    if request.param == "postgres":
        address = fresh_schema()
        await run(address, script.replace("layover", schema_of(address)))
        return request.param, address
    path = tmp_path / "layover.db"
    connection = apsw.Connection(str(path))
    connection.execute(script)
    connection.close()
    return request.param, f"sqlite:///{path}"


class _Left:
    """What the earlier release has left, by the tag of each execution."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def execution(self, tag: str) -> ExecutionHandle:
        (found,) = await self._engine.executions(tag=tag).all()
        return await self._engine.execution(found.id)

    async def point(self, tag: str) -> PausePointHandle:
        points = await (await self.execution(tag)).points(children=True).all()
        (point,) = [one for one in points if one.kind in ("form", "approval")]
        return point

    async def result(self, tag: str) -> Any:
        return await (await self.execution(tag)).result(timeout="1m")


async def test_every_execution_of_an_earlier_release_goes_on_to_its_end(earlier: tuple[str, str]) -> None:
    kind, address = earlier
    await admin.migrate(address)
    async with Engine(address, nodes=_NODES, settings=_PROMPT, user="ada", roles=("admin",)) as engine:
        left = _Left(engine)
        # What goes on by itself: a command that was not read, timers that are over, a call whose process died.
        assert await left.result("completed") == {"a": 1}
        assert await left.result("unread") == 5
        assert await left.result("delayed") == {"c": 3}
        assert (await (await left.execution("timer")).wait(timeout="1m")).status == "completed"
        assert await left.result("crashed") == "parcel 1"  # as it was recorded before the process died

        # What waits for people
        assert (await (await left.point("form")).answer(7)).status != "open"
        await (await left.point("review")).approve(comment="me too")
        await (await left.point("parent")).answer(1)
        paused = await left.execution("paused")
        assert (paused.paused_reason, paused.status) == ("lunch", "paused")
        await paused.resume()
        await (await left.point("paused")).answer(2)
        for size in (20, 30):
            await (await (await left.execution("loop")).wait("people", timeout="1m")).refresh()
            await (await left.point("loop")).answer(size)
        for tag in ("first", "second"):
            await (await left.execution(tag)).wait("people", timeout="1m")
            await (await left.point(tag)).answer(3)
            assert await left.result(tag) == 3
        assert [await left.result(tag) for tag in ("form", "parent", "paused", "loop")] == [7, 1, 2, [10, 20, 30]]
        assert (await left.result("review"))["approved"] is True

        # What waits for systems and operators
        receipt = await engine.signal("paid", {"amount": 7}, key="7")
        assert [*receipt.matched] == [(await left.execution("signal")).id]
        assert (await engine.signal("paid", key="8", id="early")).repeated
        await engine.callback(_TOKENS[kind]).complete({"pallet": 7})
        assert await left.result("callback") == {"pallet": 7}
        with pytest.raises(ExecutionFailed, match="the till is broken"):
            await left.result("failed")
        await (await left.execution("failed")).retry()
        assert await left.result("failed") == 7
        await (await engine.workflow("halted")).resume()
        assert await left.result("held") == {"b": 2}

        # What else was stored: definitions with their hashes, keys, audit entries, history
        assert await engine.run("echo", "again") == "again"
        (key,) = [one for one in await engine.api_keys().all() if one.user == "bob"]
        assert (key.name, key.roles) == ("import", ("viewer",))
        assert [one.target for one in await engine.audit(act="key.add").all()] == [key.id]
        assert (await (await left.execution("review")).history().all())[0].type == "ExecutionCreated"
        assert {one.version for one in await engine.workflows().all()} == {1}
    assert (await admin.verify(address)).violations == ()
