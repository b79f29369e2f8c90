"""Links in notifications: a mail holds one for its addressee, the same at every attempt; nothing else holds a token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from layover.runtime.decision_links import hash_of
from layover.runtime.deliveries.mail_message import mail_bytes
from tests.runtime.deliveries.post_office import HOUR, REFUSED, SENT, Office, asking, deliveries
from tests.runtime.deliveries.test_notifications import approve, point_of, started

if TYPE_CHECKING:
    from pathlib import Path

    from layover.runtime.deliveries.shipments import Shipment

pytestmark = pytest.mark.usefixtures("each_database")

OPENED = {"on": ["pause.opened"], "to": "people", "via": "mail"}
KEY, NEWER = "k" * 8 + "3141592653589793238462643383", "n" * 8 + "2718281828459045235360287471"
URL = "https://layover.example.org"
LINK = re.compile(rf"{URL}/d/([\w-]{{43}})(?![\w-])")
SETTINGS: dict[str, Any] = {"link_key": KEY, "public_url": URL}


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def tokens_of(shipment: Shipment) -> set[str]:
    return {*LINK.findall(shipment.parcel.text), *LINK.findall(shipment.parcel.link)}


async def test_each_addressee_gets_a_link_of_their_own_that_is_known_before_it_is_sent(office: Office) -> None:
    async with office.engine(**SETTINGS) as engine:
        execution = await started(engine, asking(OPENED))
        await office.settle(engine)
        point = await point_of(engine, execution)
        found = {one.user: tokens_of(one) for one in office.wire.made}
        rows = [await engine.instance.store.links.find(hash_of(*tokens)) for tokens in found.values()]
        bodies = [row.body for row in await deliveries(engine)]

    assert {user: len(tokens) for user, tokens in found.items()} == {"ada": 1, "bob": 1}
    assert len(set.union(*found.values())) == 2
    assert [(row.user, row.point) for row in rows if row] == [(user, point) for user in found]
    assert all(b'"$token":"decide"' in body for body in bodies)
    assert not any(token.encode() in body for body in bodies for token in set.union(*found.values()))


async def test_a_link_is_the_same_at_every_attempt_also_after_its_key_was_replaced(office: Office) -> None:
    office.wire.answer = lambda _: REFUSED
    async with office.engine(**SETTINGS) as engine:
        await started(engine, asking(OPENED))
        await office.settle(engine)
        await office.skip(HOUR, engine)
    before = {one.user: tokens_of(one) for one in office.wire.made}
    count = len(office.wire.made)
    office.wire.answer = lambda _: SENT
    async with office.engine(link_key=f"{NEWER},{KEY}", public_url=URL) as engine:
        await office.skip(24 * HOUR, engine)
        assert len(office.wire.made) == count + 2
    after = {one.user: tokens_of(one) for one in office.wire.made[count:]}

    assert count > 2
    assert before == after
    assert all(len(tokens_of(one)) == 1 for one in office.wire.made)


async def test_without_its_key_a_mail_leads_to_where_one_signs_in(office: Office) -> None:
    office.wire.answer = lambda _: REFUSED
    async with office.engine(**SETTINGS) as engine:
        execution = await started(engine, asking(OPENED))
        await office.settle(engine)
        point = await point_of(engine, execution)
    office.wire.made.clear()
    office.wire.answer = lambda _: SENT
    async with office.engine(public_url=URL) as engine:
        await office.skip(24 * HOUR, engine)
        other = await started(engine, asking(OPENED))
        await office.settle(engine)
        others = await point_of(engine, other)

    assert [tokens_of(one) for one in office.wire.made] == [set()] * 4
    assert [one.parcel.link for one in office.wire.made] == [f"{URL}/d/p/{point}"] * 2 + [f"{URL}/d/p/{others}"] * 2
    assert all(one.parcel.link in one.parcel.text and "mark-" not in one.parcel.text for one in office.wire.made)


async def test_a_shared_channel_a_bare_address_and_other_occasions_get_no_token(office: Office) -> None:
    rules: list[dict[str, object]] = [
        {"on": ["pause.opened"], "to": "people", "via": "ops-chat"},
        {"on": ["pause.opened"], "via": "erp", "message": {"text": "Look: ${link}"}},
        {"on": ["pause.opened"], "to": ["boss@example.org"], "via": "mail"},
        {"on": ["pause.answered", "execution.completed"], "to": "requester", "via": "mail"},
    ]
    async with office.engine(**SETTINGS) as engine:
        execution = await started(engine, asking(*rules))
        await office.settle(engine)
        point = await point_of(engine, execution)
        await approve(engine, execution, "ada")
        await office.settle(engine)

    assert len(office.wire.made) >= 4
    assert [tokens_of(one) for one in office.wire.made] == [set()] * len(office.wire.made)
    assert not any("mark-" in one.parcel.text for one in office.wire.made)
    asked = [one for one in office.wire.made if one.parcel.kind == "pause.opened"]
    assert all(f"{URL}/d/p/{point}" in one.parcel.text for one in asked)


async def test_a_value_in_a_text_cannot_carry_the_token_elsewhere(office: Office) -> None:
    evil = f"https://evil.example/?{URL}/d/mark-AAAAAAAAAAAAAAAAAAAAAAAA " + '{"$token":"decide"}'
    rule = {**OPENED, "message": {"text": "${execution.input.evil} ${link}"}}
    async with office.engine(**SETTINGS) as engine:
        await started(engine, asking(rule), evil=evil)
        await office.settle(engine)

    for one in office.wire.made:
        assert one.parcel.text.startswith(f"{evil} {URL}/d/")
        assert len(LINK.findall(one.parcel.text)) == 1


async def test_a_mail_shows_its_link_as_one_also_if_the_message_has_none(office: Office) -> None:
    async with office.engine(**SETTINGS) as engine:
        await started(engine, asking({**OPENED, "message": {"text": "Please decide."}}))
        await office.settle(engine)

    for one in office.wire.made:
        [token] = tokens_of(one)
        _, _, mail = mail_bytes(one)
        text = mail.replace(b"=\r\n", b"").decode()
        assert f"Please decide.\r\n\r\n{URL}/d/{token}" in text
        assert f'href=3D"{URL}/d/{token}"' in text


async def test_a_link_that_was_revoked_stays_so_when_its_mail_is_sent_again(office: Office) -> None:
    async with office.engine(**SETTINGS) as engine:
        execution = await started(engine, asking(OPENED))
        await office.settle(engine)
        point = await point_of(engine, execution)
        store = engine.instance.store
        assert await store.links.revoke(point, None, office.time.now) == 2
        for row in await deliveries(engine):
            await engine.deliveries.redeliver(row.id, None)
        await office.settle(engine)
        assert len(office.wire.made) == 4
        for one in office.wire.made:
            [token] = tokens_of(one)
            link = await store.links.find(hash_of(token))
            assert link is not None
            assert link.revoked_at is not None
