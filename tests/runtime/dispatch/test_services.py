"""The loops of an instance survive errors that nobody expected, and its health shows those that do not recover."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.ports.errors import StoreUnavailable
from layover.runtime.dispatch.service import Service
from layover.runtime.machine import Machine
from tests.api.harness import listening
from tests.runtime.harness import Between, Held, Scripted, call, delay, end, engine_on, flow

# The operation of the store that each service cannot do without.
_NEEDED = {
    "claimer": "claims.claim",
    "outbox_relay": "outbox.read_due",
    "lease_renewer": "claims.renew",
    "listener": "commands.find_unread",
    "purger": "definitions.list_versions",
}
_QUICK = {"purge_every": 20, "outbox_poll": 20, "lease_ttl": 300}


class Faulty(Between):
    """A store one operation of which raises what a test wants, for as long as it wants it."""

    def __init__(self, folder: Path, operation: str) -> None:
        super().__init__(folder)
        self._operation = operation
        self.error: Exception | None = None
        self.asked: asyncio.Queue[None] = asyncio.Queue()

    def method(self, family: str, name: str) -> Any:
        found = super().method(family, name)
        if f"{family}.{name}" != self._operation:
            return found

        def operation(*arguments: object, **named: object) -> object:
            self.asked.put_nowait(None)
            if self.error is not None:
                raise self.error
            return found(*arguments, **named)

        return operation

    async def is_asked_again(self, times: int) -> None:
        """Wait until the operation has been asked for so many times from now on."""
        while not self.asked.empty():
            self.asked.get_nowait()
        for _ in range(times):
            await self.asked.get()


@pytest.mark.parametrize("error", [MemoryError(), OSError(24, "Too many open files"), StoreUnavailable("away")])
@pytest.mark.parametrize("service", _NEEDED)
async def test_a_service_survives_any_error_and_health_shows_it(tmp_path: Path, service: str, error: Exception) -> None:
    store, work, waits = Faulty(tmp_path, _NEEDED[service]), Scripted("done"), Held("waits")
    async with engine_on(store, work, waits, **_QUICK) as engine, listening(engine) as api:
        await engine.workflows.register(flow(call("a"), delay(duration="20ms"), end("${nodes.a}")))
        await engine.workflows.register(flow(call("w", "waits"), name="held"))
        await engine.executions.start("held")  # so that there is something to renew and to listen for
        store.error = error
        await store.is_asked_again(3)
        not_ready = await api.get("/readyz", as_="")
        assert engine.failing_services[service] >= 2
        # Others can work without the one that only cleans up.
        expected = (200, True) if service == "purger" else (503, False)
        assert (not_ready.status, not_ready.json["checks"]["worker"]["ok"]) == expected
        assert f'layover_service_failures{{service="{service}"}} 0' not in (await api.get("/metrics")).body.decode()
        store.error = None
        await store.is_asked_again(3)
        assert engine.failing_services[service] == 0
        assert (await api.get("/readyz", as_="")).status == 200
        assert (await engine.executions.start("flow", wait="end")).output == "done"


async def test_a_service_that_fails_by_its_own_errors_for_too_long_is_not_healthy(tmp_path: Path) -> None:
    store = Faulty(tmp_path, "claims.claim")
    async with engine_on(store, unhealthy_after=0) as engine, listening(engine) as api:
        store.error = MemoryError()
        await store.is_asked_again(3)
        sick = await api.get("/healthz", as_="")
        store.error = StoreUnavailable("away")  # where another process could do no better
        await store.is_asked_again(3)
        well = await api.get("/healthz", as_="")
    assert (sick.status, sick.json["status"]) == (503, "failing")
    assert (well.status, well.json["status"]) == (200, "ok")


async def test_a_service_that_has_ended_is_neither_ready_nor_healthy(tmp_path: Path) -> None:
    async with engine_on(Between(tmp_path)) as engine, listening(engine) as api:
        await _is_dead(engine._services[0])  # noqa: SLF001 - nothing outside can end one
        assert ((await api.get("/readyz", as_="")).status, (await api.get("/healthz", as_="")).status) == (503, 503)


async def _is_dead(service: Service) -> None:
    service.task.cancel()
    await asyncio.wait([service.task])


async def test_an_unexpected_error_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async def run(service: Service) -> None:
        if service.failures < 2:
            raise OSError("no room")
        service.succeeded()

    with caplog.at_level(logging.INFO, "layover.service"):
        service = Service("sweeper", run, first_pause=0.0, chance=Machine().chance)
        await asyncio.wait([service.task])
    failed = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert [one.getMessage() for one in failed] == [
        "service_failed service=sweeper failures=1",
        "service_failed service=sweeper failures=2",
    ]
    assert all(one.exc_info is not None for one in failed)
    assert caplog.records[-1].getMessage() == "service_recovered service=sweeper failures=2"


async def test_a_stopped_service_does_not_wait_for_its_next_try() -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()
    stopping = asyncio.Event()

    async def run(_service: Service) -> None:
        begun.put_nowait(None)
        if not stopping.is_set():
            raise OSError("no room")

    service = Service("sweeper", run, first_pause=3_600, longest_pause=3_600, chance=Machine().chance)
    await begun.get()
    stopping.set()
    service.stop()
    await asyncio.wait([service.task])
    assert not service.dead


@pytest.mark.parametrize("turns", range(5))
async def test_a_service_stopped_while_it_fails_ends_when_it_is_cancelled(turns: int) -> None:
    failed = asyncio.Event()

    async def run(_service: Service) -> None:
        if failed.is_set():
            await asyncio.Event().wait()
        failed.set()
        raise StoreUnavailable("away")

    service = Service("tried", run, chance=Machine().chance, first_pause=60, longest_pause=60)
    await failed.wait()
    await asyncio.sleep(0)
    service.stop()
    for _ in range(turns):  # the pause is over, and whoever waits for it has not been told yet
        await asyncio.sleep(0)
    service.task.cancel()
    ended, _ = await asyncio.wait([service.task], timeout=10)
    service.task.cancel()
    assert ended == {service.task}


async def test_a_service_that_cannot_clean_up_ends_when_it_is_cancelled() -> None:
    """A lock that is given back at the end, while the store is away: the engine that stops waits for the end."""
    begun: asyncio.Queue[None] = asyncio.Queue()
    ending = asyncio.Event()

    async def run(_service: Service) -> None:
        begun.put_nowait(None)
        try:
            await ending.wait()
        finally:
            if not ending.is_set():
                raise StoreUnavailable("away")

    service = Service("tidy", run, chance=Machine().chance, first_pause=0, longest_pause=0)
    await begun.get()
    service.task.cancel()
    again = asyncio.create_task(begun.get())
    await asyncio.wait([service.task, again], return_when=asyncio.FIRST_COMPLETED)
    again.cancel()
    ending.set()
    await asyncio.wait([service.task])
    assert service.task.cancelled()
