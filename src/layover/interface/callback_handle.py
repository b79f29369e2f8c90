"""One callback, to reply to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.errors import BadUse
from layover.interface.bounds import COMMENT, check_text

if TYPE_CHECKING:
    from layover.interface.backend import SignalsBackend


class CallbackHandle:
    """The reply to a callback node: there is one, by the holder of the token."""

    __slots__ = ("_point_id", "_signals", "_token")

    def __init__(self, signals: SignalsBackend, token: str | None, point_id: str | None) -> None:
        if (token is None) == (point_id is None):
            raise BadUse("Give the token of the callback, or its `point_id`.")
        self._signals = signals
        self._token = token
        self._point_id = point_id

    async def complete(self, output: object = None) -> None:
        """Give the output that the node waits for."""
        await self._signals.complete(self._token, self._point_id, output)

    async def fail(self, message: str = "", *, retryable: bool = True) -> None:
        """Say that what the node waits for has failed."""
        check_text("message", message, COMMENT)
        await self._signals.fail(self._token, self._point_id, message, retryable=retryable)

    async def heartbeat(self) -> None:
        """Say that what the node waits for is still being worked at."""
        await self._signals.heartbeat(self._token, self._point_id)
