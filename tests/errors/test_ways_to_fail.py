"""However something fails, its cause and its place can be read on every surface, and no credential can."""

from __future__ import annotations

import logging
import socket
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from aiohttp import web
from msgspec.structs import replace

from layover import Engine, InvalidDefinition, MissingFunctions, Settings, redaction
from layover.engine import runtime_of
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Append, Claim, Outcome
from tests.errors.failing import Blocker, Stuck
from tests.errors.planted import AUTH, IN_URL, PLANTED, REGISTERED, secrets_in, secrets_on_disk
from tests.errors.surfaces import SETTINGS, bench
from tests.nodes.http_site import site_of
from tests.runtime.harness import Between, Held, call, engine_on, flow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover import ExecutionHandle
    from tests.errors.surfaces import Bench, Surfaces

HERE = "tests/errors/failing.py"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """A value that is registered as a secret, as a store of secrets would."""
    redaction.register_secret(REGISTERED)
    yield
    redaction.forget_secret(REGISTERED)


class Way(NamedTuple):
    """A way to fail: the node, what has to be read of its cause and its place, and what only the log can say."""

    node: dict[str, Any]
    said: tuple[str, ...]
    logged: tuple[str, ...] = ()
    has_frames: bool = True


def at(function: str) -> str:
    """Return the end of the line that names a place in a function."""
    return f"in {function}"


WAYS = {
    "exception": Way({"type": "plain_exception"}, ("KeyError", "the key", "price_of", "plain_exception")),
    "chained exception": Way({"type": "chained_exception"}, ("ValueError", "no price", "KeyError", "price_of")),
    "exception in a handler": Way({"type": "exception_in_handler"}, ("no price either", "KeyError", "price_of")),
    "exception group": Way({"type": "exception_group"}, ("ExceptionGroup", "OSError", "first", "second", "_fail")),
    "group in a group": Way(
        {"type": "groups_in_groups"}, ("ExceptionGroup", "first", "_fail", "no price", "KeyError", "price_of")
    ),
    "exception with notes": Way({"type": "exception_with_notes"}, ("no price", "while importing row 7")),
    "SystemExit": Way({"type": "system_exit"}, ("SystemExit", "leaving", "system_exit")),
    "KeyboardInterrupt in a thread": Way({"type": "keyboard_interrupt"}, ("KeyboardInterrupt", "keyboard_interrupt")),
    "cancelled by itself": Way({"type": "cancels_itself"}, ("CancelledError", "given up", "cancels_itself")),
    "error that cannot be read": Way({"type": "unreadable_error"}, ("UnreadableError", "unreadable_error")),
    "deep recursion": Way({"type": "deep_exception"}, ("KeyError", "deep_exception", "sink", "price_of")),
    "assertion in a thread": Way({"type": "assertion_in_a_thread"}, ("AssertionError", "not the main thread", HERE)),
    "result that is not JSON": Way({"type": "not_json"}, ("payload_not_json", "cannot be written as JSON", "not_json")),
    "result that is too large": Way({"type": "too_large"}, ("payload_too_large", "too_large", HERE)),
    "result of another type": Way({"type": "wrong_type"}, ("wrong_type", HERE)),
    "input of another type": Way(
        {"type": "takes_a_number", "input": {"number": "${input.text}"}},
        ("bad_input", "number", "takes_a_number", HERE),
    ),
    "timeout": Way(
        {"type": "takes_too_long", "timeout": "10ms"},
        ("TimeoutError", "took longer than its timeout"),
        (HERE, at("takes_too_long")),
        has_frames=False,
    ),
    "no heartbeat": Way(
        {"type": "no_heartbeat", "heartbeat": "10ms"}, ("heartbeat_timeout", "no heartbeat for 10ms", "no_heartbeat")
    ),
    "expression": Way(
        {"type": "takes_a_number", "input": {"number": "${input.text * 2}"}}, ("ExpressionError",), has_frames=False
    ),
    "retries that are used up": Way(
        {"type": "plain_exception", "retry": {"max_attempts": 3, "delay": "1ms"}},
        ("KeyError", "price_of"),
        ("attempt=1", "attempt=3", "retry_at=None"),
    ),
}


@pytest.mark.parametrize("name", WAYS)
async def test_cause_and_place_can_be_read_and_credentials_cannot(name: str, tmp_path: Path) -> None:
    way = WAYS[name]
    async with bench(tmp_path) as work:
        execution = await failed(work, {"id": "here", **way.node})
        surfaces = await work.surfaces(execution)
        assert surfaces.lacking("here", *way.said, *((HERE,) if way.has_frames else ())) == {}
        assert [text for text in way.logged if text not in surfaces.log] == []
        assert_no_credentials(surfaces, tmp_path)
        assert "failing.py" not in surfaces.viewer
        assert '"traceback":{' not in surfaces.viewer


async def failed(work: Bench, *nodes: dict[str, Any], name: str = "failing") -> ExecutionHandle:
    """Run a workflow of some nodes, which fails."""
    await work.engine.register({"name": name, "nodes": [*nodes]})
    execution = await work.engine.start(name, {"text": "a text"})
    return await execution.wait("end", timeout="60s")


def assert_no_credentials(surfaces: Surfaces, folder: Path, *more: str) -> None:
    assert {name: found for name, text in surfaces._asdict().items() if (found := secrets_in(text, *more))} == {}
    assert secrets_on_disk(folder) == []


# Requests


def refusing(request: web.BaseRequest) -> web.Response:
    text = f"overloaded, sorry. You sent {request.headers['Authorization']}. {PLANTED}"
    return web.Response(status=503, text=text, headers={"Set-Cookie": "planted-cookie=1"})


def answering_with_an_image(_request: web.BaseRequest) -> web.Response:
    return web.Response(body=b"\x89PNG", content_type="image/png")


def request_to(url: str) -> dict[str, Any]:
    return {"id": "here", "type": "http", "url": url, "method": "POST", "auth": {"bearer": AUTH}}


async def test_a_status_that_means_failure_keeps_request_and_answer(tmp_path: Path) -> None:
    async with site_of(refusing) as site, bench(tmp_path) as work:
        execution = await failed(work, request_to(site.url(f"/charge?token={IN_URL}&n=1")))
        surfaces = await work.surfaces(execution)
        line = f"POST http://127.0.0.1:{site.port}/charge?token=[redacted]&n=1"
        assert surfaces.lacking("here", "HttpStatus", "status 503", line, "503 Service Unavailable", "sorry") == {}
        assert_no_credentials(surfaces, tmp_path, AUTH, IN_URL)
        assert "sorry" not in surfaces.viewer
        (node,) = await execution.nodes().all()
        assert node.attempts[0].error is not None
        assert node.attempts[0].error.status == 503


async def test_a_refused_connection_says_to_where(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    async with bench(tmp_path) as work:
        surfaces = await work.surfaces(await failed(work, request_to(f"http://127.0.0.1:{port}/x")))
        assert (
            surfaces.lacking("here", "HttpUnreachable", "Connect call failed", f"POST http://127.0.0.1:{port}/x") == {}
        )
        found = {name: text for name, text in surfaces._asdict().items() if AUTH in text}
        assert found == {}


async def test_an_answer_that_cannot_be_stored_says_what_it_was(tmp_path: Path) -> None:
    async with site_of(answering_with_an_image) as site, bench(tmp_path) as work:
        surfaces = await work.surfaces(await failed(work, request_to(site.url("/picture"))))
        assert surfaces.lacking("here", "HttpBadAnswer", "image/png", "/picture", "200 OK") == {}
        assert_no_credentials(surfaces, tmp_path, AUTH)


async def test_an_address_that_is_not_public_is_named(tmp_path: Path) -> None:
    private = Settings(http_private=False)
    async with bench(tmp_path, settings=private) as work:
        surfaces = await work.surfaces(await failed(work, request_to("http://127.0.0.1:9/x")))
        assert surfaces.lacking("here", "HttpRefused", "not public", "POST http://127.0.0.1:9/x") == {}


# Others


async def test_what_a_node_logs_is_read_beside_its_failure_without_credentials(tmp_path: Path) -> None:
    async with bench(tmp_path, settings=replace(SETTINGS, node_logs=True)) as work:
        execution = await failed(work, {"id": "here", "type": "logs_and_fails"})
        flushing = runtime_of(work.engine).instance.node_logs
        assert flushing is not None
        await flushing.flush()
        told = await work.lines(execution)
        for text in told.values():
            assert [one for one in ("message", "row=7", "caught", "KeyError", "price_of") if one not in text] == []
            assert secrets_in(text) == []
        surfaces = await work.surfaces(execution)  # the log is written by a handler of the test, which masks nothing
        assert_no_credentials(surfaces._replace(log=""), tmp_path)
        assert (await work.api.get(f"/executions/{execution.id}/logs", as_="viewer")).status == 403


async def test_the_failure_of_a_child_is_read_at_its_parent(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        await work.engine.register({"name": "child", "nodes": [{"id": "inner", "type": "chained_exception"}]})
        execution = await failed(work, {"id": "here", "type": "workflow", "workflow": "child"})
        surfaces = await work.surfaces(execution)
        assert surfaces.lacking("here", "inner", "ValueError: no price", "KeyError", "price_of", HERE) == {}
        assert_no_credentials(surfaces, tmp_path)


async def test_a_callback_that_reports_a_failure_is_shown_without_credentials(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        await work.engine.register(
            {"name": "calling", "nodes": [{"id": "here", "type": "callback", "call": "slow_start"}]}
        )
        execution = await work.engine.start("calling", until="rest")
        (point,) = await execution.points().all()
        await work.engine.callback(point_id=point.id).fail(f"the other side broke {PLANTED}")
        await execution.wait("end", timeout="60s")
        surfaces = await work.surfaces(execution)
        assert surfaces.lacking("here", "callback_failed", "the other side broke") == {}
        assert_no_credentials(surfaces, tmp_path)


async def test_the_failure_in_a_branch_is_read_at_the_execution(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        body = [{"id": "here", "type": "plain_exception"}]
        parallel = {"id": "each", "type": "parallel", "for_each": "[1, 2]", "body": body, "on_failure": "wait"}
        surfaces = await work.surfaces(await failed(work, parallel))
        assert surfaces.lacking("here:each.0", "KeyError", "price_of", HERE) == {}


async def test_a_failure_that_waits_for_an_operator_or_a_retry_is_read_by_why(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        for id_, retry in (("once", {"max_attempts": 1, "on_exhausted": "pause"}), ("soon", {"delay": "1h"})):
            await work.engine.register({"name": id_, "nodes": [{"id": id_, "type": "plain_exception", "retry": retry}]})
            execution = await work.engine.start(id_)
            await execution.wait("rest", timeout="60s")
            surfaces = await work.surfaces(execution)
            assert surfaces.lacking(id_, "KeyError", "price_of", HERE) == {}
            assert_no_credentials(surfaces, tmp_path)


async def test_a_missing_function_is_named(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        definition = {"name": "missing", "nodes": [{"id": "here", "type": "nobody_has_it"}]}
        await work.engine.register(definition, allow_unknown=True)
        execution = await work.engine.start("missing")
        with pytest.raises(MissingFunctions, match="nobody_has_it"):
            await execution.result(timeout="60s")
        surfaces = await work.surfaces(execution)
        assert surfaces.lacking("nobody_has_it") == {}
        assert surfaces.lacking("here") in ({}, {"log": ["here"]})


async def test_a_bad_definition_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "name: bad\nnodes:\n  - {id: here, type: plain_exception, nxt: there}\n"
    async with bench(tmp_path) as work:
        with pytest.raises(InvalidDefinition) as refused:
            await work.engine.register(text)
        assert "3:" in str(refused.value)
        assert "nxt" in str(refused.value)
        answered = await work.api.ask(
            "POST", "/workflows", raw=text.encode(), headers={"content-type": "application/yaml"}
        )
        assert (answered.status, "nxt" in answered.body.decode()) == (422, True)


async def test_a_poisonous_execution_says_how_often_it_was_lost(tmp_path: Path) -> None:
    stuck = Stuck()
    async with bench(tmp_path, stuck.stuck) as work:
        runtime = runtime_of(work.engine)
        await work.engine.register({"name": "poison", "nodes": [{"id": "here", "type": "stuck"}]})
        execution = await work.engine.start("poison")
        await stuck.begun.wait()
        runtime.instance.driver.active[execution.id].drop()
        for _ in range(3):
            row = await runtime.instance.store.queries.find_execution(execution.id)
            assert row is not None
            wish = Claim(instance="thief", now=row.head.wake_at or 0, lease_until=0, execution_id=execution.id)
            await runtime.instance.store.claims.claim(wish)
        surfaces = await work.surfaces(execution)
        missing = surfaces.lacking("here", "instances in a row while it was driven")
        assert set(missing) <= {"log"}  # the instances that were lost could not log it


async def test_a_blocked_event_loop_is_logged_with_the_place(tmp_path: Path) -> None:
    blocker = Blocker()

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()  # on a busy machine something else may have held it up before
            if text.startswith("loop_blocked") and "failing.py" in text:
                blocker.is_logged.set()

    listening = Listening()
    logging.getLogger("layover.watchdog").addHandler(listening)
    try:
        async with bench(tmp_path, blocker.block_the_loop, settings=Settings(blocked_after="20ms")) as work:
            await work.engine.register({"name": "blocking", "nodes": [{"id": "here", "type": "block_the_loop"}]})
            await (await work.engine.start("blocking")).wait("end", timeout="60s")
            assert blocker.is_logged.is_set()
            log = work.log.getvalue()
            assert ("loop_blocked" in log, "block_the_loop" in log, "failing.py" in log) == (True, True, True)
    finally:
        logging.getLogger("layover.watchdog").removeHandler(listening)


# The store


class Gone(Between):
    """A database whose next commit meets a dead connection."""

    is_gone = False

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        if self.is_gone:
            self.is_gone = False
            try:
                raise ConnectionResetError("connection reset by peer")
            except OSError as error:
                raise StoreUnavailable("The database does not answer.") from error
        return await self.store.appends.commit(appends)


async def test_a_database_that_is_gone_is_logged_with_its_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, held = Gone(tmp_path), Held()
    async with engine_on(store, held) as engine:
        await engine.workflows.register(flow(call("here")))
        started = await engine.executions.start("flow")
        one = await held.begun()
        store.is_gone = True
        one.returns(1)
        assert await engine.executions.result(started.id) == 1
    (record,) = [one for one in caplog.records if one.getMessage().startswith("commit_failed")]
    text = logging.Formatter().format(record)
    assert ("ConnectionResetError: connection reset by peer" in text, "appends_commit" in text) == (True, True)


async def bound(engine: Engine, pages: int) -> None:
    """Let the file of a database grow to so many pages at most, as a full disk does."""
    store = vars(runtime_of(engine))["_store"]
    await vars(store)["_session"].write(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").get)


async def test_a_full_disk_is_raised_and_logged_with_its_traceback(tmp_path: Path) -> None:
    async with bench(tmp_path) as work:
        await work.engine.register({"name": "small", "nodes": [{"id": "here", "type": "end"}]})
        await bound(work.engine, 1)
        with pytest.raises(Exception, match="full") as refused:
            await work.engine.start("small", {"text": "x" * 500_000})
        answered = await work.api.post("/executions", {"workflow": "small", "input": {"text": "x" * 500_000}})
        await bound(work.engine, 1_000_000)
        log = work.log.getvalue()
        assert getattr(refused.value, "code", "") == "full"
        assert (answered.status, "full" in answered.body.decode()) == (503, True)
        assert ("commit_failed" in log, "FullError" in log, "Traceback" in log) == (True, True, True)
