"""The secrets of a test, which has no others, so that it is the same wherever it runs; and those of simulations."""

from __future__ import annotations

from layover.core.secret_names import is_secret_name
from layover.errors import InvalidInput
from layover.ports.secrets import SHORTEST_VALUE, Secret


class GivenSecrets:
    """A provider of what a test has given."""

    source = "test"

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def set(self, name: str, value: str | None) -> None:
        """Give a secret, or take it away."""
        if not is_secret_name(name):
            raise InvalidInput(
                f"`{name}` is not the name of a secret: write it like `API_KEY`.", code="invalid_parameter"
            )
        if value is None:
            self._values.pop(name, None)
            return
        if len(value) < SHORTEST_VALUE:
            raise InvalidInput(f"A secret has at least {SHORTEST_VALUE} characters.", code="invalid_parameter")
        self._values[name] = value

    async def get(self, name: str) -> Secret | None:
        """Return what was given."""
        value = self._values.get(name)
        return Secret(value) if value is not None else None


class SimulatedSecrets:
    """A provider that has every secret: a simulation is about faults, not about values."""

    source = "simulation"

    async def get(self, name: str) -> Secret | None:
        """Return a value that is the same in every run."""
        return Secret(f"simulated-{name}")
