"""The browser in which pages are tried: Chromium, found on the machine or named by `LAYOVER_TEST_BROWSER`.

`python -m tests.servers.chromium` fails if there is none.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import pytest
from playwright.async_api import async_playwright, expect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser

_KNOWN: Final = ("/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FOUND: Final = os.environ.get("LAYOVER_TEST_BROWSER") or next(filter(None, map(shutil.which, _KNOWN)), None)
HAS_CHROMIUM: Final = _FOUND is not None
_OPTIONS: Final = (
    "--no-sandbox",  # what it opens is ours
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

expect.set_options(timeout=60_000)  # milliseconds: far more than it takes, on a machine that is busy with others too

needs_chromium = pytest.mark.skipif(
    _FOUND is None,
    reason="there is no Chromium here: install one (apt-get install chromium), or name one by LAYOVER_TEST_BROWSER",
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Open a browser, and close it."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=_FOUND, args=[*_OPTIONS])
        yield opened
        await opened.close()


if __name__ == "__main__":
    sys.exit(not HAS_CHROMIUM)
