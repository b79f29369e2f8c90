"""JSON for machines that read a command while it runs: one object on each line."""

from __future__ import annotations

import json
import sys

import msgspec

from layover.model.shared import encode


def print_json_line(value: object) -> None:
    """Print one object on a line of its own, at once; all that a terminal could take for an order is escaped."""
    sys.stdout.write(f"{json.dumps(msgspec.json.decode(encode(value)))}\n")
    sys.stdout.flush()
