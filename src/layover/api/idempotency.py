"""Requests that may come again: what was answered is kept with their key, and answered again.

A request is noted before it is worked at. Should the server die meanwhile, the note runs out and the same request is
worked at anew; what it does is taken only once all the same, since the engine knows the key, too.

A kept reply belongs to the caller who caused it, also where callers share a key: another caller's request goes to the
handler, which finds what the first one did and decides what of it others may see.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.api.problems import Refusal
from layover.api.request import Response
from layover.ports.access import IdempotentReply as Kept
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from layover.api.services import Services

_log = logging.getLogger("layover.api")

LONGEST_KEY = 255
REPLAYED: Final = "idempotency-replayed"  # the header of an answer to what was done before
_FAULTS_FROM = 500


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of an answer beside its status."""

    body: bytes
    media_type: str
    headers: dict[str, str]
    owner: str | None = None  # the caller, where callers share a key; releases before this one did not note it


_ANSWER: Final = msgspec.msgpack.Decoder(_Answer)


class OthersReply(Exception):  # noqa: N818 - it says whose the reply is
    """The same request was answered to another caller."""


def mismatch() -> Refusal:
    """Return the refusal of a request whose key was used with other data."""
    return Refusal("idempotency_mismatch", "This idempotency key was used for another request.")


class Repeatable:
    """One request with a key, which is the same wherever the parts of `scope` are; `asked` is what it asks for.

    `owner` is the caller, if the scope is shared by all callers.
    """

    def __init__(
        self, services: Services, scope: tuple[str, ...], key: str, asked: object, owner: str | None = None
    ) -> None:
        now = services.runtime.instance.clock.now()
        fingerprint = hashlib.sha256(msgspec.json.encode(asked, order="sorted")).digest()
        # A path may be longer than what a database finds things by.
        known_by = hashlib.sha256(msgspec.json.encode(scope)).hexdigest()
        until = now + int(services.settings.reply_worked_at * 1000)
        self._services = services
        self._owner = owner
        self._noted = Kept(scope=known_by, key=key, fingerprint=fingerprint, until=until)
        self._now = now

    async def begin(self) -> Response | None:
        """Note that the request is worked at; return what it was answered before, if it was.

        Raise `OthersReply` if that was the answer to another caller.
        """
        found = await self._services.store.idempotency.begin(self._noted, self._now)
        if found is None:
            return None
        if found.fingerprint != self._noted.fingerprint:
            raise mismatch()
        if not found.status:
            message = "The first request with this idempotency key is still being worked at."
            raise Refusal("in_progress", message, headers={"retry-after": "1"})
        answer = _ANSWER.decode(found.body)
        if self._owner is not None and answer.owner != self._owner:
            raise OthersReply
        headers = {**answer.headers, REPLAYED: "true"}
        return Response(answer.body or None, found.status, headers, answer.media_type)

    async def end(self, reply: Response) -> None:
        """Keep what is answered; a fault is not an answer, so the same request may be tried again."""
        status = reply.status
        if status >= _FAULTS_FROM:
            await self.drop()
            return
        until = self._now + int(self._services.settings.reply_kept * 1000)
        body = msgspec.msgpack.encode(_Answer(reply.encoded(), reply.media_type, reply.headers, self._owner))
        try:
            await self._services.store.idempotency.finish(replace(self._noted, status=status, body=body, until=until))
        except StoreError as error:
            # What was asked for is done: that is what the caller has to hear.
            _log.warning("reply_not_kept status=%s", status, exc_info=error)

    async def drop(self) -> None:
        """Forget the request: it came to nothing."""
        await self._services.store.idempotency.abandon(self._noted.scope, self._noted.key)
