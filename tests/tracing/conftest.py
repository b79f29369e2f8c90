"""Databases for the tests of traces; and none of them may hang."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.bounded import bound_tests
from tests.runtime.harness import each_database, on_postgres

if TYPE_CHECKING:
    import pytest

__all__ = ["each_database", "on_postgres"]  # fixtures for all tests here

_LONGEST = 300  # seconds: far more than any of them takes, on a machine that is busy with other things too


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    bound_tests(items, Path(__file__).parent, longest=_LONGEST)
