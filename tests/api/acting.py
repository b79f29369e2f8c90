"""What the tests of acts have in common: an execution that has come to where a person is awaited."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from layover.ports.access import AuditFilter
from tests.api.harness import listening
from tests.runtime.harness import Between, engine_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover.nodes.registry import AnyFunction
    from layover.ports.access import IdempotentReply
    from tests.api.harness import Api


class Forgetful(Between):
    """A store that keeps what was done and loses what was answered, as if the server had died in between."""

    async def idempotency_finish(self, reply: IdempotentReply) -> None:
        await self.store.idempotency.abandon(reply.scope, reply.key)


@asynccontextmanager
async def served_forgetfully(folder: Path, *nodes: AnyFunction) -> AsyncIterator[Api]:
    """Serve a database where a request with a key comes again as if it were the first."""
    async with engine_on(Forgetful(folder), *nodes) as engine, listening(engine) as api:
        yield api


async def resting(api: Api, workflow: dict[str, Any] | None = None, given: object = None) -> dict[str, Any]:
    """Register a workflow, start it, and return the execution once it rests."""
    if workflow is not None:
        await api.engine.workflows.register(workflow)
    name = workflow["name"] if workflow is not None else "flow"
    started = await api.engine.executions.start(str(name), given, wait="rest")
    return {"id": started.id, "points": await points_of(api, started.id)}


async def points_of(api: Api, execution_id: str) -> dict[str, str]:
    """Return the ids of the open points of an execution by where they stand."""
    return {row.point.node: row.point.id for row in await api.engine.points.list(execution_id)}


async def ended(api: Api, execution_id: str) -> Any:
    """Return what an execution came to."""
    return (await api.engine.executions.wait(execution_id)).output


async def acts(api: Api, execution_id: str) -> list[tuple[str, str, str]]:
    """Return what the audit log has about an execution, the oldest first: who did what to what."""
    entries = await api.engine.instance.store.audit.list_entries(AuditFilter(execution_id=execution_id))
    return [(entry.user, entry.act, entry.target) for entry in reversed(entries)]
