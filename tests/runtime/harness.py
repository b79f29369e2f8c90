"""What the tests of the runtime are made of: small workflows, functions that a test lets go, and a clock wound by hand.

Nothing sleeps. A test waits for a call to begin, for an execution to be as it wants it, or winds the clock of the store
on and has the engine look what is due.

A file of tests runs on every database by `pytestmark = pytest.mark.usefixtures("each_database")`: what is in a folder
on SQLite is then on the server for the same folder.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import pytest

from layover.bootstrap import open_runtime, open_store
from layover.ports.store import FAMILIES
from layover.runtime.runtime import Runtime
from layover.runtime.settings import RuntimeSettings
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.servers.postgres import databases
from tests.servers.sqlite import empty_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from layover.nodes.context import NodeContext
    from layover.nodes.registry import AnyFunction
    from layover.ports.hints import Hint
    from layover.ports.records import Head
    from layover.ports.store import Store

PROMPT: dict[str, int] = {"poll": 20, "command_poll": 10, "wait_poll": 100, "grace": 100}
HOUR = 3_600_000
YEAR = 365 * 24 * HOUR


# Where the database of a folder is, if it is not in the folder.
_elsewhere: dict[Path, str] = {}

# The stores whose time passes by hand.
_by_hand: WeakSet[object] = WeakSet()


@pytest.fixture
def on_postgres(tmp_path: Path) -> Iterator[str]:
    """Run a test on PostgreSQL; this is the address."""
    _elsewhere[tmp_path] = databases.address()
    yield _elsewhere[tmp_path]
    _elsewhere.clear()
    databases.give_back()


@pytest.fixture(params=["sqlite", "postgres"])
def each_database(request: pytest.FixtureRequest) -> None:
    """Run a test on every database."""
    if request.param == "postgres":
        request.getfixturevalue("on_postgres")


def address_in(folder: Path) -> str:
    """Return the address of the database of a folder."""
    return _elsewhere.get(folder) or f"sqlite:///{empty_database(folder / 'layover.db')}"


def store_in(folder: Path) -> Store:
    """Return a store on the database of a folder."""
    return open_store(address_in(folder))


def engine_at(folder: Path, *nodes: AnyFunction, **settings: object) -> Runtime:
    """Return an engine on the database of a folder, which looks often for what others did."""
    return open_runtime(address_in(folder), nodes=nodes, settings=settings_with(**settings))


def engine_on(store: Store | Between, *nodes: AnyFunction, **settings: object) -> Runtime:
    """Return an engine on a store.

    Where time passes by hand, a lease outlasts every test that does not say how long it lasts: else a result that is
    still on its way when the test lets an hour pass would be lost with its lease, and its call made again.
    """
    if store in _by_hand:
        settings = {"lease_ttl": YEAR, **settings}
    return Runtime(cast("Store", store), nodes=nodes, settings=settings_with(**settings))


class Between:
    """In place of a store: who comes between it and its engine; what is not held up or changed is passed on.

    A subclass changes `store.appends.commit` by a method `appends_commit`, or many of them by `method`.
    """

    def __init__(self, folder: Path) -> None:
        self.store = store_in(folder)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        return _BetweenFamily(self, name) if name in FAMILIES else found

    def method(self, family: str, name: str) -> Any:
        """Return what its engine gets as a method of a family."""
        own = f"{family}_{name}"
        return getattr(self, own) if hasattr(type(self), own) else getattr(getattr(self.store, family), name)


class _BetweenFamily:
    """In place of a family of a store."""

    def __init__(self, between: Between, name: str) -> None:
        self._between = between
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return self._between.method(self._name, name)


def settings_with(**settings: object) -> RuntimeSettings:
    return RuntimeSettings(**{**PROMPT, **settings})  # type: ignore[arg-type]  # a wrong one is noticed at once


class _Deaf(PostgresStore):
    """A store that never has its engine look because of others."""

    def listen(self, hear: Callable[[Hint], None]) -> None:
        pass


class HandWound:
    """The time that a store has, which passes when a test says so; between two looks engines go on by themselves."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def store(self, folder: Path) -> Store:
        """Return a store that goes by this clock."""
        store: Store
        if folder in _elsewhere:
            store = _Deaf(address_in(folder), clock=self)
        else:
            store = SqliteStore(empty_database(folder / "layover.db"), clock=self, between_looks=0)
        _by_hand.add(store)
        return store

    def skip(self, engine: Runtime, milliseconds: int) -> None:
        """Let time pass, and have an engine look what has come due."""
        self.now += milliseconds
        look(engine)


def look(engine: Runtime) -> None:
    """Have an engine look what is due."""
    engine.instance.driver.hint(0)


def a_moment_later(engine: Runtime) -> None:
    """Wait until the clock shows another time: what waits since the same millisecond is in no order."""
    clock = engine.instance.clock
    before = clock.now()
    while clock.now() == before:
        pass


async def until(engine: Runtime, execution_id: str, wanted: Callable[[Head], bool]) -> Head:
    """Return the head of an execution once it is as wanted."""
    head = await engine.instance.listeners.until(execution_id, wanted)
    assert head is not None
    return head


async def until_status(engine: Runtime, execution_id: str, status: str) -> Head:
    return await until(engine, execution_id, lambda head: head.status == status)


async def until_seq(engine: Runtime, execution_id: str, least: int) -> Head:
    return await until(engine, execution_id, lambda head: head.last_seq >= least)


async def until_child(engine: Runtime, execution_id: str, status: str) -> str:
    """Return the id of an execution once it has been begun by another one, and is as wanted."""
    while await engine.instance.store.queries.find_execution(execution_id) is None:
        pass  # its start is on its way
    await until_status(engine, execution_id, status)
    return execution_id


# Workflows


def flow(*nodes: dict[str, object], name: str = "flow", **fields: object) -> dict[str, object]:
    """Return a workflow of nodes; each leads to the next, unless it says otherwise or is the last."""
    wired = [
        {**node, "next": nodes[index + 1]["id"]} if "next" not in node and index + 1 < len(nodes) else {**node}
        for index, node in enumerate(nodes)
    ]
    for node in wired:
        if node.get("next", "") is None:
            del node["next"]
    return {"name": name, "nodes": wired, **fields}


def call(id_: str, type_: str = "work", **fields: object) -> dict[str, object]:
    return {"id": id_, "type": type_, **fields}


def form(id_: str = "ask", **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "form", "title": "Say it", "schema": {"type": "object"}, **fields}


def approval(id_: str = "review", **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "approval", "title": "May it?", **fields}


def delay(id_: str = "rest", duration: str = "1h", **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "delay", "duration": duration, **fields}


def end(output: object, id_: str = "finish") -> dict[str, object]:
    return {"id": id_, "type": "end", "output": output}


def child(id_: str, workflow: str, **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "workflow", "workflow": workflow, **fields}


def fan_out(body: dict[str, object], over: str = "input", **fields: object) -> dict[str, object]:
    """Return a node that runs a body for each item side by side."""
    return {"id": "each", "type": "parallel", "for_each": over, "body": [body], **fields}


# Functions


class Call:
    """One call of a function; it goes on when a test says how it ends."""

    def __init__(self, context: NodeContext, given: dict[str, object]) -> None:
        self.context = context
        self.given = given
        self.cancelled = asyncio.Event()
        self._end: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    def returns(self, value: object = None) -> None:
        self._end.set_result(value)

    def raises(self, error: BaseException) -> None:
        self._end.set_exception(error)

    async def run(self) -> object:
        try:
            return await self._end
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Held:
    """A function whose calls are held until the test lets each of them go."""

    def __init__(self, name: str = "work") -> None:
        self.__name__ = name
        self.calls: list[Call] = []
        self._begun: asyncio.Queue[Call] = asyncio.Queue()

    async def __call__(self, context: NodeContext, **given: object) -> object:
        one = Call(context, given)
        self.calls.append(one)
        self._begun.put_nowait(one)
        return await one.run()

    async def begun(self) -> Call:
        """Return the next call, once it has begun."""
        return await self._begun.get()

    async def all_begun(self, count: int) -> list[Call]:
        """Return the next calls, once so many have begun."""
        return [await self.begun() for _ in range(count)]


class Scripted:
    """A function that returns or raises one thing after the other, and the last one for ever."""

    def __init__(self, *results: object, name: str = "work") -> None:
        self.__name__ = name
        self.calls: list[NodeContext] = []
        self._results = list(results)

    async def __call__(self, context: NodeContext, **_given: object) -> object:
        self.calls.append(context)
        result = self._results.pop(0) if len(self._results) > 1 else self._results[0]
        if isinstance(result, BaseException):
            raise result
        return result


class Refused(Exception):  # noqa: N818 - it says what happened
    """What functions raise here."""
