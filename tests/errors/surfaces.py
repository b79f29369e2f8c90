"""What can be read of a failure, on every surface: the command line, HTTP, Python, and the log."""

from __future__ import annotations

import asyncio
import io
import logging
import traceback
from contextlib import asynccontextmanager, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

from layover import Client, Engine, Settings
from layover.cli.main import run_command
from layover.engine import runtime_of
from layover.errors import LayoverError
from layover.model.shared import encode
from tests.api.harness import ADMIN_KEY, listening
from tests.errors.failing import FUNCTIONS
from tests.errors.planted import hide_customers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover import ExecutionHandle
    from layover.nodes.registry import AnyFunction
    from tests.api.harness import Api

SETTINGS = Settings(
    http_private=True, redact=hide_customers, poll="20ms", command_poll="10ms", wait_poll="100ms", grace="100ms"
)


class Surfaces(NamedTuple):
    """What each surface says, to those who may debug; `viewer` is what HTTP says to those who may not."""

    cli: str
    http: str
    python: str
    log: str
    viewer: str

    def lacking(self, *wanted: str) -> dict[str, list[str]]:
        """Return what of some texts is missing, by surface."""
        for_operators = self._asdict()
        del for_operators["viewer"]
        missing = {name: [one for one in wanted if one not in text] for name, text in for_operators.items()}
        return {name: texts for name, texts in missing.items() if texts}


class Bench:
    """An engine, its server, and its log."""

    def __init__(self, engine: Engine, api: Api, log: io.StringIO, database: str) -> None:
        self.engine = engine
        self.api = api
        self.log = log
        self.database = database

    async def surfaces(self, execution: ExecutionHandle) -> Surfaces:
        """Read everything that can be read of an execution."""
        return Surfaces(
            cli=await self._cli(execution.id),
            http=await self._http(execution.id, "eve:operator"),
            python=await self._python(execution),
            log=self.log.getvalue(),
            viewer=await self._http(execution.id, "viewer"),
        )

    async def lines(self, execution: ExecutionHandle) -> dict[str, str]:
        """Read what the nodes of an execution have logged, on every surface."""
        commands = (["logs", execution.id], ["logs", execution.id, "--json"])
        printed = [await asyncio.to_thread(self._command, words) for words in commands]
        answered = await self.api.get(f"/executions/{execution.id}/logs", as_="eve:operator")
        async with Client(self.api.url, api_key=ADMIN_KEY) as client:
            remote = [encode(line).decode() async for line in (await client.execution(execution.id)).logs()]
        own = [encode(line).decode() async for line in execution.logs()]
        return {
            "cli": printed[0],
            "cli --json": printed[1],
            "http": answered.body.decode(),
            "client": "\n".join(remote),
            "engine": "\n".join(own),
        }

    async def _cli(self, execution_id: str) -> str:
        commands = (["show"], ["why"], ["show", "--json"], ["why", "--json"], ["history"])
        outputs = [await asyncio.to_thread(self._command, [*words, execution_id]) for words in commands]
        return "".join(outputs)

    def _command(self, words: list[str]) -> str:
        out = io.StringIO()
        with redirect_stdout(out):
            assert run_command([*words, "--db", self.database]) == 0
        return out.getvalue()

    async def _http(self, execution_id: str, as_: str) -> str:
        paths = ("", "/nodes", "/why", "/history")
        answers = [await self.api.get(f"/executions/{execution_id}{path}", as_=as_) for path in paths]
        assert {one.status for one in answers} == {200}
        return "".join(one.body.decode() for one in answers)

    async def _python(self, execution: ExecutionHandle) -> str:
        own = [await self._raised(execution), *await self._read(execution)]
        async with Client(self.api.url, api_key=ADMIN_KEY) as client:
            remote = await client.execution(execution.id)
            texts = [*own, await self._raised(remote), *await self._read(remote)]
        return "\n".join(texts)

    async def _raised(self, execution: ExecutionHandle) -> str:
        await execution.refresh()
        if not execution.closed:
            return ""
        try:
            await execution.result()
        except LayoverError as error:
            return "".join(traceback.format_exception(error))
        raise AssertionError("it did not fail")

    async def _read(self, execution: ExecutionHandle) -> list[str]:
        nodes = [encode(one).decode() async for one in execution.nodes()]
        return [encode(execution.info).decode(), *nodes, encode(await execution.why()).decode()]


@asynccontextmanager
async def bench(folder: Path, *functions: AnyFunction, settings: Settings = SETTINGS) -> AsyncIterator[Bench]:
    """Open an engine on a database in a folder, serve it, and keep its log."""
    log = io.StringIO()
    handler, logger = logging.StreamHandler(log), logging.getLogger("layover")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    database = f"sqlite:///{folder / 'layover.db'}"
    try:
        async with (
            Engine(database, nodes=[*FUNCTIONS, *functions], settings=settings) as engine,
            listening(runtime_of(engine)) as api,
        ):
            yield Bench(engine, api, log, database)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
