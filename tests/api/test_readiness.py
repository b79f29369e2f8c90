"""Whether work can be done here: each way of not being ready is told apart."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Any

import pytest

from layover.api.access.config import AccessSettings
from layover.api.application import application
from layover.bootstrap import migrate_to, shape_of
from layover.ports.errors import StoreUnavailable
from tests.api.harness import ADMIN_KEY, UNLIMITED, Answered, listening
from tests.runtime.harness import Between, address_in, call, engine_at, engine_on, flow, look

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.records import Claim, Claims

pytestmark = pytest.mark.usefixtures("each_database")


def failed(answered: Answered) -> dict[str, str]:
    """Return the checks that failed, with what is told of them."""
    assert answered.json["status"] == ("ready" if answered.status == 200 else "not_ready")
    return {name: check["detail"] for name, check in answered.json["checks"].items() if not check["ok"]}


class ReadOnly(Between):
    """A database that lets nobody write."""

    async def locks_acquire(self, *_asked: Any) -> bool:
        raise StoreUnavailable("The disk of db.internal is full.", code="full")


async def test_a_database_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "layover.api")
    async with engine_on(ReadOnly(tmp_path)) as engine, listening(engine) as api:
        answered = await api.get("/readyz", as_="")
        alive = await api.get("/healthz", as_="")

    assert (answered.status, failed(answered), alive.status) == (503, {"database": "full"}, 200)
    assert "db.internal" not in answered.body.decode()
    assert "not_ready check=database code=full error=The disk of db.internal is full." in caplog.messages


async def test_tables_of_another_release(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        before = await api.get("/readyz", as_="")
        newest = (await shape_of(address_in(tmp_path))).newest
        await migrate_to(address_in(tmp_path), newest - 1)
        down = await api.get("/readyz", as_="")
        await migrate_to(address_in(tmp_path), newest)
        up = await api.get("/readyz", as_="")

    assert (before.status, down.status) == (200, 503)
    assert failed(down)["migrations"] == "old_database"
    assert "migrations" not in failed(up)  # the worker may need a moment to find that out


class Unclaimable(Between):
    """A database in which nothing can be claimed while there is an `error`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.error: Exception | None = None
        self.asked: asyncio.Queue[Exception | None] = asyncio.Queue()

    async def claims_claim(self, claim: Claim) -> Claims:
        self.asked.put_nowait(self.error)
        if self.error is not None:
            raise self.error
        return await self.store.claims.claim(claim)

    async def has_answered(self, error: Exception | None) -> None:
        """Return when a claim has ended so: the next one is made."""
        for _ in range(2):
            while await self.asked.get() is not error:
                pass


async def test_a_worker_that_finds_nothing(tmp_path: Path) -> None:
    store = Unclaimable(tmp_path)
    async with engine_on(store) as engine, listening(engine) as api:
        store.error = error = StoreUnavailable("It is away.")
        look(engine)
        await store.has_answered(error)
        failing = await api.get("/readyz", as_="")
        store.error = None
        await store.has_answered(None)
        well = await api.get("/readyz", as_="")

    assert (failing.status, failed(failing)) == (503, {"worker": "It cannot take up work just now."})
    assert (well.status, failed(well)) == (200, {})


async def test_a_worker_that_has_ended(tmp_path: Path) -> None:
    store = Unclaimable(tmp_path)
    async with engine_on(store) as engine, listening(engine) as api:
        store.error = RuntimeError("a fault of ours")
        look(engine)
        while await store.asked.get() is None:
            pass
        answered = await api.get("/readyz", as_="")

    assert (answered.status, failed(answered)) == (503, {"worker": "It cannot take up work just now."})


async def test_threads_that_are_held_by_calls_that_were_given_up(tmp_path: Path) -> None:
    entered, let_go = threading.Semaphore(0), threading.Event()

    def work() -> None:
        entered.release()
        let_go.wait(60)

    async def abandon(count: int) -> None:
        """Give up a call whose function stays inside its thread."""
        started = await engine.executions.start("flow")
        await asyncio.to_thread(entered.acquire)
        await engine.control.cancel(started.id)
        while engine.instance.node_runner.threads.abandoned != count:
            await asyncio.to_thread(bool)

    async with engine_at(tmp_path, work, threads=2, abandoned_threads=0) as engine, listening(engine) as api:
        await engine.workflows.register(flow(call("a")))
        try:
            await abandon(1)
            some = await api.get("/readyz", as_="")
            await abandon(2)
            none = await api.get("/readyz", as_="")
            numbers = (await api.get("/metrics")).body.decode()
        finally:
            let_go.set()

    assert (some.status, some.json["checks"]["threads"]["ok"]) == (200, True)
    assert (none.status, failed(none)) == (
        503,
        {"threads": "2 of 2 threads are held by calls that were given up."},
    )
    for line in ("layover_threads_busy 0.0", "layover_threads_abandoned 2.0", "layover_threads_lacking 2.0"):
        assert line in numbers.splitlines()


async def test_a_server_that_is_stopping(tmp_path: Path) -> None:
    """It takes no more connections, so that only those ask which are open: here the application is asked itself."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    async with engine_at(tmp_path) as engine:
        app = application(engine, settings=UNLIMITED, access=AccessSettings(admin_key=ADMIN_KEY))
        app.state.services.stopping.set()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/readyz",
            "headers": [],
            "query_string": b"",
            "root_path": "",
        }
        await app(scope, receive, send)

    answered = Answered(sent[0]["status"], sent[1]["body"], {})
    assert (answered.status, failed(answered)) == (503, {"server": "It is stopping."})
