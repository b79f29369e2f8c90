"""Databases for the tests of the audit chain; and none of them may hang."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.bounded import bound_tests
from tests.runtime.harness import each_database, on_postgres

if TYPE_CHECKING:
    import pytest

__all__ = ["each_database", "on_postgres"]  # fixtures for all tests here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    bound_tests(items, Path(__file__).parent)
