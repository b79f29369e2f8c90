"""The scene of the deliveries: destinations, what is sent to them, and people."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.interface.play import Play

HOOK: dict[str, Any] = {"name": "erp", "kind": "webhook", "address": "https://erp.example/hook?key=1", "secret": "ERP"}
CHAT: dict[str, Any] = {"name": "quiet", "kind": "chat", "address": "https://chat.example/T0/secret-part"}
MAIL: dict[str, Any] = {
    "name": "post",
    "kind": "mail",
    "address": "smtps://smtp.example:465",
    "from": "layover@example.com",
    "user": "layover",
    "secret": "SMTP_PASSWORD",
}
TELLING: dict[str, Any] = {
    "name": "telling",
    "nodes": [{"id": "ok", "type": "approval", "title": "May it?", "approvers": {"users": ["ada"]}}],
    "notify": [{"on": ["pause.opened"], "via": "quiet"}],
}
UNKNOWN = "11111111-1111-4111-8111-111111111111"


async def deliveries(play: Play) -> None:
    """Destinations, deliveries and people."""
    await _destinations(play)
    await _deliveries(play)
    await _people(play)


async def _destinations(play: Play) -> None:
    door = play.door
    await play.listed(door, "destinations")
    for given in (
        {},
        "erp",
        {**HOOK, "kind": "pigeon"},
        {**HOOK, "name": "not a name!"},
        {**HOOK, "address": "ftp://erp.example"},
        {**HOOK, "address": "x" * 2_001},
        {**HOOK, "adress": "typo"},
        {**HOOK, "rate": "often"},
        {**HOOK, "timeout": "1d"},
        {**HOOK, "headers": {"x\r\ny": "1"}},
        {**HOOK, "secret": "not a name"},
        {**MAIL, "from": "nobody"},
        {**CHAT, "address": {"secret": "lower"}},
        {**CHAT, "headers": {"x": object()}},
    ):
        await play.refused(door, "create_destination", given)
    made = await play.do(door, "create_destination", HOOK, idempotency_key="made")
    await play.do(door, "create_destination", HOOK, idempotency_key="made")
    await play.refused(door, "create_destination", {**HOOK, "ordered": False}, idempotency_key="made")
    await play.refused(door, "create_destination", HOOK)
    await play.do(door, "create_destination", CHAT)
    await play.do(door, "create_destination", MAIL)
    await play.do(made, "update", {**HOOK, "headers": {"X-Team": "ops"}, "rate": "10/s", "include": ["shown"]})
    await play.refused(made, "update", {**HOOK, "name": "other"})
    await play.refused(made, "update", {"kind": "webhook"})
    await play.refused(made, "update", "erp")
    await play.do(made, "disable", "moving", idempotency_key="d")
    await play.do(made, "disable", "moving", idempotency_key="d")
    await play.refused(made, "disable", "x" * 256)
    await play.do(made, "enable")
    await play.do(made, "refresh")
    await play.listed(door, "destinations")
    for name in ("other", "", "x" * 256, "../keys"):
        await play.refused(door, "destination", name)
    listing = await play.call(door, "destinations")
    await play.refused(listing, "page", cursor="non sense!")
    await play.refused(made, "test", to="x" * 256)
    tried = await play.call(made, "test")  # it fails, since nothing has the secret; how long that takes may vary
    play.note("test", (tried.info.kind, tried.info.state, tried.info.destination))
    await play.do(made, "delete")
    for act in ("delete", "refresh", "enable", "test"):
        await play.refused(made, act)
    await play.refused(made, "update", HOOK)


async def _deliveries(play: Play) -> None:
    door = play.door
    await play.call(await play.call(door, "destination", "quiet"), "disable", "asleep")
    await play.do(door, "register", TELLING)
    paused = await play.call(door, "start", "telling", until="people")
    one = await _first(play, paused.id)
    play.note("delivery", one)
    await play.do(door, "delivery", one.id)
    await play.listed(door, "deliveries", state="pending", destination="quiet", execution_id=paused.id)
    await play.listed(door, "deliveries", state="dead")
    for wrong in ({"state": "lost"}, {"destination": ""}, {"execution_id": "x"}):
        await play.refused(door, "deliveries", **wrong)
    await play.refused(await play.call(door, "deliveries"), "page", cursor="nonsense!")
    for id_ in ("x", UNKNOWN):
        await play.refused(door, "delivery", id_)
    point = await play.call(paused, "point", "ok")
    await play.do(point, "why")
    await play.do(paused, "why")
    await play.refused(one, "redeliver")
    await play.do(one, "discard", idempotency_key="x")
    await play.do(one, "discard", idempotency_key="x")
    await play.do(point, "why")
    await play.do(one, "redeliver")
    await play.do(one, "refresh")
    await play.do(one, "discard")
    await play.do(door, "redeliver", state="discarded", destination="quiet", execution_id=paused.id, limit=5)
    await play.do(door, "redeliver")
    refused: tuple[dict[str, Any], ...] = (
        {"state": "sent"},
        {"state": "pending"},
        {"limit": 0},
        {"limit": 1_001},
        {"execution_id": "x"},
    )
    for named in refused:
        await play.refused(door, "redeliver", **named)
    await play.refused(door, "redeliver", cursor="nonsense!")
    await play.do(paused, "refresh")  # it counts what was sent
    await play.do(paused, "cancel")


async def _people(play: Play) -> None:
    door = play.door
    addresses = {"mail": "ada@example.com", "chat": "@ada"}
    away = {"until": "2999-01-31T08:00", "substitute": "ben"}
    await play.do(
        door,
        "save_person",
        "ada",
        roles=["finance"],
        addresses=addresses,
        language="de",
        zone="Europe/Berlin",
        away=away,
    )
    for user in ("ben", "cleo"):
        await play.do(door, "save_person", user)
    await play.do(door, "save_person", "ben", addresses={"mail": "ben@example.com"})
    for user, named in (
        ("", {}),
        ("x" * 256, {}),
        (" ada", {}),
        ("dan", {"roles": "finance"}),
        ("dan", {"roles": ["x" * 256]}),
        ("dan", {"addresses": {"mail": "dan@example.com\r\nBcc: eve@example.com"}}),
        ("dan", {"addresses": {"mail": "Dan <dan@example.com>"}}),
        ("dan", {"addresses": "dan@example.com"}),
        ("dan", {"zone": "Europe/Bielefeld"}),
        ("dan", {"language": "x" * 36}),
        ("dan", {"away": {"until": "soon"}}),
        ("dan", {"away": {"till": "2999-01-31"}}),
    ):
        await play.refused(door, "save_person", user, **named)
    await play.listed(door, "people")
    await play.refused(await play.call(door, "people"), "page", cursor=" nonsense\n")
    await play.do(door, "person", "ada")
    await play.do(door, "delete_person", "cleo")
    for act in ("person", "delete_person"):
        for user in ("cleo", "", "x" * 256, "a/b"):
            await play.refused(door, act, user)


async def _first(play: Play, execution_id: str) -> Any:
    """Return the delivery of an execution once an instance has made it."""
    while True:
        listing = await play.call(play.door, "deliveries", execution_id=execution_id)
        found = await play.call(listing, "all")
        if found:
            return found[0]
        await asyncio.sleep(0.01)
