"""How hard the property tests try, and the databases for whoever asks.

A normal run is short and the same every time. `make torture` sets LAYOVER_TORTURE to a factor: every property then
tries that many times as many examples, with the seed that was given.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.servers.postgres import postgres, postgres_closed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["postgres", "postgres_closed"]  # fixtures for all tests

FACTOR = int(os.environ.get("LAYOVER_TORTURE", "1"))

settings.register_profile(
    "layover",
    deadline=None,
    derandomize=FACTOR == 1,
    max_examples=100 * FACTOR,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("layover")


@pytest.fixture(scope="session", autouse=True)
def locks_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have instances hold the locks that neighbours know each other by in a folder that goes with the run."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("locks")))
        yield
