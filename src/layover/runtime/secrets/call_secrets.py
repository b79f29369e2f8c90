"""The secrets of one call: put into its input just before it is made, and masked in everything that comes out of it.

Values go to the positions where the definition wrote `${secrets.NAME}`, which the plan knows. Nothing is searched for:
an object in the data that looks like a reference to a secret stays what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from layover.core.secret_names import secret_reference
from layover.masking import Masker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.definitions.secret_use import SecretPosition
    from layover.core.engine import commands as cmd
    from layover.runtime.secrets.cached_secrets import CachedSecrets
    from layover.runtime.secrets.grants import SecretGrants
    from layover.runtime.secrets.registered_values import RegisteredValues

    FromSecretCall = cmd.Complete | cmd.Fail | cmd.Probed | cmd.Undone | cmd.Ask | cmd.Sleep

C = TypeVar("C", bound=msgspec.Struct)

_IDENTITY = frozenset({"node", "attempt", "key"})  # of a command: they are found again by it


class CallSecrets:
    """The values that a call was given, registered for as long as it lasts."""

    def __init__(
        self, positions: Sequence[SecretPosition], values: dict[str, str], registered: RegisteredValues
    ) -> None:
        self._positions = positions
        self._values = values
        self._registered = registered
        self.masker = Masker({value: name for name, value in values.items()})
        for name, value in values.items():
            registered.add(value, name)

    def fill(self, given: object) -> object:
        """Put the values into the input of the call, which is a copy of its own."""
        for path, name in self._positions:
            given = _filled(given, path, secret_reference(name), self._values[name])
        return given

    def mask(self, command: C) -> C:
        """Return a command to the execution without the values."""
        fields = msgspec.to_builtins(command)
        masked = {name: one if name in _IDENTITY else self.masker.data(one) for name, one in fields.items()}
        return msgspec.convert(masked, type(command))

    def release(self) -> None:
        """Note that the call is over."""
        for value in self._values.values():
            self._registered.remove(value)


class SecretSource:
    """Gives calls their secrets, if their workflow may have them."""

    def __init__(self, secrets: CachedSecrets, grants: SecretGrants) -> None:
        self._secrets = secrets
        self._grants = grants

    async def of_call(self, workflow: str, positions: Sequence[SecretPosition]) -> CallSecrets:
        """Return the current values for a call; SecretNotAllowed or SecretMissing if it cannot have them."""
        names = dict.fromkeys(name for _, name in positions)
        self._grants.require(workflow, names)
        values = {name: (await self._secrets.require(name)).value for name in names}
        return CallSecrets(positions, values, self._secrets.registered)


def _filled(given: object, path: Sequence[str | int], reference: object, value: str) -> object:
    """Return data with a value in the place of a reference; as it is, if the reference is not there."""
    if not path:
        return value if given == reference else given
    step, rest = path[0], path[1:]
    if isinstance(given, dict) and step in given:
        given[step] = _filled(given[step], rest, reference, value)
    if isinstance(given, list) and isinstance(step, int) and step < len(given):
        given[step] = _filled(given[step], rest, reference, value)
    return given
