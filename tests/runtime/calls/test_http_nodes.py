"""Nodes that call an address: their answers, failures and retries, and callbacks through one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from layover.runtime.maintenance.verify import violations
from tests.nodes.http_site import Site, site_of
from tests.runtime.harness import Scripted, end, engine_at, flow, until_status

if TYPE_CHECKING:
    from layover.errors import Failure
    from layover.runtime.runtime import Runtime

TWICE = {"max_attempts": 2, "delay": "1ms"}


def http(url: str, **fields: object) -> dict[str, object]:
    return {"id": "a", "type": "http", "url": url, **fields}


async def failure_of(engine: Runtime, node: dict[str, object]) -> Failure:
    """Return what a workflow of one node fails with."""
    await engine.workflows.register(flow(node))
    failed = await engine.executions.start("flow", wait="end")
    assert failed.error is not None
    return failed.error


class Hanging:
    """A site that answers nothing; it knows who is waiting, and who has gone."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.gone = asyncio.Event()

    async def __call__(self, _request: web.BaseRequest) -> web.StreamResponse:
        self.arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.gone.set()
        raise AssertionError("nobody lets it go")


async def test_an_answer_is_the_output_and_expressions_fill_the_request(tmp_path: Path) -> None:
    node = http(
        "${input.site}/orders/${input.order.id}",
        method="PUT",
        headers={"X-Customer": "${input.order.customer}"},
        query={"pieces": "${input.order.pieces}"},
        body={"order": "${input.order}"},
        auth={"bearer": "${input.token}"},
    )
    order = {"id": "A7", "customer": "ada", "pieces": 3}
    async with (
        site_of(lambda _: web.json_response({"price": 7}, status=201)) as site,
        engine_at(tmp_path, http_private=True) as engine,
    ):
        await engine.workflows.register(
            flow(node, end([f"${{nodes.a.{field}}}" for field in ("status", "body.price")]))
        )
        done = await engine.executions.start("flow", {"site": site.url(""), "order": order, "token": "t"}, wait="end")
        assert done.output == [201, 7]
        (seen,) = site.seen
        assert (seen.method, seen.path, seen.query) == ("PUT", "/orders/A7", [("pieces", "3")])
        assert json.loads(seen.body) == {"order": order}
        assert (seen.headers["X-Customer"], seen.headers["Authorization"]) == ("ada", "Bearer t")
        assert seen.headers["Idempotency-Key"] == f"{done.id}/a"
        assert await violations(engine.instance.store) == []


@pytest.mark.parametrize(("status", "requests"), [(503, 3), (429, 3), (404, 1)])
async def test_the_status_says_whether_to_try_again(tmp_path: Path, status: int, requests: int) -> None:
    retry = {"max_attempts": 3, "delay": "1ms", "retry_on": ["5xx", "429"]}
    async with (
        site_of(lambda _: web.Response(status=status)) as site,
        engine_at(tmp_path, http_private=True) as engine,
    ):
        failure = await failure_of(engine, http(site.url(), retry=retry))
        assert (failure.code, failure.status, failure.attempt) == ("http_status", status, requests)
        assert len(site.seen) == requests
        assert len({seen.headers["Idempotency-Key"] for seen in site.seen}) == 1


async def test_a_retry_that_is_answered_is_the_answer(tmp_path: Path) -> None:
    statuses = [503, 200]
    async with (
        site_of(lambda _: web.Response(status=statuses.pop(0), text="well")) as site,
        engine_at(tmp_path, http_private=True) as engine,
    ):
        await engine.workflows.register(flow(http(site.url(), retry=TWICE), end("${nodes.a.body}")))
        assert (await engine.executions.start("flow", wait="end")).output == "well"


async def test_addresses_that_are_not_public_are_refused_by_default(tmp_path: Path) -> None:
    async with site_of(lambda _: web.Response()) as site, engine_at(tmp_path) as engine:
        failure = await failure_of(engine, http(site.url(), retry=TWICE))
        assert (failure.code, failure.attempt) == ("http_refused", 1)
        assert site.seen == []


async def test_a_host_that_is_not_there_is_tried_again(tmp_path: Path) -> None:
    async with engine_at(tmp_path, http_private=True) as engine:
        failure = await failure_of(engine, http("http://127.0.0.1:1/", retry=TWICE))
        assert (failure.code, failure.attempt) == ("http_unreachable", 2)


async def test_a_request_without_an_answer_fails_after_its_timeout(tmp_path: Path) -> None:
    async with Site(Hanging()).open() as site, engine_at(tmp_path, http_private=True, http_timeout=50) as engine:
        assert (await failure_of(engine, http(site.url()))).code == "http_timeout"


async def test_the_timeout_of_a_node_counts_instead_of_that_of_the_engine(tmp_path: Path) -> None:
    async with Site(Hanging()).open() as site, engine_at(tmp_path, http_private=True, http_timeout=0) as engine:
        assert (await failure_of(engine, http(site.url(), timeout="30ms"))).code == "timeout"


async def test_cancelling_an_execution_stops_its_http_request(tmp_path: Path) -> None:
    hanging = Hanging()
    async with Site(hanging).open() as site, engine_at(tmp_path, http_private=True) as engine:
        await engine.workflows.register(flow(http(site.url())))
        started = await engine.executions.start("flow")
        await hanging.arrived.wait()
        await engine.control.cancel(started.id)
        await until_status(engine, started.id, "cancelled")
        await hanging.gone.wait()


async def test_a_request_that_is_out_when_the_engine_stops_is_made_again(tmp_path: Path) -> None:
    hanging = Hanging()
    async with Site(hanging).open() as site:
        async with engine_at(tmp_path, http_private=True, grace=0) as engine:
            await engine.workflows.register(flow(http(site.url())))
            started = await engine.executions.start("flow")
            await hanging.arrived.wait()
        await hanging.gone.wait()
        hanging.arrived.clear()
        async with engine_at(tmp_path, http_private=True, grace=0):
            await hanging.arrived.wait()
        assert [seen.headers["Idempotency-Key"] for seen in site.seen] == [f"{started.id}/a"] * 2


async def test_a_function_of_that_name_is_called_instead(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted({"status": 299}, name="http")) as engine:
        await engine.workflows.register(flow(http("http://127.0.0.1:1/"), end("${nodes.a.status}")))
        assert (await engine.executions.start("flow", wait="end")).output == 299


async def test_an_address_is_asked_to_call_back(tmp_path: Path) -> None:
    node: dict[str, object] = {
        "id": "pick",
        "type": "callback",
        "call": "http",
        "input": {"url": "${input}", "method": "POST", "body": {"reply_to": "${callback.url}"}},
        "next": "finish",
    }
    async with (
        site_of(lambda _: web.Response(status=202)) as site,
        engine_at(tmp_path, http_private=True, public_url="https://flows.example") as engine,
    ):
        await engine.workflows.register(flow(node, end("${nodes.pick.pallet}")))
        started = await engine.executions.start("flow", site.url(), wait="rest")
        assert started.status == "waiting"
        reply_to = json.loads(site.seen[0].body)["reply_to"]
        assert reply_to.startswith("https://flows.example/api/v1/callbacks/")
        await engine.callbacks.reply(reply_to.rpartition("/")[2], {"pallet": 7})
        assert await engine.executions.result(started.id) == 7


async def test_a_callback_may_arrive_before_the_call_returns(tmp_path: Path) -> None:
    engine = engine_at(tmp_path, http_private=True)

    async def reply(request: web.BaseRequest) -> web.StreamResponse:
        await engine.callbacks.reply((await request.json())["reply_to"], "at once")
        return web.Response(status=202)

    node: dict[str, object] = {
        "id": "pick",
        "type": "callback",
        "call": "http",
        "input": {"url": "${input}", "method": "POST", "body": {"reply_to": "${callback.token}"}},
    }
    async with Site(reply).open() as site, engine:
        await engine.workflows.register(flow(node, end("${nodes.pick}")))
        assert (await engine.executions.start("flow", site.url(), wait="end")).output == "at once"
