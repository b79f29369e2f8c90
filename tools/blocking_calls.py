"""Write src/layover/client/sync from the calls of the asynchronous client: tools/blocking_calls.py [--check]."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).parents[1] / "src" / "layover" / "client"
_NOTE = "# Written by tools/blocking_calls.py from ../calls: change it there.\n"
_CHANGES = [
    (r"\basync def\b", "def"),
    (r"\basync for\b", "for"),
    (r"\(await ([^\n]+?)\)\.items", r"\1.items"),
    (r"\bawait ", ""),
    (r"for one in ([^\n]+):\n +yield one\n", r"yield from \1\n"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"from layover\.client\.transport import Transport", "from layover.client.sync_client import SyncTransport"),
    (r"\btransport: Transport\b", "transport: SyncTransport"),
]


def blocking(text: str) -> str:
    """Return a module of calls as one whose methods block."""
    for pattern, by in _CHANGES:
        text = re.sub(pattern, by, text)
    words = [sys.executable, "-m", "ruff", "format", "--quiet", "-"]
    done = subprocess.run(words, input=_NOTE + text, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return done.stdout


def modules() -> dict[Path, str]:
    """Return the files to write, with what is in them."""
    return {
        CLIENT / "sync" / path.name: blocking(path.read_text())
        for path in sorted((CLIENT / "calls").glob("*.py"))
        if path.name != "__init__.py"
    }


if __name__ == "__main__":
    from written import write  # beside this file, which is only on the path of a script

    write(modules())
