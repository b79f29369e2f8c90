"""Webhooks whose senders cannot sign: the address has a token, which is shown once and stored as a hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Client, Engine, SyncEngine
from layover.api.settings import ApiSettings
from layover.engine import runtime_of
from tests.api.harness import ADMIN_KEY, listening, served
from tests.runtime.harness import address_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

TOKEN: dict[str, Any] = {"name": "paid", "type": "webhook", "verify": {"scheme": "token"}}
NODES = [{"id": "a", "type": "end", "output": "${input}"}]


def flow(*triggers: dict[str, Any], name: str = "shop") -> dict[str, Any]:
    return {"name": name, "nodes": NODES, "triggers": list(triggers)}


async def delivered(api: Api, address: str, body: object) -> int:
    return (await api.ask("POST", address, body, as_="")).status


async def test_registering_makes_the_address_and_shows_it_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        registered = await client.register(flow(TOKEN))
        assert list(registered.addresses) == ["paid"]
        address = registered.addresses["paid"]
        assert await delivered(api, address, {"n": 1}) == 202
        assert (await client.register(flow(TOKEN))).addresses == {}
        assert (await client.register(flow({**TOKEN, "max_pending": 5}))).addresses == {}
        assert await delivered(api, address, {"n": 2}) == 202
        trigger = await client.trigger("shop/paid")
        assert trigger.address is None
        assert len([one async for one in client.executions(workflow="shop")]) == 2


async def test_the_same_request_again_does_not_show_the_address(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        headers = {"Idempotency-Key": "k"}
        made = [await api.ask("POST", "/workflows", flow(TOKEN), headers=headers) for _ in range(2)]
        assert [bool(one.json["addresses"]) for one in made] == [True, False]
        body = {**TOKEN, "name": "other", "workflow": "shop"}
        made = [await api.ask("POST", "/triggers", body, headers=headers) for _ in range(2)]
        assert [one.json["address"] is not None for one in made] == [True, False]
        path = f"/triggers/{made[0].json['id']}/rotate-token"
        made = [await api.ask("POST", path, {}, headers=headers) for _ in range(2)]
        assert [one.json["address"] is not None for one in made] == [True, False]


async def test_an_unknown_token_is_unknown_and_the_name_is_no_address(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        address = (await client.register(flow(TOKEN))).addresses["paid"]
        last = "A" if address[-1] != "A" else "B"
        for wrong in (f"{address[:-1]}{last}", f"{address}A", "/hooks/t/", "/hooks/t/1", f"/hooks/t/1{'A' * 43}"):
            assert await delivered(api, wrong, {}) == 404
        assert await delivered(api, "/hooks/shop/paid", {}) == 401
        assert await (await client.trigger("shop/paid")).inputs().all() == []


async def test_a_rotated_token_is_taken_until_its_grace_is_over(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        first = (await client.register(flow(TOKEN))).addresses["paid"]
        trigger = await client.trigger("shop/paid")
        second = (await trigger.rotate_token(grace="1h")).address
        assert second is not None
        assert [await delivered(api, one, {"n": 1}) for one in (first, second)] == [202, 202]
        third = (await trigger.rotate_token()).address
        assert third is not None
        assert [await delivered(api, one, {"n": 1}) for one in (first, second, third)] == [404, 404, 202]


async def test_a_webhook_that_changes_its_scheme_has_no_such_address_any_more(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        address = (await client.register(flow(TOKEN))).addresses["paid"]
        await client.register(flow({**TOKEN, "verify": {"scheme": "none"}}))
        assert await delivered(api, address, {}) == 404
        assert await delivered(api, "/hooks/shop/paid", {}) == 202


async def test_a_deleted_trigger_and_a_deleted_workflow_take_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        workflow = await client.register(flow())
        made = await client.create_trigger("shop", TOKEN)
        other = await client.create_trigger("shop", {**TOKEN, "name": "other"})
        assert made.address is not None
        assert other.address is not None
        await made.delete()
        assert await delivered(api, made.address, {}) == 404
        again = await client.create_trigger("shop", TOKEN)
        assert again.address is not None
        assert [await delivered(api, one, {}) for one in (made.address, again.address)] == [404, 202]
        await workflow.delete()
        assert await delivered(api, other.address, {}) == 404


async def test_the_webhook_of_a_workflow_t_has_its_address(tmp_path: Path) -> None:
    async with served(tmp_path) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        await client.register(flow({**TOKEN, "verify": {"scheme": "none"}}, name="t"))
        assert await delivered(api, "/hooks/t/paid", {}) == 202


async def test_a_delivery_that_comes_too_often_is_refused_and_left_unread(tmp_path: Path) -> None:
    async with served(tmp_path, settings=ApiSettings(rate_limit=None, guess_limit=None)) as api:
        made = (await api.post("/workflows", flow(TOKEN))).json
        statuses = [await delivered(api, made["addresses"]["paid"], {"n": 1}) for _ in range(600)]
        assert set(statuses) == {202}
        refused = await api.ask("POST", made["addresses"]["paid"], raw=b"{no json", as_="")
        assert (refused.status, refused.json["code"]) == (429, "rate_limited")
        assert int(refused.headers["retry-after"]) >= 1


async def test_an_engine_shows_the_addresses_that_its_workflows_have_made(tmp_path: Path) -> None:
    database = address_in(tmp_path)
    async with Engine(database, workflows=[flow(TOKEN), flow(name="other")]) as engine:
        made = engine.hook_addresses()
        assert list(made) == ["shop/paid"]
        assert engine.as_user("eve", ["admin"]).hook_addresses() == {}
        async with listening(runtime_of(engine)) as api:
            assert await delivered(api, made["shop/paid"], {"n": 1}) == 202
    async with Engine(database, workflows=[flow(TOKEN)]) as again:
        assert again.hook_addresses() == {}


def test_a_blocking_engine_shows_them_too(tmp_path: Path) -> None:
    with SyncEngine(address_in(tmp_path), workflows=[flow(TOKEN)]) as engine:
        assert list(engine.hook_addresses()) == ["shop/paid"]
