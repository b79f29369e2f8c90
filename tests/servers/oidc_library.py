"""A provider of OpenID Connect from a library that others keep (`oidc-provider-mock`), as a process of its own.

It is no part of this process, since it warns of what the libraries below it will change.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTENS = re.compile(r"http://127\.0\.0\.1:(\d+)")


@contextmanager
def oidc_library(*users: dict[str, object]) -> Iterator[str]:
    """Run a provider that knows some users, each by its claims; give its address."""
    known = [word for user in users for word in ("--user-claims", msgspec.json.encode(user).decode())]
    command = [sys.executable, "-W", "ignore", "-u", "-m", "oidc_provider_mock", "--port", "0", "-n", "true", *known]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603 - of this environment
        try:
            assert process.stdout is not None
            found = next(filter(None, map(_LISTENS.search, process.stdout)))
            yield f"http://127.0.0.1:{found[1]}"
        finally:
            process.kill()
