"""Signing keys of tests, and how an engine gets another one at once."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from layover import Secret
from layover.runtime.secrets.cached_secrets import CachedSecrets

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

OLD, NEW, NEWEST = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2, 3))
NEVER = 10**12


class Provider:
    """A provider of the signing key."""

    def __init__(self, key: str | None = None) -> None:
        self.key = key

    async def get(self, name: str) -> Secret | None:
        return Secret(self.key) if self.key is not None and name == "AUDIT_KEY" else None


def use(engine: Runtime, key: str | None) -> None:
    """Let an engine have a key from now on."""
    instance = engine.instance
    instance.secrets.close()  # what it registered is registered for the whole process
    instance.secrets = CachedSecrets([Provider(key)], instance.clock.running)
    for service in (instance.sealer, instance.purger._audit):  # noqa: SLF001 - an exchanged secret counts after a while
        service._secrets = instance.secrets  # noqa: SLF001 - as above
