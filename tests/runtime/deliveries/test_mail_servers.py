"""From a pause to the mailboxes of its people, by a real mail server that misbehaves towards each of them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.runtime.deliveries.post_office import DESTINATIONS, HOUR, Office, asking, deliveries
from tests.runtime.deliveries.wire_parts import MailServer

if TYPE_CHECKING:
    from pathlib import Path

    from aiosmtpd.smtp import SMTP

pytestmark = pytest.mark.usefixtures("each_database")

PEOPLE = ["ada", "bob", "cyd", "dan", "eve"]
KINDS = ["pause.opened", "pause.reminded", "pause.cancelled"]


class Moody:
    """What the server does with the first mail to each: take, greylist, drop, or not answer; one it never takes."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.server = MailServer(self.at_recipient, self.at_end)

    def at_recipient(self, address: str) -> str:
        user = address.partition("@")[0]
        if user == "bob":
            return "550 5.1.1 No such user"
        if user == "ada" and self._is_first(user):
            return "451 4.7.1 Greylisted, come back"
        return "250 OK"

    def at_end(self, server: SMTP) -> object:
        assert server.envelope is not None
        user = server.envelope.rcpt_tos[0].partition("@")[0]
        if user == "cyd" and self._is_first(user):
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        if user == "dan" and self._is_first(user):
            return self.server.never.wait()
        return None

    def _is_first(self, user: str) -> bool:
        is_first = user not in self.seen
        self.seen.add(user)
        return is_first


async def test_each_person_gets_everything_in_order_whatever_the_server_does(tmp_path: Path) -> None:
    office, moody = Office(tmp_path), Moody()
    rule = {"on": KINDS, "to": "people", "via": "mail"}
    async with moody.server.open() as server:
        mail = DESTINATIONS["mail"] | {"address": server.address, "timeout": "500ms"}
        async with office.engine(wire=False, destinations={"mail": mail}) as engine:
            await engine.workflows.register(asking(rule, approvers={"users": PEOPLE}, remind=["1h"]))
            id_ = (await engine.executions.start("order")).id
            await office.skip(2 * HOUR, engine)
            await engine.control.cancel(id_)
            await office.skip(HOUR, engine)
            rows = await deliveries(engine)

    assert len({row.id for row in rows}) == len(rows) == len(PEOPLE) * len(KINDS)
    refused = {(row.user, row.state, row.reason) for row in rows if row.state != "sent"}
    assert refused == {("bob", "dead", "mail_refused")}
    mailboxes: defaultdict[str, list[str]] = defaultdict(list)
    for to, message in server.taken:
        mailboxes[to.partition("@")[0]].append(message["Message-ID"])
    for user in PEOPLE:
        expected = [f"<{row.id}@example.org>" for row in sorted(rows, key=lambda row: row.n) if row.user == user]
        # What came twice came under one id, and nothing was overtaken.
        assert list(dict.fromkeys(mailboxes[user])) == (expected if user != "bob" else [])
        assert sorted(mailboxes[user], key=expected.index) == mailboxes[user]
    assert len(mailboxes["cyd"]) > len(KINDS)  # it was dropped after the server had it
    assert len(mailboxes["dan"]) > len(KINDS)
