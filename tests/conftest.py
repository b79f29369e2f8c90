"""How hard the property tests try, the databases for whoever asks, and where a run keeps its files.

A normal run is short and the same every time. `make torture` sets LAYOVER_TORTURE to a factor: every property then
tries that many times as many examples, with the seed that was given.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.servers.fork_server import commands, workers
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

_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are made by tempfile and pytest
_ENOUGH = 4 * 2**30  # bytes: several times what a run has on it at once


def pytest_configure(config: pytest.Config) -> None:
    """Choose where files are, for this process and those that it begins; workers are begun later, and have the same."""
    if hasattr(config, "workerinput"):
        return
    if "TMPDIR" not in os.environ and _is_good(_MEMORY):
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # it may have been looked up before
    cache: pytest.Cache | None = getattr(config, "cache", None)
    if sys.dont_write_bytecode and cache is not None:
        # Hundreds of processes are begun, and each would compile all that it imports. Nothing is written beside the
        # sources, as was wished.
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _is_good(folder: Path) -> bool:
    """Return whether a folder is as good for the files of tests as one on a disk.

    What tests end is processes, never the machine, so what is in its memory is as durable to them.
    """
    try:
        can_run = not os.statvfs(folder).f_flag & os.ST_NOEXEC
        return can_run and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= _ENOUGH
    except OSError:
        return False


@pytest.fixture(scope="session", autouse=True)
def locks_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have instances hold the locks that neighbours know each other by in a folder that goes with the run."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("locks")))
        yield


@pytest.fixture(scope="session", autouse=True)
def fork_servers_closed() -> Iterator[None]:
    """Leave no process behind that begins others."""
    yield
    workers.close()
    commands.close()
