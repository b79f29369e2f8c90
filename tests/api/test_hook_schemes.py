"""Every scheme over HTTP: replays, clocks that are off, replaced keys, bodies that are one byte too long."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover.bootstrap import open_store
from layover.core.webhooks import HookCheck, sign
from layover.ports.secrets import Secret
from layover.runtime.runtime import Runtime
from tests.api.harness import listening
from tests.runtime.harness import address_in, settings_with

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from layover.core.webhooks import Scheme
    from tests.api.harness import Answered, Api

NEW, OLD = "whsec_bmV3IGtleSBvZiB0aGUgc2hvcA==", "whsec_b2xkIGtleSBvZiB0aGUgc2hvcA=="
SCHEMES: list[Scheme] = ["standard", "github", "stripe", "slack", "hmac", "key"]
TIMED: list[Scheme] = ["standard", "stripe", "slack"]
NODES = [{"id": "a", "type": "end", "output": "${input}"}]


class Keys:
    """Secrets of these tests."""

    async def get(self, name: str) -> Secret | None:
        value = {"NEW": NEW, "OLD": OLD}.get(name)
        return Secret(value) if value is not None else None


@asynccontextmanager
async def shop(folder: Path, scheme: Scheme, until: str = "2999-01-01") -> AsyncIterator[Api]:
    verify: dict[str, Any] = {"scheme": scheme, "secret": ["NEW", {"name": "OLD", "until": until}]}
    if scheme == "hmac":
        verify["header"] = "X-Signature"
    trigger = {"name": "paid", "type": "webhook", "verify": verify}
    definition = {"name": "shop", "secrets": ["NEW", "OLD"], "nodes": NODES, "triggers": [trigger]}
    settings = settings_with(allow_secrets={"*": ("*",)})
    async with (
        Runtime(open_store(address_in(folder)), secrets=[Keys()], settings=settings) as engine,
        listening(engine) as api,
    ):
        await engine.workflows.register(definition)
        yield api


def signed(scheme: Scheme, body: bytes, *, key: str = NEW, seconds: int = 0) -> dict[str, str]:
    """Return the headers of a delivery from a sender whose clock is so many seconds ahead."""
    check = HookCheck(scheme, "X-Signature" if scheme == "hmac" else "")
    return sign(check, key, body, (int(time.time()) + seconds) * 1000, "msg_1")


async def send(api: Api, body: bytes, headers: dict[str, str]) -> Answered:
    return await api.ask("POST", "/hooks/shop/paid", raw=body, as_="", headers=headers)


async def executions(api: Api) -> int:
    return len((await api.get("/executions")).json["items"])


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_replayed_delivery_gets_the_same_answer_and_starts_nothing(tmp_path: Path, scheme: Scheme) -> None:
    body = msgspec.json.encode({"id": "evt_1", "event_id": "Ev1"})
    async with shop(tmp_path, scheme) as api:
        headers = signed(scheme, body)
        answers = [await send(api, body, {**headers, "X-Delivery": str(n)}) for n in range(3)]
        assert [one.status for one in answers] == [202] * 3
        assert len({one.json["execution_id"] for one in answers}) == 1
        assert await executions(api) == 1


@pytest.mark.parametrize("scheme", TIMED)
@pytest.mark.parametrize("seconds", [-900, 900])
async def test_a_signed_time_that_is_far_off_is_refused_counted_and_shown_by_why(
    tmp_path: Path, scheme: Scheme, seconds: int
) -> None:
    async with shop(tmp_path, scheme) as api:
        refused = await send(api, b"{}", signed(scheme, b"{}", seconds=seconds))
        assert (refused.status, refused.json["code"]) == (401, "bad_signature")
        (trigger,) = (await api.get("/triggers")).json["items"]
        assert "wrong time; the clock of its sender was" in str((await api.get(f"/triggers/{trigger['id']}/why")).json)
        assert b'layover_webhooks_refused_total{reason="wrong_time"} 1' in (await api.get("/metrics")).body
        assert await executions(api) == 0


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_replaced_key_counts_until_its_moment(tmp_path: Path, scheme: Scheme) -> None:
    headers = signed(scheme, b"{}", key=OLD)
    async with shop(tmp_path, scheme) as api:
        assert (await send(api, b"{}", headers)).status == 202
        changed = {**flow_of(await api.get("/workflows/shop")), "description": "the old key is over"}
        changed["triggers"][0]["verify"]["secret"][1]["until"] = "2020-01-01"
        assert (await api.post("/workflows", changed)).status == 201
        assert (await send(api, b"[1]", signed(scheme, b"[1]", key=OLD))).status == 401
        assert (await send(api, b"[1]", signed(scheme, b"[1]"))).status == 202


def flow_of(answered: Answered) -> dict[str, Any]:
    definition: dict[str, Any] = answered.json["definition"]
    return definition


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_one_byte_too_many_is_refused_though_it_is_signed(tmp_path: Path, scheme: Scheme) -> None:
    largest = b'"' + b"x" * 999_998 + b'"'
    async with shop(tmp_path, scheme) as api:
        assert (await send(api, largest + b" ", signed(scheme, largest + b" "))).status == 413
        (trigger,) = (await api.get("/triggers")).json["items"]
        assert (await api.get(f"/triggers/{trigger['id']}/inputs")).json["items"] == []
        assert (await send(api, largest, signed(scheme, largest))).status == 202
