"""Whether the server lives, whether it can work, and how it does."""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import version
from typing import TYPE_CHECKING

from layover.api.metrics import MEDIA_TYPE, exposition
from layover.api.request import Reply
from layover.api.resources.health import Check, Health, Readiness
from layover.api.routing import Routes
from layover.core.errors import LayoverError
from layover.runtime.errors import EngineClosed

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.api.services import Services
    from layover.runtime.instance import Instance

_log = logging.getLogger("layover.api")

_PATIENCE = 2.0  # seconds for each check
_VERSION = version("layover")  # which is read from a file

routes = Routes("Health", "Whether the server lives, whether it can work, and how it does.", prefix="")


@routes.get("/healthz", open="anybody", limited=False, alone=True, answers={200: Health, 503: Health})
async def healthz(call: Request[None, NoQuery]) -> Reply:
    """Tell that the process answers; 503 if a part of it has ended, or fails again and again by errors of its own.

    A database that is away is no reason: another process in the place of this one could do no better.
    """
    if call.engine.is_healthy:
        return Reply(Health(version=_VERSION))
    return Reply(Health(status="failing", version=_VERSION), 503)


@routes.get("/readyz", open="anybody", limited=False, answers={200: Readiness, 503: Readiness})
async def readyz(call: Request[None, NoQuery]) -> Reply:
    """Tell whether work can be done here: the database answers, its tables are right, and the worker looks for work.

    It cannot if functions that are not async find no thread, because all are held by calls that were given up.
    What exactly is wrong is in the log, since anybody may ask this.
    """
    engine, instance = call.engine, _instance(call.services)
    if instance is None:
        return Reply(Readiness(status="not_ready", checks={"server": Check(ok=False, detail="It is stopping.")}), 503)
    checks = {
        "database": await _tried("database", _writes(instance)),
        "migrations": await _tried("migrations", instance.store.check_shape()),
        "worker": Check(ok=engine.is_working, detail="" if engine.is_working else "It cannot take up work just now."),
    }
    if (threads := instance.node_runner.threads).lacking:
        checks["threads"] = Check(ok=threads.lacking < threads.most, detail=f"{threads.shortage()}.")
    ready = all(check.ok for check in checks.values())
    told = Readiness(status="ready" if ready else "not_ready", instance=instance.id, checks=checks)
    return Reply(told, 200 if ready else 503)


@routes.get(
    "/metrics", open="loopback", needs=("execution:read",), limited=False, answers={200: str}, answer_media=MEDIA_TYPE
)
async def metrics(call: Request[None, NoQuery]) -> Reply:
    """Give numbers for Prometheus: what this instance has counted, and how the database stands."""
    return Reply(await exposition(call.services), media_type=MEDIA_TYPE)


def _instance(services: Services) -> Instance | None:
    """Return what works here; None if it is stopping, or has stopped."""
    try:
        return None if services.stopping.is_set() else services.engine.instance
    except EngineClosed:
        return None


async def _writes(instance: Instance) -> None:
    """Take a lock that nobody else wants: a database that can only be read, or is full, does not let us."""
    name, now = f"ready {instance.id}", instance.clock.now()
    await instance.store.lock(name, instance.id, now, now)
    await instance.store.unlock(name, instance.id)


async def _tried(what: str, check: Awaitable[None]) -> Check:
    try:
        async with asyncio.timeout(_PATIENCE):
            await check
    except TimeoutError:
        return Check(ok=False, detail=f"No answer within {_PATIENCE:g} s.")
    except LayoverError as error:
        _log.warning("not_ready check=%s code=%s error=%s", what, error.code, error.message)
        return Check(ok=False, detail=error.code)
    return Check(ok=True)
