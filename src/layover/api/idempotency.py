"""Requests that may come again: what was answered is kept with their key, and answered again.

A request is noted before it is worked at. Should the server die meanwhile, the note runs out and the same request is
worked at anew; what it does is taken only once all the same, since the engine knows the key, too.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.api.calls import Reply
from layover.api.problems import Refusal
from layover.ports.access import Reply as Kept
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from layover.api.services import Services

_log = logging.getLogger("layover.api")

LONGEST_KEY = 255
_FAULTS_FROM = 500


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of an answer beside its status."""

    body: bytes
    media_type: str
    headers: dict[str, str]


_ANSWER: Final = msgspec.msgpack.Decoder(_Answer)


class Repeatable:
    """One request with a key, which is the same wherever the parts of `scope` are; `asked` is what it asks for."""

    def __init__(self, services: Services, scope: tuple[str, ...], key: str, asked: object) -> None:
        now = services.engine.instance.clock.now()
        fingerprint = hashlib.sha256(msgspec.json.encode(asked, order="sorted")).digest()
        # A path may be longer than what a database finds things by.
        known_by = hashlib.sha256(msgspec.json.encode(scope)).hexdigest()
        until = now + int(services.settings.reply_worked_at * 1000)
        self._services = services
        self._noted = Kept(scope=known_by, key=key, fingerprint=fingerprint, until=until)
        self._now = now

    async def begin(self) -> Reply | None:
        """Note that the request is worked at; return what it was answered before, if it was."""
        found = await self._services.store.begin_reply(self._noted, self._now)
        if found is None:
            return None
        if found.fingerprint != self._noted.fingerprint:
            raise Refusal("idempotency_mismatch", "This idempotency key was used for another request.")
        if not found.status:
            message = "The first request with this idempotency key is still being worked at."
            raise Refusal("in_progress", message, headers={"retry-after": "1"})
        answer = _ANSWER.decode(found.body)
        headers = {**answer.headers, "idempotency-replayed": "true"}
        return Reply(answer.body or None, found.status, headers, answer.media_type)

    async def end(self, reply: Reply) -> None:
        """Keep what is answered; a fault is not an answer, so the same request may be tried again."""
        status = reply.status
        if status >= _FAULTS_FROM:
            await self.drop()
            return
        until = self._now + int(self._services.settings.reply_kept * 1000)
        body = msgspec.msgpack.encode(_Answer(reply.encoded(), reply.media_type, reply.headers))
        try:
            await self._services.store.end_reply(replace(self._noted, status=status, body=body, until=until))
        except StoreError as error:
            # What was asked for is done: that is what the caller has to hear.
            _log.warning("reply_not_kept status=%s error=%r", status, error)

    async def drop(self) -> None:
        """Forget the request: it came to nothing."""
        await self._services.store.drop_reply(self._noted.scope, self._noted.key)
