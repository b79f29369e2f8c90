"""How often webhooks are delivered to: genuine deliveries have a rate of their own, which strangers cannot use up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.settings import ApiSettings
from tests.api.test_hooks import deliver, hooked

if TYPE_CHECKING:
    from pathlib import Path

PROXIES = ("127.0.0.1",)  # so that tests can say which address a request comes from
SENDER, OTHER_SENDER, STRANGER = "198.51.100.1", "198.51.100.2", "203.0.113.9"


async def test_strangers_do_not_use_up_what_the_sender_may_deliver(tmp_path: Path) -> None:
    settings = ApiSettings(webhook_limit=(3, 60.0), trusted_proxies=PROXIES)
    async with hooked(tmp_path, api=settings) as api:
        unsigned = [await deliver(api, {"n": n}, key="wrong", origin=STRANGER) for n in range(4)]
        signed = [await deliver(api, {"n": n}, origin=SENDER) for n in range(3)]

    assert [one.status for one in unsigned] == [401, 401, 401, 429]
    assert [one.status for one in signed] == [202, 202, 202]


async def test_strangers_behind_the_address_of_the_sender_do_not_use_up_what_it_may_deliver(tmp_path: Path) -> None:
    async with hooked(tmp_path, api=ApiSettings(webhook_limit=(3, 60.0))) as api:
        unsigned = [await deliver(api, {"n": n}, key="wrong") for n in range(5)]
        signed = [await deliver(api, {"n": n}) for n in range(4)]
        unsigned += [await deliver(api, {"n": 5}, key="wrong")]

    assert [one.status for one in unsigned] == [401, 401, 401, 429, 429, 429]
    assert [one.status for one in signed] == [202, 202, 202, 429]


async def test_large_deliveries_of_one_address_are_counted_before_they_are_read(tmp_path: Path) -> None:
    settings = ApiSettings(webhook_limit=(3, 60.0), trusted_proxies=PROXIES)
    large = b'"' + b"x" * 64_000 + b'"'
    async with hooked(tmp_path, api=settings) as api:
        unsigned = [await deliver(api, None, raw=large, key="wrong", origin=STRANGER) for _ in range(4)]
        refused = await deliver(api, None, raw=large, origin=STRANGER)
        taken = await deliver(api, None, raw=large, origin=SENDER)

    assert [one.status for one in unsigned] == [401, 401, 401, 429]
    assert (refused.status, taken.status) == (429, 202)


async def test_a_webhook_has_one_rate_for_all_its_senders(tmp_path: Path) -> None:
    settings = ApiSettings(webhook_limit=(3, 60.0), trusted_proxies=PROXIES)
    async with hooked(tmp_path, api=settings) as api:
        taken = [await deliver(api, {"n": n}, origin=SENDER) for n in range(2)]
        last = await deliver(api, {"n": 2}, origin=OTHER_SENDER)
        refused = await deliver(api, {"n": 3}, origin=OTHER_SENDER)

    assert [one.status for one in (*taken, last)] == [202, 202, 202]
    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) >= 1


async def test_a_sender_may_deliver_more_often_than_a_stranger_may_ask(tmp_path: Path) -> None:
    settings = ApiSettings(rate_limit=(1, 60.0), trusted_proxies=PROXIES)
    async with hooked(tmp_path, api=settings) as api:
        delivered = [await deliver(api, {"n": n}, origin=SENDER) for n in range(3)]
        unknown = [
            await api.ask("POST", "/hooks/shop/nothing", raw=b"{}", as_="", headers={"X-Forwarded-For": STRANGER})
            for _ in range(2)
        ]

    assert [one.status for one in delivered] == [202, 202, 202]
    assert [one.status for one in unknown] == [404, 429]
