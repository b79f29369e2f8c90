"""Webhooks and chats, posted to a real server that fails, redirects, drips, or is gone."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import standardwebhooks
from aiohttp import web
from msgspec.structs import replace

from layover.runtime.deliveries.chat_wire import ChatWire
from layover.runtime.deliveries.destination_config import KnownDestination, UsedSecret
from layover.runtime.deliveries.http_poster import HttpPoster
from layover.runtime.deliveries.parcels import Parcel, ToldPoint
from layover.runtime.deliveries.webhook_wire import WebhookWire, webhook_headers
from tests.nodes.http_site import Site
from tests.runtime.deliveries.wire_parts import ID, NOW, dripping, shipment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.runtime.deliveries.outcomes import SendOutcome

OLD, NEW = (f"whsec_{base64.b64encode(bytes([one]) * 32).decode()}" for one in (1, 2))


@pytest.fixture
async def poster() -> AsyncIterator[HttpPoster]:
    found = HttpPoster(private=True)
    yield found
    await found.close()


def hook(site: Site, **fields: object) -> KnownDestination:
    return replace(KnownDestination(name="erp", kind="webhook", address=site.url("/hook")), **fields)


def answering(status: int, **headers: str) -> Site:
    async def answer(_: web.BaseRequest) -> web.Response:
        return web.Response(status=status, text="a reply", headers=headers)

    return Site(answer)


async def posted(poster: HttpPoster, site: Site, **fields: Any) -> SendOutcome:
    async with site.open():
        return await WebhookWire(poster).send(shipment(hook(site), **fields))


async def test_a_webhook_tells_what_happened_to_what(poster: HttpPoster) -> None:
    site = answering(204)
    point = ToldPoint(id="p1", title="Approve", kind="approval", deadline=NOW + 1_000)
    parcel = Parcel(kind="pause.opened", at=NOW, workflow="order", execution_id="e1", point=point, data={"input": 7})
    outcome = await posted(poster, site, parcel=parcel, attempt=3)
    [seen] = site.seen
    assert (outcome.verdict, outcome.status, outcome.health) == ("sent", 204, "good")
    assert msgspec.json.decode(seen.body) == {
        "type": "pause.opened",
        "timestamp": "2026-05-28T20:26:40.000Z",
        "data": {
            "workflow": "order",
            "execution_id": "e1",
            "point": {"id": "p1", "title": "Approve", "kind": "approval", "deadline": "2026-05-28T20:26:41.000Z"},
            "input": 7,
        },
    }
    assert seen.headers["webhook-id"] == seen.headers["Idempotency-Key"] == ID
    assert seen.headers["Layover-Attempt"] == "3"
    assert "webhook-signature" not in seen.headers


async def test_a_webhook_has_the_words_of_an_author_and_no_usual_ones(poster: HttpPoster) -> None:
    site = answering(204)
    said = Parcel(kind="pause.decided", at=NOW, workflow="order", subject="Rejected", text="Comment: never", link="/d")
    async with site.open():
        for parcel in (said, replace(said, is_usual=True)):
            await WebhookWire(poster).send(shipment(hook(site), parcel))
    authored, usual = (msgspec.json.decode(seen.body)["data"] for seen in site.seen)
    assert authored == {"workflow": "order", "subject": "Rejected", "text": "Comment: never", "link": "/d"}
    assert usual == {"workflow": "order"}


@pytest.mark.parametrize(("kind", "name"), [("trigger.error", "trigger"), ("delivery.dead", "destination")])
async def test_what_is_told_of_has_its_name(poster: HttpPoster, kind: str, name: str) -> None:
    site = answering(204)
    await posted(poster, site, parcel=Parcel(kind=kind, at=NOW, workflow="order", reports_on="nightly"))
    assert msgspec.json.decode(site.seen[0].body)["data"] == {"workflow": "order", name: "nightly"}


@pytest.mark.parametrize(
    ("status", "verdict"), [(200, "sent"), (299, "sent"), (301, "again"), (400, "again"), (404, "again"), (410, "gone")]
)
async def test_a_status_decides(poster: HttpPoster, status: int, verdict: str) -> None:
    outcome = await posted(poster, answering(status))
    assert outcome.verdict == verdict
    assert outcome.status == status
    assert outcome.reply == "a reply"


async def test_a_redirect_is_a_failure_and_not_followed(poster: HttpPoster) -> None:
    site = answering(307, Location="/elsewhere")
    assert (await posted(poster, site)).verdict == "again"
    assert [one.path for one in site.seen] == ["/hook"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("120", 120_000), ("Thu, 28 May 2026 20:28:40 GMT", 120_000), ("soon", None), ("-5", None), ("9" * 50, None)],
)
async def test_retry_after_counts(poster: HttpPoster, text: str, expected: int | None) -> None:
    outcome = await posted(poster, answering(503, **{"Retry-After": text}))
    assert outcome.retry_after == expected


async def test_a_head_that_drips_is_given_up_in_time(poster: HttpPoster) -> None:
    async with dripping(b"HTTP/1.1 200 OK\r\nX: ", b"x") as port:
        known = KnownDestination(name="erp", kind="webhook", timeout=300, address=f"http://127.0.0.1:{port}/")
        outcome = await WebhookWire(poster).send(shipment(known))
    assert (outcome.verdict, outcome.reason) == ("again", "http_timeout")


async def test_an_endless_reply_is_read_only_at_its_beginning(poster: HttpPoster) -> None:
    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    outcome = await posted(poster, Site(endless))
    assert outcome.verdict == "sent"
    assert len(outcome.reply) <= 1_000


async def test_nobody_listens(poster: HttpPoster) -> None:
    site = answering(200)
    async with site.open():
        pass
    outcome = await WebhookWire(poster).send(shipment(hook(site)))
    assert (outcome.verdict, outcome.reason, outcome.health) == ("again", "http_unreachable", "bad")


async def test_private_addresses_and_plain_http_are_refused_by_default() -> None:
    site = answering(200)
    public = HttpPoster(private=False)
    async with site.open():
        plain = await WebhookWire(public).send(shipment(hook(site)))
        private = await WebhookWire(public).send(shipment(hook(site, address=f"https://127.0.0.1:{site.port}/")))
    await public.close()
    assert (plain.verdict, plain.reason) == ("dead", "not_https")
    assert (private.verdict, private.reason) == ("dead", "http_refused")
    assert not site.seen


# Signatures


async def test_the_published_library_verifies_a_signature(poster: HttpPoster) -> None:
    site = answering(200)
    async with site.open():
        known = hook(site, secrets=(UsedSecret("ERP_HOOK"),))
        await WebhookWire(poster).send(shipment(known, values={"ERP_HOOK": NEW}, at=_now()))
    [seen] = site.seen
    headers = {name.lower(): value for name, value in seen.headers.items()}
    assert standardwebhooks.Webhook(NEW).verify(seen.body, headers) == msgspec.json.decode(seen.body)


async def test_while_a_secret_is_rotated_both_sign_until_the_moment_is_over() -> None:
    rotating = (UsedSecret("NEW_HOOK"), UsedSecret("OLD_HOOK", NOW))
    known = KnownDestination(name="erp", kind="webhook", secrets=rotating)
    values = {"NEW_HOOK": NEW, "OLD_HOOK": OLD}
    during, after = (shipment(known, values=values, at=at) for at in (NOW, NOW + 1))
    assert during.valid_secrets() == [NEW, OLD]
    assert after.valid_secrets() == [NEW]
    at = _now()
    both = webhook_headers(shipment(known, values=values, at=at), b"{}", [NEW, OLD])
    for secret in (NEW, OLD):
        assert standardwebhooks.Webhook(secret).verify(b"{}", both) == {}
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(OLD).verify(b"{}", webhook_headers(after, b"{}", after.valid_secrets()) | _at(at))


@pytest.mark.parametrize(
    "secret", ["whsec_!", "whsec_c2hvcnQ=", "not base64!", "whsec_" + base64.b64encode(b"x" * 65).decode()]
)
async def test_a_key_that_would_prove_nothing_signs_nothing(poster: HttpPoster, secret: str) -> None:
    site = answering(200)
    async with site.open():
        known = hook(site, secrets=(UsedSecret("ERP_HOOK"),))
        outcome = await WebhookWire(poster).send(shipment(known, values={"ERP_HOOK": secret}))
    assert (outcome.verdict, outcome.reason) == ("again", "secret_malformed")
    assert not site.seen
    assert secret not in outcome.error


async def test_headers_of_a_destination_are_sent_with_their_secrets(poster: HttpPoster) -> None:
    site = answering(200)
    async with site.open():
        named = {"Webhook-Id": "mine", "CONTENT-TYPE": "x/y"}
        headers = {"X-Team": "ops", "Authorization": UsedSecret("ERP_TOKEN"), **named}
        known = hook(site, headers=headers)
        await WebhookWire(poster).send(shipment(known, values={"ERP_TOKEN": "Bearer abcdefgh"}))
    [seen] = site.seen
    assert (seen.headers["X-Team"], seen.headers["Authorization"]) == ("ops", "Bearer abcdefgh")
    assert seen.headers.getall("webhook-id") == [ID]
    assert seen.headers.getall("Content-Type") == ["application/json"]


# Chats


async def test_a_chat_gets_its_text_escaped(poster: HttpPoster) -> None:
    site = answering(200)
    async with site.open():
        known = KnownDestination(name="ops", kind="chat", address=UsedSecret("OPS_CHAT"))
        parcel = Parcel(
            kind="execution.failed", at=NOW, subject="<!channel> a & b", text="see <https://evil.example|x>"
        )
        outcome = await ChatWire(poster).send(shipment(known, parcel, values={"OPS_CHAT": site.url("/services/T1")}))
    [seen] = site.seen
    assert outcome.verdict == "sent"
    expected = "&lt;!channel&gt; a &amp; b\nsee &lt;https://evil.example|x&gt;"
    assert msgspec.json.decode(seen.body) == {"text": expected}


async def test_the_address_of_a_chat_is_never_shown(poster: HttpPoster) -> None:
    known = KnownDestination(name="ops", kind="chat", address=UsedSecret("OPS_CHAT"), timeout=1_000)
    for address in ("not an address at all", "http://127.0.0.1:9/services/very-secret-part"):
        outcome = await ChatWire(poster).send(shipment(known, values={"OPS_CHAT": address}))
        assert outcome.verdict == "again"
        assert "very-secret-part" not in str(outcome)


def _now() -> int:
    """Return the time as the library has it, which looks at the clock."""
    return round(datetime.now(UTC).timestamp() * 1000)


def _at(at: int) -> dict[str, str]:
    return {"webhook-timestamp": str(at // 1000)}
