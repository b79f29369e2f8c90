"""Where the command begins: Ctrl-C while everything else is loaded ends it like any other, without a traceback."""

from __future__ import annotations

import sys

_INTERRUPTED = 130  # as in `exits.py`, which is not loaded yet


def main() -> None:
    """Load the commands, and run the one that is given."""
    try:
        from layover.cli.main import main as run  # noqa: PLC0415 - it may be interrupted
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    run()
