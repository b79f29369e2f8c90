"""The largest size of a value that an execution builds from others: the same as for a value from outside.

A result or an answer is bounded when it comes in. But loops collect, merges join, and templates put values side by
side: each part may be small enough for an event, and all of them together too large.
"""

from __future__ import annotations

import msgspec

from layover.core.expressions import ExpressionError
from layover.core.payloads import MAX_INLINE

_PUT_TOGETHER = (dict, list)
_SHORT = MAX_INLINE // 6  # however its characters are written


def bounded(value: object, what: str) -> object:
    """Return a value that was built from others, or raise that it is too large for an event."""
    if type(value) in _PUT_TOGETHER or (type(value) is str and len(value) > _SHORT):
        size = len(_encode(value))
        if size > MAX_INLINE:
            message = f"{what} has {size:,} bytes; an event holds at most {MAX_INLINE:,}."
            raise ExpressionError(message, code="payload_too_large")
    return value


_encode = msgspec.json.Encoder().encode
