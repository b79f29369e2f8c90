"""Webhooks: what is signed starts one execution, what is not starts nothing."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.bootstrap import open_store
from layover.core.webhooks import HookCheck, sign
from layover.ports.secrets import Secret
from layover.redaction import forget_secret, register_secret
from layover.runtime.runtime import Runtime
from tests.api.harness import UNLIMITED, listening
from tests.runtime.harness import address_in, settings_with

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover.api.settings import ApiSettings
    from tests.api.harness import Answered, Api

NODES = [{"id": "a", "type": "compute", "output": {"got": "${input}"}}]
VALUES = {"NEW_KEY": "the-new-key-of-the-shop", "OLD_KEY": "the-old-key-of-the-shop"}
HMAC = HookCheck("hmac", "X-Signature")


class Given:
    """Secrets of these tests."""

    async def get(self, name: str) -> Secret | None:
        return Secret(VALUES[name]) if name in VALUES else None


@asynccontextmanager
async def hooked(
    folder: Path, nodes: list[dict[str, Any]] | None = None, api: ApiSettings = UNLIMITED, **fields: Any
) -> AsyncIterator[Api]:
    trigger = {"name": "paid", "type": "webhook", "verify": {"scheme": "hmac", "header": "X-Signature"}, **fields}
    trigger["verify"] = {"secret": ["NEW_KEY", {"name": "OLD_KEY", "until": "2020-01-01"}], **trigger["verify"]}
    if trigger["verify"]["scheme"] == "none":
        del trigger["verify"]["secret"]
    flow = {"name": "shop", "secrets": [*VALUES], "nodes": nodes or NODES, "triggers": [trigger]}
    settings = settings_with(allow_secrets={"*": ("*",)})
    async with (
        Runtime(open_store(address_in(folder)), secrets=[Given()], settings=settings) as engine,
        listening(engine, settings=api) as served,
    ):
        await engine.workflows.register(flow)
        yield served


async def deliver(
    api: Api,
    body: object,
    *,
    key: str = VALUES["NEW_KEY"],
    raw: bytes | None = None,
    origin: str = "",
    path: str = "/hooks/shop/paid",
    **more: str,
) -> Answered:
    sent = msgspec.json.encode(body) if raw is None else raw
    headers = {"X-Request-Id": "r1", "Authorization": "Bearer whatever", **sign(HMAC, key, sent, 0), **more}
    if origin:
        headers["X-Forwarded-For"] = origin
    return await api.ask("POST", path, raw=sent, as_="", headers=headers)


async def count(api: Api) -> int:
    return len((await api.get("/executions")).json["items"])


async def test_a_signed_delivery_starts_one_execution_however_often_it_comes(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        first = await deliver(api, {"n": 1})
        again = await deliver(api, {"n": 1})
        assert first.status == 202
        assert first.json == again.json
        assert first.json["status"] == "started"
        assert await count(api) == 1
        found = (await api.get(f"/executions/{first.json['execution_id']}?wait=10s&until=end")).json
        assert (found["output"], found["user"]) == ({"got": {"n": 1}}, "trigger:shop/paid")
        assert found["trigger"]["headers"]["x-signature"] == "***"
        assert found["trigger"]["headers"]["authorization"] == "***"
        assert found["trigger"]["headers"]["x-request-id"] == "r1"


@pytest.mark.parametrize(
    "value",
    [
        "Bearer abcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.e30.abcdefgh",
        "https://me:abcdefgh@host/",
        "/a?access_token=abcdefgh",
        "the-planted-value",
        "sk_live_abcdefghijklmnopqrstuvwx",
    ],
)
async def test_a_header_with_a_credential_is_masked_whatever_its_name(tmp_path: Path, value: str) -> None:
    register_secret("the-planted-value")
    try:
        async with hooked(tmp_path) as api:
            found = await deliver(api, 1, Referer=value)
            started = (await api.get(f"/executions/{found.json['execution_id']}")).json
    finally:
        forget_secret("the-planted-value")
    assert started["trigger"]["headers"]["referer"] == "***"
    assert started["trigger"]["headers"]["x-request-id"] == "r1"


async def test_what_is_not_signed_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        for key in ("another-key", VALUES["OLD_KEY"]):
            refused = await deliver(api, {"n": 1}, key=key)
            assert (refused.status, refused.json["code"]) == (401, "bad_signature")
        bare = await api.ask("POST", "/hooks/shop/paid", {"n": 1}, as_="")
        assert bare.status == 401
        (trigger,) = (await api.get("/triggers?workflow=shop")).json["items"]
        assert (await api.get(f"/triggers/{trigger['id']}/inputs")).json["items"] == []
        why = (await api.get(f"/triggers/{trigger['id']}/why")).json
        assert "missing signature" in str(why)
        assert b'layover_webhooks_refused_total{reason="wrong_signature"} 2' in (await api.get("/metrics")).body


async def test_an_unknown_webhook_is_unknown(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        for path in ("/hooks/shop/other", "/hooks/other/paid"):
            answered = await api.ask("POST", path, {}, as_="")
            assert (answered.status, answered.json["code"]) == (404, "unknown_trigger")


async def test_a_body_of_one_byte_too_many_is_refused(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        largest = b'"' + b"x" * 999_998 + b'"'
        taken = await deliver(api, None, raw=largest)
        assert (taken.status, taken.json["status"]) == (202, "started")
        assert (await deliver(api, None, raw=largest + b" ")).status == 413


async def test_a_body_that_is_too_large_once_it_is_written_as_json_is_refused_at_once(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        answered = await deliver(api, None, raw=b"[" + b"1E9," * 200_000 + b"1]")
        assert (answered.status, answered.json["code"]) == (413, "payload_too_large")
        assert await count(api) == 0


async def test_a_body_that_is_no_json_is_refused_after_the_signature(tmp_path: Path) -> None:
    async with hooked(tmp_path) as api:
        answered = await deliver(api, None, raw=b"{no")
        assert (answered.status, answered.json["code"]) == (400, "malformed")


async def test_filtered_and_rejected_deliveries_need_not_be_sent_again(tmp_path: Path) -> None:
    async with hooked(tmp_path, filter="trigger.data.n > 1", input="${trigger.data.m}") as api:
        filtered, rejected = await deliver(api, {"n": 1}), await deliver(api, {"n": 2})
        assert (filtered.status, filtered.json["status"]) == (200, "filtered")
        assert (rejected.status, rejected.json["status"]) == (202, "rejected")
        assert await count(api) == 0


async def test_as_many_pending_deliveries_as_may_be(tmp_path: Path) -> None:
    async with hooked(tmp_path, max_pending=1) as api:
        (trigger,) = (await api.get("/triggers")).json["items"]
        await api.post(f"/triggers/{trigger['id']}/pause")
        first, second = await deliver(api, {"n": 1}), await deliver(api, {"n": 2})
        assert (first.status, first.json["status"]) == (202, "pending")
        assert (second.status, second.json["code"]) == (429, "trigger_full")
        assert (await deliver(api, {"n": 1})).json == first.json


async def test_a_sender_gets_the_result(tmp_path: Path) -> None:
    async with hooked(tmp_path, respond="result") as api:
        answered = await deliver(api, {"n": 1})
        assert (answered.status, answered.json) == (200, {"got": {"n": 1}})


async def test_a_sender_gets_the_response_of_the_first_pause(tmp_path: Path) -> None:
    ask = {
        "id": "ask",
        "type": "form",
        "schema": {},
        "deadline": "1d",
        "on_deadline": "fail",
        "response": {"see": "${input.n}"},
    }
    async with hooked(tmp_path, [ask], respond="pause") as api:
        answered = await deliver(api, {"n": 7})
        assert (answered.status, answered.json) == (202, {"see": 7})


async def test_a_form_is_a_mapping(tmp_path: Path) -> None:
    async with hooked(tmp_path, verify={"scheme": "none"}, respond="result") as api:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answered = await api.ask("POST", "/hooks/shop/paid", raw=b"a=1&b=x%20y", as_="", headers=headers)
        assert answered.json == {"got": {"a": "1", "b": "x y"}}
