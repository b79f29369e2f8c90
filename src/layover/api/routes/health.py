"""Whether the server lives, whether it can work, and how it does."""

from __future__ import annotations

import asyncio
import logging
from importlib.metadata import version
from typing import TYPE_CHECKING

from layover.api.metrics import exposition
from layover.api.request import Response
from layover.api.routing import Routes
from layover.errors import Closed, LayoverError
from layover.metrics.text import MEDIA_TYPE
from layover.model.health import Check, Health, Readiness

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
async def healthz(call: Request[None, NoQuery]) -> Response:
    """Tell that the process answers; 503 if a part of it has ended, or fails again and again by errors of its own.

    A database that is away is no reason: another process in the place of this one could do no better.
    """
    if call.services.runtime.is_healthy:
        return Response(Health(version=_VERSION))
    return Response(Health(status="failing", version=_VERSION), 503)


@routes.get("/readyz", open="anybody", limited=False, answers={200: Readiness, 503: Readiness})
async def readyz(call: Request[None, NoQuery]) -> Response:
    """Tell whether work can be done here: the database answers, its tables are right, and the worker looks for work.

    It cannot if functions that are not async find no thread, because all are held by calls that were given up.
    What exactly is wrong is in the log, since every caller may ask this.
    """
    services = call.services
    told = await services.readiness.result(lambda: _readiness(services))
    return Response(told, 200 if told.status == "ready" else 503)


@routes.get(
    "/metrics",
    open="loopback",
    needs=("execution:read",),
    limited=False,
    alone=True,  # while the database is away, its gauges are missing and the rest is there
    answers={200: str},
    answer_media=MEDIA_TYPE,
    problems=("stopping",),
)
async def metrics(call: Request[None, NoQuery]) -> Response:
    """Give metrics for Prometheus: what all processes of this server have counted, and how the database stands."""
    services = call.services
    text = await services.metrics_text.result(lambda: exposition(services))
    return Response(text, media_type=MEDIA_TYPE)


async def _readiness(services: Services) -> Readiness:
    """Check everything that work needs."""
    engine, instance = services.runtime, _instance(services)
    if instance is None:
        return Readiness(status="not_ready", checks={"server": Check(ok=False, detail="It is stopping.")})
    checks = {
        "database": await _tried("database", _writes(instance)),
        "migrations": await _tried("migrations", instance.store.check_shape()),
        "worker": Check(ok=engine.is_working, detail="" if engine.is_working else "It cannot take up work just now."),
    }
    if (threads := instance.node_runner.threads).lacking:
        checks["threads"] = Check(ok=threads.lacking < threads.most, detail=f"{threads.shortage()}.")
    ready = all(check.ok for check in checks.values())
    return Readiness(status="ready" if ready else "not_ready", instance=instance.id, checks=checks)


def _instance(services: Services) -> Instance | None:
    """Return what works here; None if it is stopping, or has stopped."""
    try:
        return None if services.stopping.is_set() else services.runtime.instance
    except Closed:
        return None


async def _writes(instance: Instance) -> None:
    """Take a lock that has no other user: a database that can only be read, or is full, does not let us."""
    name, now = f"ready {instance.id}", instance.clock.now()
    await instance.store.locks.acquire(name, instance.id, now, now)
    await instance.store.locks.release(name, instance.id)


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
