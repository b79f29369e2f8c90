"""Destinations as they are used: with all times in milliseconds, from what settings, operators or definitions wrote."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

import msgspec

from layover.core.definitions.destinations import DestinationDefinition, SecretAddress, interval_of, read_destination
from layover.core.definitions.instants import parse_instant
from layover.core.ids import uuid8
from layover.model.deliveries import DestinationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from layover.core.definitions.model import HookSecret

Included = Literal["shown", "input", "output", "answer"]

TIMEOUTS: Final[dict[DestinationKind, int]] = {"webhook": 15_000, "chat": 15_000, "mail": 60_000, "function": 60_000}
_CHAT_INTERVAL: Final = 1_000  # chats take about one message a second


class UsedSecret(msgspec.Struct, frozen=True):
    """A secret by its name, which counts until a moment, or for good."""

    name: str
    until: int | None = None


class KnownDestination(msgspec.Struct, frozen=True, kw_only=True):
    """A destination that can be sent to. An address, or a header, is a text, or the secret that has it."""

    name: str
    kind: DestinationKind
    address: str | UsedSecret = ""
    secrets: tuple[UsedSecret, ...] = ()
    user: str = ""
    sender: str = ""  # of mails
    headers: dict[str, str | UsedSecret] = {}
    interval: int = 0  # milliseconds from one delivery to the next
    ordered: bool = True
    timeout: int = 15_000
    include: tuple[Included, ...] = ()
    is_inline: bool = False  # a definition has it: its workflow has to be granted the secrets

    @property
    def secret_names(self) -> tuple[str, ...]:
        """The names of all secrets that it may need."""
        found = [one.name for one in self.secrets]
        found += [one.name for one in (self.address, *self.headers.values()) if isinstance(one, UsedSecret)]
        return tuple(dict.fromkeys(found))


def known_destination(name: str, written: DestinationDefinition) -> KnownDestination:
    """Return a destination of the settings, or one that an operator made, as it is used."""
    interval = _CHAT_INTERVAL if written.kind == "chat" else 0
    return KnownDestination(
        name=name,
        kind=written.kind,
        address=UsedSecret(written.address.secret) if isinstance(written.address, SecretAddress) else written.address,
        secrets=_secrets(written.secret),
        user=written.user,
        sender=written.from_,
        headers={header: _header(value) for header, value in written.headers.items()},
        interval=interval_of(written.rate) if written.rate else interval,
        ordered=written.ordered,
        timeout=written.timeout or TIMEOUTS[written.kind],
        include=written.include,
    )


def stored_destination(name: str, config: bytes) -> KnownDestination:
    """Return a destination as a store has it; InvalidDefinition if this release cannot read it."""
    data = msgspec.json.decode(config, type=dict[str, object])
    data.pop("name", None)
    return known_destination(name, read_destination(data))


def inline_destination(via: Mapping[str, object]) -> KnownDestination:
    """Return the destination that a definition has in place: `{webhook: address, secret: NAME}`.

    Its name tells the host, and follows from all of it: the same webhook in two definitions has one breaker. No other
    destination can have it, because names have no colon.
    """
    written = read_destination({"kind": "webhook", "address": via.get("webhook"), "secret": via.get("secret") or []})
    address = str(written.address)
    seed = msgspec.json.encode([address, written.secret], order="deterministic").decode()
    host = urlsplit(address).hostname or ""
    known = known_destination(f"webhook:{host[:40]}:{uuid8(seed)[:8]}", written)
    return msgspec.structs.replace(known, is_inline=True)


def _secrets(written: Iterable[HookSecret]) -> tuple[UsedSecret, ...]:
    return tuple(UsedSecret(one.name, None if one.until is None else parse_instant(one.until, UTC)) for one in written)


def _header(value: object) -> str | UsedSecret:
    match value:
        case {"secret": str() as name}:
            return UsedSecret(name)
        case _:
            return str(value)
