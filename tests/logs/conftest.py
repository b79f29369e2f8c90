"""Lines that a test reads: what `configure_logging` wrote since the test began."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from layover import configure_logging
from layover.logs.configuration import reset_logging
from tests.runtime.harness import each_database, on_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["each_database", "on_postgres"]  # fixtures for all tests here


class Written:
    """A stream whose lines are looked at."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        """All that was written."""
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines, which are JSON."""
        return [msgspec.json.decode(line) for line in self.text.splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        """The lines of an event."""
        return [line for line in self.lines if line["event"] == event]

    def configure(self, level: str | int = "info", format: Any = "json") -> Written:  # noqa: A002 - as it is called
        """Write here."""
        configure_logging(level, format, stream=self.stream)
        return self


@pytest.fixture
def written() -> Iterator[Written]:
    """Return where lines are written; logging is as it was when the test is over."""
    yield Written()
    reset_logging()
