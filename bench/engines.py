"""The engine that is measured, through its public interface: of this tree, or of one from before there were handles.

Whichever can be imported is taken, so that both are measured by the same scripts: `PYTHONPATH=<that tree>/src`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from layover.runtime.instance import Instance


class Started(Protocol):
    """What both return of an execution."""

    @property
    def id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def output(self) -> Any: ...
    @property
    def last_seq(self) -> int: ...
    @property
    def waiting_on(self) -> Sequence[Any]: ...


class Noted(NamedTuple):
    """An entry of a log; a timer that opens has a deadline."""

    seq: int
    type: str
    at: int
    deadline: int | None


class _Engine:
    """An engine on a database, open for the length of an `async with`."""

    def __init__(self, address: str, *, nodes: Iterable[Callable[..., Any]] = (), settings: Any = None) -> None:
        self._engine: Any = _PUBLIC(address, nodes=nodes, settings=settings)

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._engine.__aexit__(*error)

    async def register(self, definition: Any) -> None:
        await self._engine.register(definition)

    async def counts(self) -> dict[str, int]:
        found: dict[str, int] = await self._engine.counts()
        return found


class _Handles(_Engine):
    """With handles."""

    @property
    def instance(self) -> Instance:
        """What there is behind the interface, for what only a bench counts."""
        found: Instance = self._engine._runtime.instance  # noqa: SLF001 - as said
        return found

    async def start(self, name: str, input: object = None, until: str | None = None) -> Started:  # noqa: A002 - as everywhere
        found: Started = await self._engine.start(name, input, until=until)
        return found

    async def resume(self, execution: Started, data: object) -> Any:
        """Find the only open point of an execution, answer it, and return the result."""
        handle: Any = execution
        (point,) = (await handle.points().page()).items
        await point.answer(data)
        return await handle.result()

    async def answer(self, point_id: str, data: object) -> None:
        await (await self._engine.point(point_id)).answer(data)

    async def execution(self, id_: str) -> Started:
        found: Started = await self._engine.execution(id_)
        return found

    async def wait(self, execution_id: str) -> Started:
        found: Started = await (await self._engine.execution(execution_id)).wait()
        return found

    async def listed(self, limit: int, status: Sequence[str] = ()) -> list[str]:
        page = await self._engine.executions(status=status).page(limit)
        return [one.id for one in page.items]

    async def node_statuses(self, execution: Started) -> list[str]:
        handle: Any = execution
        return [one.status async for one in handle.nodes()]

    async def history(self, execution_id: str) -> list[Noted]:
        read = import_module("layover.core.moments").Moment.read
        return [
            Noted(
                one.seq,
                one.type,
                one.at.milliseconds,
                read(one.data["deadline"]).milliseconds if one.data.get("deadline") else None,
            )
            async for one in (await self._engine.execution(execution_id)).history()
        ]


class _Flat(_Engine):
    """Before there were handles."""

    @property
    def instance(self) -> Instance:
        found: Instance = self._engine.instance
        return found

    async def start(self, name: str, input: object = None, until: str | None = None) -> Started:  # noqa: A002 - as everywhere
        found: Started = await self._engine.start(name, input, wait=until)
        return found

    async def resume(self, execution: Started, data: object) -> Any:
        (row,) = await self._engine.points(execution.id)
        await self._engine.answer(row.point.id, data)
        return await self._engine.result(execution.id)

    async def answer(self, point_id: str, data: object) -> None:
        await self._engine.answer(point_id, data)

    async def execution(self, id_: str) -> Started:
        found: Started = await self._engine.get(id_)
        return found

    async def wait(self, execution_id: str) -> Started:
        found: Started = await self._engine.wait(execution_id)
        return found

    async def listed(self, limit: int, status: Sequence[str] = ()) -> list[str]:
        return [row.head.execution_id for row in await self._engine.list(status=status, limit=limit)]

    async def node_statuses(self, execution: Started) -> list[str]:
        return [one.status for one in await self._engine.nodes(execution.id, limit=1_000_000)]

    async def history(self, execution_id: str) -> list[Noted]:
        return [
            Noted(one.seq, type(one.event).__name__, one.at, getattr(one.event, "deadline", None))
            for one in await self._engine.history(execution_id, limit=1_000_000)
        ]


def _public() -> tuple[Any, bool]:
    try:
        return import_module("layover.engine").Engine, True
    except ImportError:
        return import_module("layover.bootstrap").Engine, False


_PUBLIC, HAS_HANDLES = _public()

if TYPE_CHECKING:
    Engine = _Handles
else:
    Engine = _Handles if HAS_HANDLES else _Flat


def settings_of(**given: Any) -> Any:
    """Return settings with lengths of time in milliseconds, as whichever engine is measured takes them."""
    public = import_module("layover").Settings
    try:
        lengths: frozenset[str] = import_module("layover.settings").LENGTHS
    except ModuleNotFoundError:  # an engine from before lengths of time had units
        return public(**given)
    return public(**{name: f"{value}ms" if name in lengths else value for name, value in given.items()})
