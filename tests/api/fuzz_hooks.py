"""What schemathesis is told while it runs: it loads this file itself.

It has one idempotency key in mind for each operation, so nearly all bodies after the first would be refused for that
alone. Most keys are made different; those that are wrong, and some of the others, stay as they are.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import schemathesis

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from schemathesis import Case, HookContext

_HEADER = "Idempotency-Key"
_numbers = count()


@schemathesis.hook
def before_call(_context: HookContext, case: Case[Any], _kwargs: dict[str, Any]) -> None:
    """Make the key of a request one that was not used."""
    headers: MutableMapping[str, Any] = case.headers
    number, key = next(_numbers), headers.get(_HEADER) if headers else None
    if isinstance(key, str) and 0 < len(key) < 200 and key.isascii() and key.isprintable() and number % 10:
        headers[_HEADER] = f"{key}-{number}"
