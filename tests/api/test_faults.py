"""What is written and answered when something goes wrong: a request id, and no secret."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from layover.api.answering import SECURITY_HEADERS
from layover.api.routes import ROUTES
from layover.api.routing import Routes
from tests.api.harness import listening, served
from tests.runtime.harness import Held, engine_at, flow, until_status

if TYPE_CHECKING:
    from pathlib import Path

    from layover.api.request import Request, Response

each_database = pytest.mark.usefixtures("each_database")


async def test_the_answer_to_a_fault_holds_its_request_id_and_no_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    routes = Routes("Faults", "Faults.")

    async def fault(call: Request[Any, Any]) -> Response:
        """Fail."""
        raise ZeroDivisionError(f"with a secret of {call.caller.user}")

    routes.get("/fault", needs=("admin",), answers={200: None})(fault)
    async with engine_at(tmp_path) as engine, listening(engine, routes=[*ROUTES, *routes.routes]) as api:
        told = await api.get("/fault", headers={"x-request-id": "req-7"})

    assert (told.status, told.code, told.json["request_id"]) == (500, "internal", "req-7")
    assert "secret" not in told.body.decode()
    [record] = [record for record in caplog.records if "request_failed" in record.getMessage()]
    assert "req-7" in record.getMessage()
    assert {name: told.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS


async def test_a_callback_token_is_not_written_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    work = Held()
    node: dict[str, object] = {
        "id": "pick",
        "type": "callback",
        "call": "work",
        "input": {"token": "${callback.token}"},
    }
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(node))
        started = await api.engine.executions.start("flow")
        begun = await work.begun()
        begun.returns()
        await until_status(api.engine, started.id, "waiting")
        token = str(begun.given["token"])
        wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
        told = [await api.post(f"/callbacks/{one}", {"a": 1}, as_="") for one in (wrong, token, token)]
        history = await api.get(f"/executions/{started.id}/history")

    assert [one.status for one in told] == [404, 202, 410]
    written = [record.getMessage() for record in caplog.records] + [one.body.decode() for one in (*told, history)]
    assert not [text for text in written if token in text or wrong in text]


async def test_a_refused_request_is_found_in_the_log_by_its_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with served(tmp_path) as api:
        refused = await api.get("/executions/nonsense")
        keyed = await api.post("/executions/nonsense/pause", {}, headers={"idempotency-key": "once"})
    for one in (refused, keyed):
        told = f"request_refused request={one.json['request_id']} status=400 code=malformed_id "
        assert len([line for line in caplog.messages if line.startswith(told)]) == 1
