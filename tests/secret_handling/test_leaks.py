"""Secrets are planted wherever calls can let them slip, and then looked for in everything that is left behind.

Functions return, raise, record, report and log them; servers echo them in bodies, headers, errors and redirects. After
that no table, file, log line, answer over HTTP, metric or span may have one, however it is written.
"""

from __future__ import annotations

import base64
import io
import json
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from aiohttp import web

from layover import Client, NodeContext
from layover.admin import verify
from layover.logs.formatters import JsonFormatter, TextFormatter
from layover.ports.secrets import Secret
from layover.runtime.runtime import Runtime
from tests.api.harness import ADMIN_KEY, listening
from tests.nodes.http_site import site_of
from tests.runtime.harness import address_in, settings_with, store_in
from tests.secret_handling.hunting import (
    HOOK,
    KEY,
    PASSWORD,
    PIN,
    all_rows,
    forms_of,
    found_in,
    found_in_files,
    found_in_tables,
)
from tests.tracing.recording import Recording, TracedMachine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from layover import NodeExecution
    from tests.nodes.http_site import Site

pytestmark = pytest.mark.usefixtures("each_database")


class Planted:
    """A provider of what is looked for afterwards."""

    async def get(self, name: str) -> Secret | None:
        value = {"KEY": KEY, "PIN": PIN, "PASSWORD": PASSWORD, "HOOK": HOOK}.get(name)
        return Secret(value) if value is not None else None


def said(key: str, pin: str) -> dict[str, object]:
    """Return secrets in many forms."""
    raw = f"user:{key}".encode()
    return {
        "plain": f"<{key}>",
        "number": int(pin),
        key: [pin, {"json": json.dumps({"a": key}), "twice": json.dumps(json.dumps(key))}],
        "url": f"https://h.example/?k={quote(key, safe='')}&p={pin}",
        "basic": f"Basic {base64.b64encode(raw).decode()}",
        "b64": [base64.b64encode(b"x" * n + key.encode()).decode() for n in range(3)],
        "urlsafe": base64.urlsafe_b64encode(key.encode()).decode(),
        "hex": key.encode().hex(),
        "repr": repr(key),
    }


async def leak(key: str, pin: str, context: NodeContext) -> object:
    assert (key, pin) == (KEY, PIN)
    slips = said(key, pin)
    context.log.warning("slipped %s", slips)
    logging.getLogger("shop").error("with %s", key, extra={"slip": slips, "pin": int(pin)})
    context.progress(1, 2, f"{'.' * 180} {key}")
    await context.checkpoint(slips)
    await context.once("slip", lambda: slips)
    return slips


def leak_in_thread(key: str, pin: str) -> object:
    logging.getLogger("shop").info("in a thread: %s %s", json.dumps(key), pin)
    raise ExceptionGroup(f"of {key}", [ValueError(json.dumps(said(key, pin))), KeyError(key)])


async def fail(key: str, pin: str) -> None:
    try:
        _ = dict[str, str]()[quote(key, safe="")]
    except LookupError as error:
        error.add_note(key)
        logging.getLogger("shop").exception("failing with %s", pin)
        raise type(f"E{pin}", (RuntimeError,), {})(f"{'x' * 1_990}{key}") from error


def flow(site: Site, other: Site) -> str:
    keys = '{key: "${secrets.KEY}", pin: "${secrets.PIN}"}'
    sent = (
        'method: POST, headers: {X-Api-Key: "${secrets.PIN}", X-Odd: "${secrets.KEY}"}, '
        'auth: {basic: {user: me, password: "${secrets.PASSWORD}"}}, query: {k: "${secrets.KEY}"}, '
        'body: {k: ["${secrets.KEY}"], p: "${secrets.PASSWORD}"}'
    )
    quiet = "on_error: continue"
    return f"""
name: hunt
secrets: [KEY, PIN, PASSWORD, HOOK]
nodes:
  - {{id: leak, type: leak, input: {keys}, {quiet}, next: [thread]}}
  - {{id: thread, type: leak_in_thread, input: {keys}, {quiet}, retry: {{max_attempts: 2, delay: 1ms}}, next: [fail]}}
  - {{id: fail, type: fail, input: {keys}, {quiet}, next: [echo]}}
  - {{id: echo, type: http, url: "{site.url("/echo")}", {sent}, {quiet}, next: [broken]}}
  - {{id: broken, type: http, url: "{site.url("/broken")}", {sent}, {quiet}, next: [moved]}}
  - {{id: moved, type: http, url: "{site.url("/moved")}?to={other.port}", {sent}, {quiet}, next: [seen]}}
  - {{id: seen, type: http, url: "{site.url("/seen")}?to={other.port}", {sent}, {quiet}, next: [hook]}}
  - {{id: hook, type: http, url: "${{secrets.HOOK}}", {quiet}, next: [all]}}
  - {{id: all, type: end, output: "${{nodes}}"}}
"""


def answer(request: web.BaseRequest) -> web.Response:
    """Echo a request, as a result or as an error, or redirect it to another origin."""
    heard = {"headers": dict(request.headers), "url": str(request.url), "query": dict(request.query)}
    match request.path:
        case "/echo":
            return web.json_response(heard, headers={"X-Echo": quote(json.dumps(heard))})
        case "/broken":
            return web.Response(status=500, text=json.dumps(heard), reason="broken")
        case path:
            away = f"http://localhost:{request.query['to']}/away"
            return web.Response(status=307 if path == "/moved" else 303, headers={"Location": away})


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Return what all loggers write, as text and as JSON, from the finest level on."""
    log, root = io.StringIO(), logging.getLogger()
    handlers = [logging.StreamHandler(log), logging.StreamHandler(log)]
    for handler, formatter in zip(handlers, (TextFormatter(), JsonFormatter()), strict=True):
        handler.setFormatter(formatter)
        root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    yield log
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


@asynccontextmanager
async def sites() -> AsyncIterator[tuple[Site, Site]]:
    async with site_of(answer) as site, site_of(lambda _: web.Response(text="away")) as other:
        yield site, other


async def test_no_secret_is_left_anywhere(tmp_path: Path, logged: io.StringIO) -> None:
    recording = Recording()
    settings = settings_with(node_logs=True, http_private=True, allow_secrets={"*": ("*",)})
    machine = TracedMachine(recording.provider)
    async with (
        sites() as (site, other),
        Runtime(
            store_in(tmp_path),
            nodes=[leak, leak_in_thread, fail],
            settings=settings,
            secrets=[Planted()],
            machine=machine,
        ) as runtime,
        listening(runtime) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        await client.register(flow(site, other))
        execution = await client.start("hunt")
        await execution.wait(timeout="60s")
        assert execution.status == "completed", execution.error
        assert runtime.instance.node_logs is not None
        await runtime.instance.node_logs.flush()
        paths = [f"/executions/{execution.id}{path}" for path in ("", "/nodes", "/why", "/history", "/logs", "/legs")]
        others = ("/executions", "/workflows/hunt", "/secrets", "/audit", "/metrics")
        answers = [await api.get(path) for path in (*paths, *others)]
        codes = {one.context_id: one.error.code for one in await nodes_of(client, execution.id) if one.error}

    _were_sent(site, other)
    assert codes == {
        "thread": "failed",
        "fail": "failed",
        "broken": "http_status",
        "moved": "http_refused",
        "hook": "http_unreachable",
    }
    assert {one.status for one in answers} == {200}
    assert found_in_tables(address_in(tmp_path)) == {}
    assert found_in_files(tmp_path) == {}
    assert found_in(logged.getvalue()) == []
    assert [found for one in answers if (found := found_in(one.body))] == []
    assert recording.spans
    assert [found for span in recording.spans if (found := found_in(span.to_json()))] == []
    assert "***KEY***" in logged.getvalue()
    verified = await verify(address_in(tmp_path))  # what was decided follows from the log, which has names only
    assert (verified.violations, verified.executions) == ((), 1)
    assert b"***KEY***" in answers[1].body


async def nodes_of(client: Client, execution_id: str) -> list[NodeExecution]:
    execution = await client.execution(execution_id)
    return [one async for one in execution.nodes()]


def _were_sent(site: Site, other: Site) -> None:
    """Check that the site was given the secrets, and that the other one, to which it redirects, was given none."""
    heard = [one for one in site.seen if one.path in ("/echo", "/broken", "/moved", "/seen")]
    assert {one.path for one in heard} == {"/echo", "/broken", "/moved", "/seen"}
    for one in heard:
        assert (one.headers["X-Api-Key"], one.headers["X-Odd"]) == (PIN, KEY)
        assert one.headers["Authorization"].startswith("Basic ")
        assert json.loads(one.body) == {"k": [KEY], "p": PASSWORD}
    assert [(one.method, one.path) for one in other.seen] == [("GET", "/away")]
    assert found_in(str([(one.headers, one.body, one.query) for one in other.seen])) == []


async def test_no_token_of_a_webhook_is_left_anywhere(tmp_path: Path, logged: io.StringIO) -> None:
    recording, tokens = Recording(), set[str]()
    trigger = {"name": "paid", "type": "webhook", "verify": {"scheme": "token"}, "input": "${trigger}"}
    async with (
        Runtime(store_in(tmp_path), machine=TracedMachine(recording.provider)) as runtime,
        listening(runtime) as api,
        Client(api.url, api_key=ADMIN_KEY) as client,
    ):
        made = await client.register({"name": "shop", "nodes": [{"id": "a", "type": "end"}], "triggers": [trigger]})
        other = await client.create_trigger("shop", {**trigger, "name": "other"})
        rotated = await (await client.trigger("shop/paid")).rotate_token(grace="1h")
        addresses = [made.addresses["paid"], other.address or "", rotated.address or ""]
        unknown = f"/hooks/t/1{'A' * 43}"
        taken = [(await api.ask("POST", one, {"n": 1}, as_="")).status for one in (*addresses, unknown)]
        refused = [(await api.ask("POST", one, raw=b"{", as_="")).status for one in addresses]
        tokens |= {one.removeprefix("/hooks/t/") for one in (*addresses, unknown)}
        paths = ("/triggers", f"/triggers/{other.id}/history", f"/triggers/{other.id}/inputs", "/executions", "/audit")
        answers = [await api.get(path) for path in (*paths, "/workflows/shop", "/workflows/export", "/metrics")]

    assert (taken, refused) == ([202, 202, 202, 404], [400, 400, 400])
    assert len(tokens) == 4
    forms = {form for token in tokens for form in forms_of(token)}
    left = {
        "log": logged.getvalue(),
        "spans": "".join(span.to_json() for span in recording.spans),
        "answers": "".join(one.body.decode() for one in answers),
        "tables": "".join(repr(rows) for rows in all_rows(address_in(tmp_path))),
    }
    assert "request_answered" in left["log"]
    assert recording.spans
    assert {where: [form for form in forms if form in text] for where, text in left.items()} == {
        where: [] for where in left
    }
