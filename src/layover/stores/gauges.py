"""How far the gauges of a store are counted, so that a scrape costs little however much waits."""

from __future__ import annotations

from typing import Final

MOST: Final = 100_000  # executions or messages
MOST_OF_WORKFLOW: Final = 10_000  # executions of one workflow
SOME_HEADS: Final = 10_000  # executions that are due, whose queues of commands are added up
