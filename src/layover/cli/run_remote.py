"""`layover run --url`: one workflow, from a file to its end or to its first rest, driven by a server."""

from __future__ import annotations

import asyncio
import signal
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, NamedTuple

from layover.cli.event_lines import progress_line
from layover.cli.exits import WRONG_STATE, Stop
from layover.cli.run_report import Ended
from layover.cli.screen import say
from layover.client import ApiError, AsyncClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Any

    from layover.api.resources.executions import Event, Execution
    from layover.api.resources.points import PausePoint

_LOOK_AGAIN = 0.25  # seconds without news after which it may be at rest
_RESTING = ("waiting", "paused")


class Asked(NamedTuple):
    """What somebody wants of a run."""

    file: str
    definition: dict[str, Any]
    given: object
    id: str | None
    key: str | None
    tags: tuple[str, ...]
    trigger: object
    watch: bool
    timeout: float | None
    silent: bool


async def run(url: str, secret: str | None, asked: Asked) -> Ended:
    """Run a workflow on a server, and return how it was left."""
    async with AsyncClient(url, key=secret) as client:
        execution = await _begun(client, asked)
        if not asked.silent:
            with suppress(BrokenPipeError):
                say(f"{execution.workflow} {execution.id}")
        left = await _until_left(_Following(client, execution.id, asked), asked.timeout)
        last = await client.executions.get(execution.id)
        is_over = last.finished_at is not None
        points = [] if is_over else [one async for one in client.points.each(execution_id=last.id, status=["open"])]
        return Ended(
            execution=last,
            points=points,
            answers=[command for point in points if (command := _command_for(point))],
            again=f"layover run {asked.file} --id {last.id}",
            summary="" if is_over else (await client.executions.why(last.id)).summary,
            left=left,
        )


async def _begun(client: AsyncClient, asked: Asked) -> Execution:
    """Return the execution that is wanted: a new one, or the one that has its id or its key already."""
    workflow = str(asked.definition["name"])
    if asked.id is not None:
        try:
            execution = await client.executions.get(asked.id)
        except ApiError as error:
            if error.code != "unknown_execution":
                raise
        else:
            if execution.workflow == workflow:
                return execution
            raise Stop(f"{execution.id} is an execution of `{execution.workflow}`, not of `{workflow}`.", WRONG_STATE)
    await client.workflows.save(asked.definition)
    return await client.executions.start(
        workflow, asked.given, id=asked.id, tags=asked.tags, trigger=asked.trigger, key=asked.key
    )


class _Following:
    """Shows what happens to an execution until it has ended, or rests and nobody wants to stay."""

    def __init__(self, client: AsyncClient, execution_id: str, asked: Asked) -> None:
        self._client = client
        self._id = execution_id
        self._asked = asked
        self._seen = -1

    async def follow(self) -> None:
        async with aclosing(self._events()) as events:
            async for event in events:
                if event is None:
                    if not self._asked.watch and await self._is_at_rest():
                        return
                    continue
                self._seen = event.seq
                line = progress_line(event)
                if line is not None and not self._asked.silent:
                    with suppress(BrokenPipeError):
                        say(line)

    async def _events(self) -> AsyncGenerator[Event | None]:
        """Return events as they come, and None when none has come for a while."""
        stream = aiter(self._client.executions.stream(self._id))
        while True:
            following = asyncio.ensure_future(anext(stream, None))
            try:
                while not (await asyncio.wait([following], timeout=_LOOK_AGAIN))[0]:
                    yield None
            except BaseException:
                following.cancel()
                raise
            event = following.result()
            if event is None:
                return
            yield event

    async def _is_at_rest(self) -> bool:
        execution = await self._client.executions.get(self._id)
        return execution.status in _RESTING and execution.last_seq <= self._seen and execution.lease is None


async def _until_left(following: _Following, longest: float | None) -> str:
    """Follow until it is over, or somebody has enough; return why it was left, if not at its end."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    followed, interrupted = loop.create_task(following.follow()), loop.create_task(asked.wait())
    try:
        await asyncio.wait([followed, interrupted], timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        if followed.done():
            followed.result()
            return ""
        return "interrupted" if interrupted.done() else "timeout"
    finally:
        for task in (followed, interrupted):
            task.cancel()
        await asyncio.gather(followed, interrupted, return_exceptions=True)


def _command_for(point: PausePoint) -> str:
    """Return the command that answers a point; who may is known by the key."""
    place = f"{point.execution_id}:{point.context_id}"
    return {"approval": f"layover approve {place}", "form": f"layover answer {place} DATA"}.get(point.kind, "")
