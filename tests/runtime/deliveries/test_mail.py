"""Mails, sent to a real mail server that greylists, drops, refuses, or never answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover.runtime.deliveries.destination_config import KnownDestination, UsedSecret
from layover.runtime.deliveries.mail_message import BadAddress, mail_address
from layover.runtime.deliveries.mail_wire import MailWire
from layover.runtime.deliveries.parcels import Parcel
from tests.runtime.deliveries.wire_parts import ID, NOW, MailServer, dripping, shipment

if TYPE_CHECKING:
    from aiosmtpd.smtp import SMTP

    from layover.runtime.deliveries.outcomes import SendOutcome

SENDER = "Layover <layover@example.org>"
INJECTIONS = [
    "a\r\nBcc: evil@example.org",
    "a\nBcc: evil@example.org",
    "a\x85Bcc: x",
    "a\u2028Bcc: x",
    "a\0b",
    "\x0b\x0c",
]


def destination(server: MailServer, **fields: object) -> KnownDestination:
    known = KnownDestination(name="mail", kind="mail", address=server.address, sender=SENDER, timeout=20_000)
    return replace(known, **fields)


async def mailed(server: MailServer, to: str = "ada@example.org", **fields: Any) -> SendOutcome:
    return await MailWire().send(shipment(destination(server), address=to, **fields))


async def test_a_mail_says_what_it_is_about_under_the_id_of_its_delivery() -> None:
    async with MailServer().open() as server:
        outcome = await mailed(server)
        [(to, mail)] = server.taken
        assert outcome.verdict == "sent"
        assert outcome.health == "good"
        assert to == "ada@example.org"
        assert mail["To"] == "ada@example.org"
        assert mail["From"] == SENDER
        assert mail["Subject"] == "Approve"
        assert mail["Message-ID"] == f"<{ID}@example.org>"
        assert mail["Auto-Submitted"] == "auto-generated"
        assert mail["References"] is None
        assert "Please look." in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]


async def test_every_attempt_sends_the_same_bytes() -> None:
    async with MailServer().open() as server:
        for attempt in (1, 2):
            await mailed(server, attempt=attempt, at=NOW + attempt * 1_000)
        assert server.raw[0] == server.raw[1]


async def test_a_later_mail_refers_to_the_first_one_about_its_point() -> None:
    async with MailServer().open() as server:
        await mailed(server, parcel=Parcel(kind="pause.reminded", at=NOW, subject="s", text="t", first="first-id"))
        assert server.taken[0][1]["References"] == "<first-id@example.org>"


async def test_a_server_that_greylists_is_tried_again() -> None:
    async with MailServer(lambda _: "451 4.7.1 Greylisted, come back").open() as server:
        outcome = await mailed(server)
        assert (outcome.verdict, outcome.status, outcome.reason) == ("again", 451, "mail_deferred")
        assert "Greylisted" in outcome.reply
        assert outcome.health == "unknown"


async def test_one_of_three_addressees_is_refused_and_the_others_get_theirs() -> None:
    def at_recipient(address: str) -> str:
        return "550 5.1.1 No such user" if address.startswith("bob") else "250 OK"

    async with MailServer(at_recipient).open() as server:
        users = ("ada", "bob", "cyd")
        outcomes = await asyncio.gather(*(mailed(server, f"{user}@example.org") for user in users))
        assert [one.verdict for one in outcomes] == ["sent", "dead", "sent"]
        assert sorted(to for to, _ in server.taken) == ["ada@example.org", "cyd@example.org"]


async def test_a_server_that_drops_the_connection_after_the_mail_gets_it_again_under_the_same_id() -> None:
    dropped: list[SMTP] = []

    def drop(server: SMTP) -> None:
        if not dropped:
            dropped.append(server)
            server.transport.abort()  # type: ignore[union-attr]

    async with MailServer(at_end=drop).open() as server:
        assert (await mailed(server)).verdict == "again"
        assert (await mailed(server, attempt=2)).verdict == "sent"
        assert {mail["Message-ID"] for _, mail in server.taken} == {f"<{ID}@example.org>"}
        assert len(server.taken) == 2


async def test_a_server_that_takes_a_mail_and_never_answers_is_given_up_in_time() -> None:
    async with MailServer().open() as server:
        server._at_end = lambda _: server.never.wait()  # noqa: SLF001 - it waits for what only the server has
        outcome = await MailWire().send(shipment(destination(server, timeout=300), address="ada@example.org"))
        assert (outcome.verdict, outcome.reason, outcome.health) == ("again", "mail_timeout", "bad")


async def test_a_server_that_drips_bytes_is_given_up_in_time() -> None:
    async with dripping(b"", b"220-") as port:
        known = KnownDestination(
            name="mail", kind="mail", sender=SENDER, timeout=300, address=f"smtp://127.0.0.1:{port}"
        )
        outcome = await MailWire().send(shipment(known, address="ada@example.org"))
    assert outcome.verdict == "again"


async def test_content_that_is_refused_for_good_is_dead() -> None:
    async with MailServer(at_end=lambda _: "554 5.6.0 Not this").open() as server:
        assert (await mailed(server)).verdict == "dead"


async def test_a_server_elsewhere_has_to_offer_tls() -> None:
    async with MailServer().open() as server:
        known = destination(server, address=f"smtp://0.0.0.0:{server.port}")  # the same, by no local name
        outcome = await MailWire().send(shipment(known, address="ada@example.org"))
        assert outcome.verdict == "again"
        assert not server.taken


async def test_a_login_that_is_refused_is_tried_again_because_a_secret_may_be_rotated() -> None:
    async with MailServer().open() as server:
        known = destination(server, user="layover", secrets=(UsedSecret("MAIL_PASSWORD"),))
        values = {"MAIL_PASSWORD": "wrong-password"}
        outcome = await MailWire().send(shipment(known, address="ada@example.org", values=values))
        assert outcome.verdict == "again"
        assert "wrong-password" not in str(outcome)


async def test_headers_of_a_destination_are_sent_but_for_those_that_are_ours() -> None:
    headers = {"Reply-To": UsedSecret("REPLIES"), "List-Id": "layover", "Bcc": "eve@example.org", "subject": "evil"}
    async with MailServer().open() as server:
        known = destination(server, headers=headers)
        values = {"REPLIES": "ops@example.org\r\nBcc: eve@example.org"}
        await MailWire().send(shipment(known, address="ada@example.org", values=values))
        [(_, mail)] = server.taken
        assert mail["List-Id"] == "layover"
        assert mail["Reply-To"] is not None
        assert mail["Bcc"] is None
        assert mail.get_all("Subject") == ["Approve"]


@pytest.mark.parametrize("evil", INJECTIONS)
async def test_no_value_adds_a_header(evil: str) -> None:
    async with MailServer().open() as server:
        parcel = Parcel(kind="send", at=NOW, subject=evil, text=f"x{evil}")
        assert (await mailed(server, parcel=parcel)).verdict == "sent"
        [(_, mail)] = server.taken
        assert mail["Bcc"] is None
        assert sorted(mail.keys()) == sorted(
            ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]
        )


@pytest.mark.parametrize(
    "text",
    [
        *INJECTIONS,
        "",
        "ada",
        "@example.org",
        "ada@",
        "a b@example.org",
        "ada@exa mple.org",
        "<ada@example.org>",
        "ada@example.org,bob@example.org",
        "ada@example.org\r\nRCPT TO:<bob@example.org>",
        "ä@example.org",
        "a" * 65 + "@b.c",
    ],
)
async def test_what_is_no_address_is_never_sent_to(text: str) -> None:
    with pytest.raises(BadAddress):
        mail_address(text)
    async with MailServer().open() as server:
        outcome = await mailed(server, text)
        assert outcome.verdict == "dead"
        assert outcome.reason in ("bad_address", "no_address")
        assert not server.raw


async def test_html_is_made_from_the_text_and_nothing_in_it_is_markup() -> None:
    evil = '<script>alert(1)</script><a href="https://evil.example">x</a> & "quoted" \u202e'
    async with MailServer().open() as server:
        link = "https://layover.example/d/p/1?a=1&b=2"
        await mailed(server, parcel=Parcel(kind="send", at=NOW, subject=evil, text=evil, link=link))
        content = server.taken[0][1].get_body(("html",)).get_content()  # type: ignore[union-attr]
        assert "<script" not in content
        assert content.count("<a ") == 1
        assert '<a href="https://layover.example/d/p/1?a=1&amp;b=2">' in content


async def test_a_domain_of_any_letters_is_encoded() -> None:
    assert mail_address("ada@bücher.example") == "ada@xn--bcher-kva.example"
