"""What providers gave is kept for 30 seconds; and they may do anything."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover import redaction
from layover.ports.secrets import Secret
from layover.runtime.secrets.cached_secrets import CachedSecrets
from layover.runtime.secrets.errors import SecretMissing, SecretNotAllowed
from layover.runtime.secrets.grants import SecretGrants

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD, NEW = "correct-horse", "battery-staple"


class Clock:
    """A clock that is wound by hand."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


class Vault:
    """A provider that gives what it was told to, or raises it, and counts."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.open, self.was_asked = asyncio.Event(), asyncio.Event()
        self.open.set()

    async def get(self, name: str) -> Secret | None:
        self.asked.append(name)
        self.was_asked.set()
        await self.open.wait()
        answer = self.answers.get(name)
        if isinstance(answer, BaseException):
            raise answer
        return Secret(answer) if isinstance(answer, str) else answer  # type: ignore[return-value]  # as others may


@pytest.fixture(autouse=True)
def _nothing_stays_registered() -> Iterator[None]:
    yield
    assert not redaction.has_secrets()


async def test_a_rotated_secret_counts_after_thirty_seconds() -> None:
    clock, vault = Clock(), Vault(KEY=OLD)
    secrets = CachedSecrets([vault], clock)
    assert await secrets.require("KEY") == Secret(OLD)
    vault.answers["KEY"] = NEW
    clock.now += 29_999
    assert await secrets.require("KEY") == Secret(OLD)
    clock.now += 1
    assert await secrets.require("KEY") == Secret(NEW)
    assert vault.asked == ["KEY", "KEY"]
    secrets.close()


async def test_a_value_that_was_replaced_is_masked_for_another_hour() -> None:
    clock, vault = Clock(), Vault(KEY=OLD)
    secrets = CachedSecrets([vault], clock)
    await secrets.get("KEY")
    vault.answers["KEY"] = NEW
    clock.now += 30_000
    await secrets.get("KEY")
    assert redaction.redact(f"{OLD} {NEW}") == "***KEY*** ***KEY***"
    clock.now += 3_600_000
    await secrets.get("KEY")
    assert redaction.redact(f"{OLD} {NEW}") == f"{OLD} ***KEY***"
    secrets.close()


async def test_a_provider_that_gives_another_value_each_time_does_not_fill_the_memory() -> None:
    clock, vault = Clock(), Vault()
    secrets = CachedSecrets([vault], clock)
    for count in range(1_000):
        vault.answers["KEY"] = f"value-number-{count}"
        await secrets.get("KEY")
        clock.now += 30_000
    assert len(redaction._secrets) <= 122  # noqa: SLF001 - those of an hour
    secrets.close()


async def test_a_missing_secret_is_looked_for_again_after_a_second() -> None:
    clock, vault = Clock(), Vault()
    secrets = CachedSecrets([vault], clock)
    with pytest.raises(SecretMissing, match="`KEY` was not found: set `LAYOVER_SECRET_KEY`"):
        await secrets.require("KEY")
    vault.answers["KEY"] = NEW
    assert await secrets.get("KEY") is None
    clock.now += 1_000
    assert await secrets.get("KEY") == Secret(NEW)
    secrets.close()


async def test_the_first_provider_that_has_a_name_counts() -> None:
    first, second = Vault(A="first-value"), Vault(A="second-value", B="second-value")
    secrets = CachedSecrets([first, second], Clock())
    assert await secrets.get("A") == Secret("first-value")
    assert await secrets.get("B") == Secret("second-value")
    assert (first.asked, second.asked) == (["A", "B"], ["B"])
    secrets.close()


BAD = {
    "raises": (RuntimeError(f"the vault says {OLD}"), "the provider `Vault` failed with RuntimeError"),
    "gives a short one": ("1234567", "a value of less than 8 characters, which could not be masked"),
    "gives a long one": ("x" * 32_769, "a value of more than 32,768 characters"),
    "gives half a character": ("\ud800" * 10, "a value that is not UTF-8"),
    "gives a number": (7, "int instead of a Secret with a text"),
    "gives bytes": (Secret(b"correct-horse"), "Secret instead of a Secret with a text"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("how", BAD)
async def test_a_provider_that_fails_ends_the_search(how: str) -> None:
    answer, message = BAD[how]
    second = Vault(KEY=NEW)
    secrets = CachedSecrets([Vault(KEY=answer), second], Clock())
    with pytest.raises(SecretMissing) as raised:
        await secrets.require("KEY")
    assert message in str(raised.value)
    assert OLD not in str(raised.value)
    assert (raised.value.code, raised.value.retryable) == ("secret_missing", True)
    assert second.asked == []


async def test_a_provider_that_hangs_is_given_up() -> None:
    vault = Vault(KEY=OLD)
    vault.open.clear()
    secrets = CachedSecrets([vault], Clock(), patience=0.001)
    with pytest.raises(SecretMissing, match="did not answer within"):
        await secrets.require("KEY")


async def test_many_callers_share_one_search_for_a_secret_and_a_cancelled_one_harms_no_other() -> None:
    vault = Vault(KEY=OLD)
    vault.open.clear()
    secrets = CachedSecrets([vault], Clock())
    first, *others = [asyncio.create_task(secrets.require("KEY")) for _ in range(50)]
    await vault.was_asked.wait()
    first.cancel()
    await asyncio.wait([first])
    vault.open.set()
    assert set(await asyncio.gather(*others)) == {Secret(OLD)}
    assert (first.cancelled(), vault.asked) == (True, ["KEY"])
    secrets.close()


@pytest.mark.parametrize("name", ["", "key", "../etc/passwd", "A" * 65, "A/B", "K\0"])
async def test_what_is_no_name_is_not_looked_for(name: str) -> None:
    vault = Vault()
    with pytest.raises(SecretMissing, match="not the name of a secret"):
        await CachedSecrets([vault], Clock()).require(name)
    assert vault.asked == []


@pytest.mark.parametrize(
    ("allowed", "granted"),
    [
        ({}, False),
        ({"*": ["*"]}, True),
        ({"billing-*": ["STRIPE_KEY"]}, True),
        ({"billing-*": ["STRIPE_*"], "*": []}, True),
        ({"billing": ["STRIPE_KEY"]}, False),
        ({"billing.eu": ["*"]}, False),
        ({"*": ["STRIPE"]}, False),
        ({"*": ["stripe_key"]}, False),
        ({"b.*": ["*"]}, False),
    ],
)
def test_a_pattern_grants_secrets_to_workflows(allowed: dict[str, list[str]], granted: bool) -> None:
    grants = SecretGrants(allowed)
    assert grants.grants("billing-eu", "STRIPE_KEY") is granted
    if not granted:
        with pytest.raises(SecretNotAllowed, match="`billing-eu` may not have the secret `STRIPE_KEY`"):
            grants.require("billing-eu", ["STRIPE_KEY"])
