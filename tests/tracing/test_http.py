"""`traceparent` over HTTP: taken from requests, sent by the client and by `http` nodes."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from layover import Client
from tests.api.harness import ADMIN_KEY, Api, listening
from tests.client.scripted import Hurried, Says, scripted
from tests.nodes.http_site import site_of
from tests.runtime.harness import Held, approval, call, end, engine_at, flow, until_status
from tests.tracing.recording import Recording, context_of, links_of, traceparent_of
from tests.tracing.test_legs import CALLS_BACK, WAITS, the_point

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CALLER_SPAN = 0xB7AD6B7169203331
SENT = {"traceparent": CALLER}


def links_to_caller(leg: ReadableSpan) -> list[object]:
    """Return what the links to the caller are."""
    return [kind for kind, span_id in links_of(leg) if span_id == CALLER_SPAN]


async def started(api: Api, **headers: str) -> str:
    found = await api.post("/executions", {"workflow": "flow"}, headers=headers)
    assert found.status in (201, 202)
    return str(found.json["id"])


async def test_a_start_and_an_answer_link_to_their_requests(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path) as engine, listening(engine) as api:
        await engine.workflows.register(flow(approval(), end("done")))
        execution_id = await started(api, **SENT)
        await until_status(engine, execution_id, "paused")
        point = await the_point(engine, execution_id)
        answered = await api.post(f"/approvals/{point}/approve", {}, headers=SENT)
        assert answered.status == 201
        await engine.executions.result(execution_id)
    first, second = spans.legs()
    assert links_to_caller(first) == ["started_by"]
    assert links_to_caller(second) == ["resumed_by"]
    assert links_of(second)[0] == ("previous_leg", context_of(first).span_id)


async def test_a_signal_and_a_callback_link_to_their_requests(tmp_path: Path) -> None:
    spans, work = Recording(), Held()
    async with spans.engine_at(tmp_path, work) as engine, listening(engine) as api:
        await engine.workflows.register(flow(WAITS, CALLS_BACK, end("done")))
        execution_id = await started(api)
        await until_status(engine, execution_id, "waiting")
        assert (await api.post("/signals", {"name": "paid"}, headers=SENT)).status == 202
        made = await work.begun()
        made.returns()
        await until_status(engine, execution_id, "waiting")
        token = made.given["token"]
        assert (await api.post(f"/callbacks/{token}", {"output": 1}, as_="", headers=SENT)).status in (200, 202, 204)
        await engine.executions.result(execution_id)
    first, second, third = spans.legs()
    assert [links_to_caller(leg) for leg in (first, second, third)] == [[], ["resumed_by"], ["resumed_by"]]


@pytest.mark.parametrize(
    "header", ["", "nonsense", CALLER.upper(), f"{CALLER}-01", "0" * 4_000, f"00-{'0' * 32}-b7-01"]
)
async def test_what_is_no_traceparent_is_ignored(tmp_path: Path, header: str) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path) as engine, listening(engine) as api:
        await engine.workflows.register(flow(end("done")))
        execution_id = await started(api, traceparent=header)
        await engine.executions.result(execution_id)
    assert links_of(spans.legs()[0]) == []


async def test_without_a_provider_the_header_changes_nothing(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        await engine.workflows.register(flow(end("done")))
        execution_id = await started(api, **SENT)
        await engine.executions.result(execution_id)
        assert CALLER not in str(await engine.queries.history(execution_id))


async def test_the_client_sends_the_span_that_its_caller_is_in(tmp_path: Path) -> None:
    spans = Recording()
    async with (
        spans.engine_at(tmp_path) as engine,
        listening(engine) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        await engine.workflows.register(flow(approval(), end("done")))
        with spans.tracer.start_as_current_span("a shop") as shop:
            execution = await client.start("flow", until="people")
        with spans.tracer.start_as_current_span("a manager") as manager:
            await (await execution.point("review")).approve()
        await execution.result()
    first, second = spans.legs()
    assert links_of(first) == [("started_by", shop.get_span_context().span_id)]
    assert links_of(second)[1:] == [("resumed_by", manager.get_span_context().span_id)]


async def test_a_client_outside_any_span_sends_no_header() -> None:
    spans = Recording()
    async with scripted(Says(), Says()) as server, Hurried(server.url) as hurried:
        await hurried.execution.pause()
        with spans.tracer.start_as_current_span("an operator"):
            await hurried.execution.pause()
    (operator,) = spans.spans
    assert [asked.headers.get("traceparent") for asked in server.asked] == [None, traceparent_of(operator)]


async def test_an_http_node_sends_its_attempt_unless_the_definition_says_another(tmp_path: Path) -> None:
    spans = Recording()
    async with site_of(lambda _: web.json_response({})) as site, spans.engine_at(tmp_path, http_private=True) as engine:
        own = call("b", "http", url=site.url("/b"), headers={"Traceparent": CALLER})
        await engine.workflows.register(flow(call("a", "http", url=site.url("/a")), own, end("done")))
        done = await engine.executions.start("flow", wait="end")
        assert done.status == "completed"
    first, _ = spans.attempts()
    assert [seen.headers.getall("traceparent") for seen in site.seen] == [[traceparent_of(first)], [CALLER]]
