"""Traces of `layover serve` and `layover worker`, as a collector gets them: over a pause, a kill, other instances."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.bootstrap import open_store
from layover.core.engine.codec import decode_events
from layover.core.engine.events import LegStarted
from layover.tracing.export import SpanExport, is_wanted, set_up_export
from tests.cli.serving import LAYOVER, Serving, sent, serving
from tests.runtime.harness import address_in
from tests.tracing.collector import collecting

if TYPE_CHECKING:
    from tests.tracing.collector import Collected, Collector

KEY = "an-admin-key-for-tests-only"
START = {"workflow": "outer", "wait": "30s", "until": "people"}
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CALLER_SPAN = "b7ad6b7169203331"
WORKER = (*LAYOVER[:-1], "worker")

NODES = """
import asyncio, pathlib

async def first() -> int:
    return 1

async def fatal() -> int:
    called = pathlib.Path("called")
    if not called.exists():
        called.touch()
        print("called", flush=True)
        await asyncio.Event().wait()
    return 2

async def hand_over(token: str) -> None:
    from opentelemetry.propagate import inject
    sent = {}
    inject(sent)
    pathlib.Path("token").write_text(token + " " + sent["traceparent"])
"""
INNER = "name: inner\nnodes: [{id: a, type: first}]\n"
OUTER = """
name: outer
nodes:
  - {id: a, type: first, next: review}
  - {id: review, type: approval, next: b}
  - {id: b, type: fatal, next: c}
  - {id: c, type: workflow, workflow: inner}
"""
CALLS_BACK = """
name: outer
nodes: [{id: a, type: callback, call: hand_over, input: {token: "${callback.token}"}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "inner.yaml").write_text(INNER)
    (tmp_path / "outer.yaml").write_text(OUTER)
    return tmp_path


def options(folder: Path) -> tuple[str, ...]:
    return "inner.yaml", "outer.yaml", "--nodes", "nodes.py", "--db", address_in(folder)


def environment(collector: Collector) -> dict[str, Any]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "50", "LAYOVER_ADMIN_KEY": KEY}


def ask(server: Serving, method: str, path: str, body: object = None) -> Any:
    headers = {"authorization": f"Bearer {KEY}", "traceparent": CALLER, "content-type": "application/json"}
    data = msgspec.json.encode(body) if body is not None else None
    status, answer = sent(method, f"{server.url}/api/v1{path}", headers, data)
    assert status < 300, answer
    return msgspec.json.decode(answer)


async def stored(folder: Path, execution_id: str) -> list[str]:
    """Return the ids of the spans of the legs, as the log has them."""
    store = open_store(address_in(folder))
    await store.open("a test")
    entries = await store.queries.read_history(execution_id, 0, 1_000)
    await store.close()
    events = [event for entry in entries for event in decode_events(entry.events)]
    return [event.traceparent.split("-")[2] for event in events if isinstance(event, LegStarted)]


@pytest.mark.usefixtures("each_database")
async def test_legs_are_linked_over_a_pause_a_kill_and_three_instances(folder: Path) -> None:
    with collecting() as collector:
        more = environment(collector)
        with serving(folder, *options(folder), **more) as one:
            found = ask(one, "POST", "/executions", START)
            execution_id = str(found["id"])

            def leg(number: int, of: str = execution_id) -> Collected:
                return collector.until(
                    lambda span: span.leg == number and span.attributes["layover.execution.id"] == of
                )

            first = leg(1)
            one.stop(signal.SIGKILL)
        with serving(folder, *options(folder), **more) as two:
            (point,) = ask(two, "GET", f"/pause-points?execution_id={execution_id}")["items"]
            ask(two, "POST", f"/approvals/{point['id']}/approve", {})
            two.said("called")
            two.stop(signal.SIGKILL)  # in the middle of a call: the span of this leg is lost with it
        with serving(folder, *options(folder), program=WORKER, **more) as three:
            third, last = leg(3), leg(4)
            inner = collector.until(lambda span: span.name == "leg inner")
            assert three.stop() == 0
    spans = await stored(folder, execution_id)
    assert [spans[0], spans[2], spans[3]] == [first.span_id, third.span_id, last.span_id]
    assert spans[1] not in {span.span_id for span in collector.spans}
    assert first.links == [("started_by", CALLER_SPAN)]
    assert third.links == [("previous_leg", spans[1])]
    assert [third.attributes["layover.leg.cause"], third.attributes["layover.pause.cause"]] == ["recovered", "child"]
    assert inner.links == [("started_by", third.span_id)]
    assert sorted(last.links) == [("previous_leg", third.span_id), ("resumed_by", inner.span_id)]
    assert len({span.trace_id for span in (first, third, last, inner)}) == 4
    assert not any(span.parent_id for span in (first, third, last, inner))
    assert len({span.attributes["layover.instance"] for span in (first, third)}) == 2
    again = collector.until(lambda span: span.attributes.get("layover.node.attempt") == 2)
    assert [again.name, again.parent_id] == ["attempt b", third.span_id]
    assert {span.service for span in collector.spans} == {"layover"}


def test_an_answer_over_http_is_linked_from_its_leg(folder: Path) -> None:
    with collecting() as collector:
        (folder / "called").touch()
        with serving(folder, *options(folder), **environment(collector)) as one:
            found = ask(one, "POST", "/executions", START)
            (point,) = ask(one, "GET", f"/pause-points?execution_id={found['id']}")["items"]
            ask(one, "POST", f"/approvals/{point['id']}/approve", {})
            second = collector.until(lambda span: span.name == "leg outer" and span.leg == 2)
            assert one.stop() == 0
    assert ("resumed_by", CALLER_SPAN) in second.links


def test_a_callback_to_another_process_is_linked_from_the_leg_that_goes_on(folder: Path) -> None:
    (folder / "outer.yaml").write_text(CALLS_BACK)
    with collecting() as collector:
        more = environment(collector)
        with serving(folder, *options(folder), **more) as one:
            found = ask(one, "POST", "/executions", {**START, "until": "rest"})
            first = collector.until(lambda span: span.name == "leg outer")
            attempt = collector.until(lambda span: span.name == "attempt a")
            one.stop(signal.SIGKILL)
        token, traceparent = (folder / "token").read_text().split()
        with serving(folder, *options(folder), **more) as two:
            ask(two, "POST", f"/callbacks/{token}", {"output": 1})
            second = collector.until(lambda span: span.name == "leg outer" and span.leg == 2)
            assert ask(two, "GET", f"/executions/{found['id']}?wait=30s")["status"] == "completed"
            assert two.stop() == 0
    assert traceparent[:-3] == f"00-{attempt.trace_id}-{attempt.span_id}"  # what the function was given to pass on
    assert (attempt.parent_id, attempt.attributes["layover.outcome"]) == (first.span_id, "handed_over")
    assert first.attributes["layover.pause.cause"] == "callback"
    assert sorted(second.links) == [("previous_leg", first.span_id), ("resumed_by", CALLER_SPAN)]
    assert second.events == ["resumed"]


def test_a_collector_that_is_gone_holds_up_nothing(folder: Path) -> None:
    """It answers no connection, as one does behind a wall that drops them; the process stops in its own time."""
    (folder / "called").touch()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        gone: dict[str, Any] = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "600",  # seconds: nothing but our own limit ends it
            "OTEL_BSP_SCHEDULE_DELAY": "600000",  # milliseconds: all spans are left for the end
            "LAYOVER_ADMIN_KEY": KEY,
        }
        with serving(folder, *options(folder), **gone) as one:
            assert ask(one, "POST", "/executions", START)["status"] == "paused"
            assert one.stop() == 0
            one.said("tracing_cut_short")


def test_what_is_not_installed_is_said_and_nothing_more(folder: Path) -> None:
    program = "import sys; sys.modules['opentelemetry.sdk'] = None; from layover.cli.main import main; main()"
    without = (sys.executable, "-c", program, "serve")
    with serving(folder, *options(folder), program=without, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1") as one:
        one.said(r"tracing_unavailable error=\S+ is missing: pip install \S*layover\[otel\]")
        assert one.url


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_the_environment_says_whether_it_is_wanted(given: dict[str, str], wanted: bool) -> None:
    assert is_wanted(given) == wanted


def test_another_protocol_is_refused_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with caplog.at_level(logging.WARNING):
        assert type(set_up_export(given)) is SpanExport
    assert "only http/protobuf is supported, not grpc" in caplog.text


def test_an_engine_without_traces_does_not_load_opentelemetry(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from layover import Engine

async def main():
    async with Engine("sqlite:///" + sys.argv[1]) as engine:
        await engine.register({"name": "w", "nodes": [{"id": "e", "type": "end", "output": 1}]})
        assert await engine.run("w") == 1

asyncio.run(main())
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    words = [sys.executable, "-c", program, str(tmp_path / "layover.db")]
    subprocess.run(words, check=True)  # noqa: S603 - this program
