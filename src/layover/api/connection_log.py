"""The log of connections, as the server below writes to it.

Its warnings are about what strangers send that is not a request: so few of them are written that nothing else is lost
in the log. Its errors are ours, and are written all.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from layover.api.log_limits import LogLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter

_log = logging.getLogger("layover.api")

_LINES, _SECONDS = 10, 10.0


class ConnectionLog(Adapter):
    """Takes the place of the server's own logger."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(logging.getLogger("uvicorn.error"), {})
        self._limit = LogLimit(_LINES, _SECONDS, clock)

    @property
    def level(self) -> int:
        """The level of the logger, which the server asks for."""
        return self.logger.level

    def warning(self, msg: object, *args: object, **_given: object) -> None:
        """Note what a stranger has sent, if not too much is noted already."""
        left_out = self._limit.take()
        if left_out is not None:
            _log.info("malformed_request what=%r left_out=%d", str(msg) % args if args else str(msg), left_out)
