"""Guessing credentials: it is slowed, it is noted, and a right guess among too many does not stand out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover.api.access.guesses import Guesses
from layover.api.problems import Refusal
from layover.api.trusted_proxies import TrustedProxies
from tests.api.harness import ADMIN_KEY, UNLIMITED, listening, served
from tests.api.test_limits import Seconds
from tests.runtime.harness import Between, Held, end, engine_on, flow
from tests.runtime.operations.test_callbacks import callback

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Api

LIMITED = replace(UNLIMITED, guess_limit=(3, 3_600.0))


def from_(host: str) -> dict[str, Any]:
    return {"client": (host, 1), "headers": []}


def is_refused(guesses: Guesses, host: str) -> bool:
    try:
        guesses.check(from_(host))
    except Refusal:
        return True
    return False


def test_different_credentials_of_an_address_are_counted_for_a_while() -> None:
    clock = Seconds()
    guesses = Guesses((3, 60.0), TrustedProxies(), clock)
    for clock.now, shown in ((0.0, "a"), (10.0, "b"), (20.0, "b"), (30.0, "c")):
        assert not is_refused(guesses, "10.0.0.1")
        guesses.note(from_("10.0.0.1"), shown, "r")

    assert is_refused(guesses, "10.0.0.1")
    assert not is_refused(guesses, "10.0.0.2")
    with pytest.raises(Refusal) as refused:
        guesses.check(from_("10.0.0.1"))
    assert refused.value.headers == {"retry-after": "30"}
    clock.now = 60.0
    assert not is_refused(guesses, "10.0.0.1")


def test_addresses_are_forgotten_when_there_are_too_many_of_them() -> None:
    guesses = Guesses((1, 60.0), TrustedProxies(), Seconds(), most_addresses=2)
    for host in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        guesses.note(from_(host), host, "r")

    assert [is_refused(guesses, f"10.0.0.{n}") for n in (1, 2, 3)] == [False, True, True]


async def guess(api: Api, key: str, **headers: str) -> int:
    sent = {"x-api-key": key, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return (await api.get("/me", as_="", headers=sent)).status


async def test_after_too_many_guesses_no_credentials_are_checked(tmp_path: Path) -> None:
    async with served(tmp_path, settings=LIMITED) as api:
        guesses = [await guess(api, f"guess {number}") for number in range(5)]
        right = await api.get("/me")
        nobody = await api.get("/me", as_="")
        healthy = await api.get("/healthz", as_="")

    assert guesses == [401, 401, 401, 429, 429]
    assert (right.status, right.code) == (429, "rate_limited")
    assert int(right.headers["retry-after"]) > 0
    assert (nobody.status, healthy.status) == (401, 200)


async def test_one_invalid_key_shuts_no_caller_out_however_often_it_is_sent(tmp_path: Path) -> None:
    async with served(tmp_path, settings=LIMITED) as api:
        old = [await guess(api, "an old key") for _ in range(10)]
        right = await api.get("/me")

    assert old == [401] * 10
    assert right.status == 200


async def test_behind_a_trusted_proxy_each_caller_has_guesses_of_their_own(tmp_path: Path) -> None:
    settings = replace(LIMITED, trusted_proxies=("127.0.0.1",))
    async with served(tmp_path, settings=settings) as api:
        guesses = [await guess(api, f"guess {number}", x_forwarded_for="198.51.100.1") for number in range(4)]
        # Whoever guesses cannot pass for another by what they write themselves.
        forged = await guess(api, "guess", x_forwarded_for="203.0.113.9, 198.51.100.1")
        other = await guess(api, ADMIN_KEY, x_forwarded_for="203.0.113.9")

    assert (guesses, forged, other) == ([401, 401, 401, 429], 429, 200)


class Asked(Between):
    """A store that counts the tokens that are looked up."""

    looked_up = 0

    async def queries_find_token(self, hash_: bytes) -> Any:
        self.looked_up += 1
        return await self.store.queries.find_token(hash_)


async def test_tokens_of_callbacks_are_guessed_no_faster(tmp_path: Path) -> None:
    work, store = Held(), Asked(tmp_path)
    async with engine_on(store, work) as engine, listening(engine, settings=LIMITED) as api:
        await engine.workflows.register(flow(callback(), end(1)))
        await engine.executions.start("flow")
        token = str((await work.begun()).given["token"])
        guesses = [(await api.post(f"/callbacks/{n * 43}", as_="")).status for n in "ABCDE"]
        looked_up = store.looked_up
        right = await api.post(f"/callbacks/{token}", as_="")

    assert guesses == [404, 404, 404, 429, 429]
    assert (right.status, looked_up, store.looked_up) == (429, 3, 3)


async def test_a_guess_is_noted_without_what_was_guessed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with served(tmp_path, settings=replace(UNLIMITED, guess_limit=None)) as api:
        await guess(api, "almost-the-right-key", x_request_id="r1")
        for number in range(100):
            await guess(api, f"key-{number}")
        await api.post(f"/callbacks/{'A' * 43}", as_="")

    lines = [line for line in caplog.messages if line.startswith("credentials_refused")]
    assert lines[0] == "credentials_refused address=127.0.0.1 request=r1 left_out=0"
    assert 0 < len(lines) < 101
    assert "the-right-key" not in caplog.text
    assert "A" * 43 not in caplog.text
