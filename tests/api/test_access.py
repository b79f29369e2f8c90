"""Who gets in: keys, where they are shown, what they permit, and that nobody else sees them."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Any

import pytest

from layover.api.access.config import AccessSettings, JwtSettings
from layover.api.access.first_key import first_key, has_keys
from layover.api.access.guard import KeysAndTokens
from layover.api.access.listen_address import is_loopback
from layover.api.access.recent import RecentlyUsed
from layover.api.settings import ApiSettings
from layover.ports.access import AuditFilter, Key
from layover.ports.records import AuditRow
from layover.runtime.ids import new_id
from layover.service.api_keys import hash_of, new_key, prefix_of
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening, served
from tests.runtime.harness import Between, engine_at, engine_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.api.harness import Answered, Api

SECRET = "correct horse battery staple, and so on"  # noqa: S105 - of these tests
each_database = pytest.mark.usefixtures("each_database")


async def add_key(api: Api, **fields: Any) -> str:
    """Keep a key with these fields, and return it."""
    key, now = new_key(), api.engine.instance.clock.now()
    usual: dict[str, Any] = {"name": "a key", "user": "ada", "roles": ("viewer",), "created_at": now}
    row = Key(id=new_id(now), prefix=prefix_of(key), hash=hash_of(key), **{**usual, **fields})
    entry = AuditRow(id=new_id(now), at=now, user="tests", act="key.add", target=row.id)
    await api.engine.instance.store.api_keys.add(row, entry)
    return key


async def me(api: Api, **headers: str) -> Answered:
    return await api.get("/me", as_="", headers={name.replace("_", "-"): value for name, value in headers.items()})


# Showing credentials


@each_database
async def test_a_key_gives_its_user_roles_and_permissions(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        key = await add_key(api, roles=("approver", "cfo"))
        shown = await me(api, authorization=f"Bearer {key}")
        other = await me(api, x_api_key=key)
        spelled = await me(api, authorization=f"bearer  {key}")

    assert shown.status == 200
    assert (shown.json["user"], shown.json["roles"]) == ("ada", ["approver", "cfo"])
    assert shown.json["permissions"] == ["approval:decide", "execution:read", "workflow:read"]
    assert shown.json["credential"].startswith("key ")
    assert other.json == spelled.json == shown.json


async def test_the_admin_key_is_the_admin(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        shown = await me(api, x_api_key=ADMIN_KEY)

    assert (shown.json["user"], shown.json["roles"], shown.json["credential"]) == ("admin", ["admin"], "admin key")
    assert "admin" in shown.json["permissions"]


async def test_scopes_take_away_and_never_add(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        fewer = await me(api, x_api_key=await add_key(api, scopes=("execution:read", "admin")))
        none = await me(api, x_api_key=await add_key(api, scopes=()))

    assert fewer.json["permissions"] == ["execution:read"]
    assert none.json["permissions"] == []


async def test_an_unknown_role_permits_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        key = await add_key(api, roles=("cfo",))
        shown = await me(api, x_api_key=key)
        refused = await api.get("/keys", as_="", headers={"x-api-key": key})

    assert (shown.status, shown.json["permissions"]) == (200, [])
    assert (refused.status, refused.code) == (403, "forbidden")


async def test_a_request_without_credentials_gets_401_and_www_authenticate(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await me(api)

    assert (answered.status, answered.code) == (401, "unauthenticated")
    assert answered.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Basic YWRtaW46YWRtaW4="},
        {"authorization": ADMIN_KEY},
        {"authorization": f"Bearer {ADMIN_KEY}x"},
        {"authorization": f"Bearer {ADMIN_KEY[:-1]}"},
        {"authorization": f"Bearer {new_key()}"},
        {"authorization": "Bearer lay_"},
        {"authorization": "Bearer a.b.c"},
        {"authorization": "Bearer " + "x" * 20_000},
        {"authorization": f"Bearer {ADMIN_KEY}", "x-api-key": ADMIN_KEY},
        {"authorization": "Bearer", "x-api-key": ADMIN_KEY},
        {"x-api-key": "schlüssel"},
    ],
)
async def test_a_malformed_credential_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/me", as_="", headers=headers)

    assert (answered.status, answered.code) == (401, "unauthenticated")
    assert answered.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@each_database
async def test_an_expired_key_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        now = api.engine.instance.clock.now()
        expired = await me(api, x_api_key=await add_key(api, expires_at=now))
        ended = await me(api, x_api_key=await add_key(api, ended_at=now))
        later = await me(api, x_api_key=await add_key(api, expires_at=now + 3_600_000, ended_at=now + 3_600_000))

    assert (expired.status, ended.status, later.status) == (401, 401, 200)


async def test_a_server_without_an_admin_key_takes_none(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine, access=AccessSettings()) as api:
        answered = await me(api, x_api_key=ADMIN_KEY)
        empty = await me(api, authorization="Bearer ")

    assert (answered.status, empty.status) == (401, 401)


# Nothing leaks


async def test_no_credential_is_ever_written_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtYWxsb3J5In0.c2lnbmF0dXJlLW9mLW1hbGxvcnk"
    access = AccessSettings(admin_key=ADMIN_KEY, jwt=JwtSettings(secret=SECRET))
    async with engine_at(tmp_path) as engine, listening(engine, access=access) as api:
        made = await api.post("/keys", {"name": "n", "user": "ada", "roles": ["admin"]})
        secrets = [ADMIN_KEY, jwt, SECRET, new_key(), made.json["key"]]
        told = []
        for secret in secrets:
            for headers in ({"x-api-key": secret}, {"authorization": f"Bearer {secret}"}):
                told.append(await api.get("/me", as_="", headers=headers))
                told.append(await api.post("/keys", {"name": 1}, as_="", headers=headers))
                told.append(await api.delete("/keys/none", as_="", headers=headers))
                told.append(await api.get("/audit", as_="", headers=headers))
        again = await api.post("/keys", {"name": "n", "user": "ada", "roles": ["admin"]}, key="k1")
        replayed = await api.post("/keys", {"name": "n", "user": "ada", "roles": ["admin"]}, key="k1")
        told += [await api.get("/keys"), replayed]
        rows = await engine.instance.store.audit.list_entries(AuditFilter())
        secrets.append(again.json["key"])
        guard = api.services.guard

    written = [record.getMessage() for record in caplog.records] + [repr(row) for row in rows] + [repr(guard)]
    written += [answered.body.decode() + repr(answered.headers) for answered in told]
    assert {row.act for row in rows} == {"key.add"}
    assert not [text for text in written for secret in secrets if secret in text or hash_of(secret).hex() in text]


def test_settings_do_not_show_their_secrets() -> None:
    settings = AccessSettings(admin_key=ADMIN_KEY, jwt=JwtSettings(secret=SECRET))

    assert ADMIN_KEY not in repr(settings)
    assert SECRET not in repr(settings)


# Keys that were used a moment ago


class Shelf:
    """Where keys are read from, how often, and a clock."""

    def __init__(self) -> None:
        self.key: Key | None = Key(
            id="1", prefix="lay_", hash=b"h", name="n", user="ada", roles=(), created_at=0, ended_at=None
        )
        self.reads = 0
        self.now = 0.0
        self.meanwhile: Callable[[], object] | None = None
        self.recent = RecentlyUsed[Key](self.read, lambda: self.now)

    async def read(self, hash_: bytes) -> Key | None:
        self.reads += 1
        if self.meanwhile is not None:
            self.meanwhile()
        return self.key if hash_ == b"h" else None


async def test_a_key_that_is_used_often_is_looked_up_once() -> None:
    shelf = Shelf()
    for _ in range(5):
        assert await shelf.recent.find(b"h") is shelf.key
    assert shelf.reads == 1

    shelf.now = 2.0
    await shelf.recent.find(b"h")
    assert shelf.reads == 2


async def test_a_key_that_is_ended_here_is_forgotten_at_once() -> None:
    shelf = Shelf()
    await shelf.recent.find(b"h")
    shelf.recent.forget(lambda key: key.id == "1")
    shelf.key = None

    assert await shelf.recent.find(b"h") is None


async def test_what_was_read_before_a_key_was_ended_is_not_kept() -> None:
    shelf = Shelf()
    shelf.meanwhile = lambda: shelf.recent.forget(lambda key: key.id == "1")
    await shelf.recent.find(b"h")
    shelf.meanwhile = None
    await shelf.recent.find(b"h")

    assert shelf.reads == 2


async def test_guesses_are_not_kept() -> None:
    shelf = Shelf()
    for n in range(3):
        assert await shelf.recent.find(bytes([n])) is None
        assert await shelf.recent.find(bytes([n])) is None
    assert shelf.reads == 6


class Counting(Between):
    """A store that counts how often keys are looked up."""

    reads = 0

    async def api_keys_find_by_hash(self, hash_: bytes) -> Key | None:
        self.reads += 1
        return await self.store.api_keys.find_by_hash(hash_)


async def test_a_key_that_is_used_often_costs_no_read_each_time(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    async with engine_on(store) as engine, listening(engine, guard=KeysAndTokens(engine, clock=lambda: 0.0)) as api:
        key = await add_key(api)
        known = [(await me(api, x_api_key=key)).status for _ in range(5)]
        reads = store.reads
        unknown = [(await me(api, x_api_key=given)).status for given in ("not a key", "lay_x", "a.b.c", "x" * 47)]

    assert (known, unknown) == ([200] * 5, [401] * 4)
    assert reads == 1
    assert store.reads == reads  # what has not the form of a key is not looked up


# The first key


@each_database
async def test_the_first_start_makes_a_key_and_no_other_start_does(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine, access=AccessSettings()) as api:
        store, now = engine.instance.store, engine.instance.clock.now()
        assert not await has_keys(store)
        key = await first_key(store, now)
        assert key is not None
        assert await first_key(store, now) is None
        answered = await me(api, x_api_key=key)
        [entry] = await store.audit.list_entries(AuditFilter())

    assert (answered.json["user"], answered.json["roles"]) == ("admin", ["admin"])
    assert (entry.act, entry.user) == ("key.add", "server")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_without_keys_it_is_served_on_the_machine_itself(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.1", "example.org", "localhost.example.org"])  # noqa: S104
def test_without_keys_it_is_served_nowhere_else(host: str) -> None:
    assert not is_loopback(host)


# Settings


@pytest.mark.parametrize("make", [secrets.token_urlsafe, secrets.token_hex])
def test_what_a_generator_makes_is_taken(make: Callable[[int], str]) -> None:
    for _ in range(100):
        assert AccessSettings(admin_key=make(16)).admin_key


async def test_settings_are_those_of_the_server(tmp_path: Path) -> None:
    access, settings = AccessSettings(admin_key=ADMIN_KEY), ApiSettings(rate_limit=(2, 3600.0), body_limit=10)
    async with engine_at(tmp_path) as engine, listening(engine, access=access, settings=settings) as api:
        first = await api.post("/keys", {"name": "too large"})
        await api.get("/me")
        third = await api.get("/me")

    assert (first.status, third.status) == (413, 429)
    assert UNLIMITED.rate_limit is None
