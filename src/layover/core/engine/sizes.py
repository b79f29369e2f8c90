"""How large a value may be that an execution puts together from others: as large as one that comes from outside.

What a function returns or a person says is bounded when it comes in. But loops collect, merges join, and templates put
values side by side: each part may stand in an event, and all of them together need not.
"""

from __future__ import annotations

import msgspec

from layover.core.expressions import ExpressionError
from layover.core.payloads import MAX_INLINE

_PUT_TOGETHER = (dict, list)
_SHORT = MAX_INLINE // 6  # however its characters are written


def bounded(value: object, what: str) -> object:
    """Return a value that was put together, or raise that it is too large to stand in an event."""
    if type(value) in _PUT_TOGETHER or (type(value) is str and len(value) > _SHORT):
        size = len(_encode(value))
        if size > MAX_INLINE:
            message = f"{what} has {size:,} bytes, which is too large: at most {MAX_INLINE:,} stand in an event."
            raise ExpressionError(message, code="payload_too_large")
    return value


_encode = msgspec.json.Encoder().encode
