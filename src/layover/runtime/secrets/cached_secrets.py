"""The current values of secrets: providers asked in turn, and what they gave kept for a while.

A value is kept for 30 seconds, so a rotated secret counts soon, without a restart; that there is none, for a second.
Callers who need the same secret at the same time share one search. The first provider that has a name counts. One that
fails ends the search: a lower one must not answer for it.

Every value is registered with `redaction.py` from when it is known, and for an hour after another has taken its place:
log lines may still have it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.secret_names import is_secret_name
from layover.ports.secrets import LONGEST_VALUE, SHORTEST_VALUE, Secret
from layover.redaction import redact
from layover.runtime.secrets.errors import SecretMissing
from layover.runtime.secrets.registered_values import RegisteredValues
from layover.secret_providers.files import UnusableSecrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.ports.secrets import Secrets

KEPT_FOR: Final = 30_000  # milliseconds
_MISSING_FOR: Final = 1_000
_REGISTERED_FOR: Final = 3_600_000  # after its place was taken
PATIENCE: Final = 5.0  # seconds that a provider has
_LONGEST_SOURCE: Final = 60


class FoundSecret(NamedTuple):
    """The outcome of a search: a secret and where it is from, or neither; or what was wrong."""

    secret: Secret | None = None
    source: str = ""
    fault: str = ""


class _Kept(NamedTuple):
    found: FoundSecret
    until: int


class CachedSecrets:
    """Gives the current values of secrets; it is the `Secrets` that everything in an engine asks."""

    def __init__(self, providers: Sequence[Secrets], running: Callable[[], int], patience: float = PATIENCE) -> None:
        self._providers = tuple(providers)
        self._patience = patience
        self._running = running
        self._kept: dict[str, _Kept] = {}
        self._searches: dict[str, asyncio.Task[FoundSecret]] = {}
        self.registered = RegisteredValues()
        self._replaced: list[tuple[int, str]] = []  # until when a value that was replaced stays registered

    async def get(self, name: str) -> Secret | None:
        """Return a secret, None if no provider has it; SecretMissing if that cannot be told, or it cannot be used."""
        found = await self.find(name)
        if found.fault:
            raise SecretMissing(f"The secret `{name}` cannot be used: {found.fault}.")
        return found.secret

    async def require(self, name: str) -> Secret:
        """Return a secret, or raise SecretMissing."""
        secret = await self.get(name)
        if secret is None:
            raise SecretMissing(
                f"The secret `{name}` was not found: set `LAYOVER_SECRET_{name}`, or give it by another provider."
            )
        return secret

    async def find(self, name: str) -> FoundSecret:
        """Return a secret with where it is from, or what is wrong with it."""
        kept = self._kept.get(name)
        if kept is not None and self._running() < kept.until:
            return kept.found
        if not is_secret_name(name):
            return FoundSecret(fault="it is not the name of a secret")
        search = self._searches.get(name)
        if search is None:
            search = self._searches[name] = asyncio.get_running_loop().create_task(self._search(name))
            search.add_done_callback(lambda _: self._searches.pop(name, None))
        return await asyncio.shield(search)  # others wait for it, too

    def close(self) -> None:
        """Forget all values."""
        for search in self._searches.values():
            search.cancel()
        self._kept.clear()
        self._replaced.clear()
        self.registered.clear()

    async def _search(self, name: str) -> FoundSecret:
        found = FoundSecret()
        for provider in self._providers:
            found = await _ask(provider, name, self._patience)
            if found.secret is not None or found.fault:
                break
        self._keep(name, found)
        return found

    def _keep(self, name: str, found: FoundSecret) -> None:
        """Keep an outcome in the place of the one before it."""
        now = self._running()
        before = self._kept.get(name)
        if found.secret is not None:
            self.registered.add(found.secret.value, name)
        if before is not None and before.found.secret is not None:
            if found.secret is not None and found.secret.value == before.found.secret.value:
                self.registered.remove(found.secret.value)  # it was registered before
            else:
                self._replaced.append((now + _REGISTERED_FOR, before.found.secret.value))
        self._kept[name] = _Kept(found, now + (KEPT_FOR if found.secret is not None else _MISSING_FOR))
        while self._replaced and self._replaced[0][0] <= now:
            self.registered.remove(self._replaced.pop(0)[1])


def source_of(provider: Secrets) -> str:
    """Return what a provider is called: by itself, or by its class."""
    source = getattr(provider, "source", "")
    return source if isinstance(source, str) and source else type(provider).__name__[:_LONGEST_SOURCE]


async def _ask(provider: Secrets, name: str, patience: float) -> FoundSecret:
    """Ask one provider, which may be anybody's: it may hang, fail, or return anything."""
    source = source_of(provider)
    try:
        async with asyncio.timeout(patience):
            secret: object = await provider.get(name)
    except TimeoutError:
        return FoundSecret(source=source, fault=f"the provider `{source}` did not answer within {patience:g}s")
    except UnusableSecrets as error:
        return FoundSecret(source=source, fault=redact(str(error)))
    except Exception as error:  # noqa: BLE001 - whatever it raises fails this search and nothing else
        # Its text may have anything in it: only its type is told.
        return FoundSecret(source=source, fault=f"the provider `{source}` failed with {type(error).__name__}")
    if secret is None:
        return FoundSecret()
    fault = _fault_of(secret)
    if fault or not isinstance(secret, Secret):
        return FoundSecret(source=source, fault=f"the provider `{source}` gave {fault}")
    return FoundSecret(secret, source)


def _fault_of(secret: object) -> str:
    """Return what is wrong with what a provider gave."""
    if not isinstance(secret, Secret) or not isinstance(secret.value, str):  # Python passes whatever it is given
        return f"{type(secret).__name__} instead of a Secret with a text"
    if len(secret.value) < SHORTEST_VALUE:
        return f"a value of less than {SHORTEST_VALUE} characters, which could not be masked"
    if len(secret.value) > LONGEST_VALUE:
        return f"a value of more than {LONGEST_VALUE:,} characters"
    try:
        secret.value.encode()
    except UnicodeEncodeError:
        return "a value that is not UTF-8"
    return ""
