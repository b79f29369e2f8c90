"""A resting execution costs nothing but rows: what a process holds does not grow with those that stand still."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FACTOR

_BENCH = Path(__file__).parents[3] / "bench" / "scale.py"
_PAUSED = 100_000
_MOST_BYTES = 50


@pytest.mark.skipif(FACTOR == 1, reason="it begins 100,000 executions: a minute, for `make torture`")
def test_the_memory_of_a_process_does_not_grow_with_what_is_paused() -> None:
    words = [sys.executable, str(_BENCH), "memory", str(_PAUSED)]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own program
    found = re.search(r"(-?[\d.]+) bytes for each", told)
    assert found is not None, told
    assert float(found[1]) < _MOST_BYTES, told
