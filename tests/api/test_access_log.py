"""The access log: one line for each request, without anything that a caller could not show to others."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

import pytest  # noqa: TC002 - pytest reads the annotations of fixtures

from layover.api.access_log import CALLER, AccessLog
from layover.api.settings import ApiSettings
from layover.api.trusted_proxies import TrustedProxies
from layover.logs.fields import fields_of, template_of
from tests.api.harness import served
from tests.runtime.harness import flow, form

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-that-stands-in-a-path-" + "x" * 13


def _lines(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, object]]:
    ours = [(record, template_of(record)) for record in caplog.records if record.name == "layover.access"]
    return [
        {**fields_of(record, template), "level": record.levelname}
        for record, template in ours
        if template is not None and template.event == event
    ]


async def test_a_line_has_request_caller_route_status_and_duration(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with served(tmp_path) as api:
        await api.put("/workflows/flow", flow(form()))
        await api.get("/workflows/flow?nothing=1", as_="ann:viewer", headers={"x-request-id": "r-7"})
        await api.get("/workflows/flow", as_="ann:viewer", headers={"x-request-id": "r-8"})
    [line] = [line for line in _lines(caplog, "request_answered") if line["request"] == "r-8"]
    assert line.pop("ms", -1) >= 0  # type: ignore[operator]  # a number
    assert line == {
        "request": "r-8", "status": 200, "method": "GET", "route": "/api/v1/workflows/{name}", "caller": "ann",
        "level": "INFO",
    }  # fmt: skip
    [refused] = _lines(caplog, "request_refused")
    assert (refused["request"], refused["status"], refused["code"]) == ("r-7", 400, "invalid_parameter")


async def test_what_is_denied_is_a_warning_with_its_address(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    settings = ApiSettings(rate_limit=(3, 60.0), guess_limit=None)
    async with served(tmp_path, settings=settings) as api:
        statuses = [
            (await api.get("/executions", as_="")).status,
            (await api.post("/workflows", flow(form()), as_="ann:viewer")).status,
            *[(await api.get("/executions", as_="bob:viewer")).status for _ in range(4)],
        ]
    assert statuses == [401, 403, 200, 200, 200, 429]
    lines = _lines(caplog, "request_denied")
    assert [(line["status"], line["code"]) for line in lines] == [
        (401, "unauthenticated"), (403, "forbidden"), (429, "rate_limited"),
    ]  # fmt: skip
    assert {line["address"] for line in lines} == {"127.0.0.1"}
    assert [line["caller"] for line in lines] == [None, "ann", "bob"]


async def test_strangers_cannot_fill_the_log_with_warnings(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with served(tmp_path) as api:
        for _ in range(80):
            await api.get("/executions", as_="")
    assert len(_lines(caplog, "request_denied")) == 60


async def test_neither_paths_nor_queries_are_written_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with served(tmp_path) as api:
        await api.get(f"/executions?tag={TOKEN}")
        await api.post(f"/callbacks/{TOKEN}", {}, as_="")
        await api.get(f"/api/{TOKEN}", as_="")
        await api.ask("DELETE", f"/callbacks/{TOKEN}", as_="")
    assert TOKEN not in caplog.text
    routes = {str(line["route"]) for event in ("request_answered", "request_refused") for line in _lines(caplog, event)}
    assert "/api/v1/callbacks/{token}" in routes


async def test_a_health_check_is_only_logged_for_debugging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with served(tmp_path) as api:
        await api.get("/healthz", as_="")
    assert [line["level"] for line in _lines(caplog, "request_answered")] == ["DEBUG"]


def test_lines_about_strangers_are_few_and_those_about_callers_are_all_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    now = [0.0]
    log = AccessLog(TrustedProxies(()), lambda: now[0])
    for caller in (None, "ann"):
        for _ in range(100):
            log.refused({"method": "GET", CALLER: caller}, "r-1", "", (404, "not_found"), 0.0)
    assert Counter(line["caller"] for line in _lines(caplog, "request_refused")) == {None: 60, "ann": 100}
    now[0] = 10.0
    log.refused({"method": "GET"}, "r-2", "", (404, "not_found"), 0.0)
    assert [line["left_out"] for line in _lines(caplog, "request_refused") if line["request"] == "r-2"] == [40]
