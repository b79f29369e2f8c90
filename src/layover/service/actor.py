"""Who acts: what an operation is allowed by, how it stands in the audit log, and how it is recognised when repeated.

An operation with an idempotency key is known by the user, the act, its target and the key. The runtime stores that
with the operation itself. An operation that looks first what there is to do finds something else the second time: it
asks the audit log, which is written in the same transaction.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from layover.core.approval_rules import Approver
from layover.core.payloads import plain
from layover.errors import AlreadyExists, NotAllowed
from layover.ports.access import AuditFilter, IdempotentReply
from layover.ports.audit_entries import ENGINE, SALT_BYTES, audit_row
from layover.runtime.operations.timeouts import WaitLimit
from layover.service.permissions import NOBODY, PROGRAM

if TYPE_CHECKING:
    import asyncio

    from layover.model.access import Caller
    from layover.ports.records import AuditRow
    from layover.runtime.operations.operations import Opened

READ = ("execution:read",)
DEBUG = ("execution:debug",)
# What a program does in masses, and what stands in the log of the execution anyway: it writes no audit entries.
_IN_THE_LOG = frozenset({"execution.start", "signal.send"})
_NOTED_FOR = 86_400_000  # milliseconds, as long as a server keeps its answers


class Actor:
    """A user on a runtime, for as long as one request or one door lasts."""

    __slots__ = ("_act_wait", "_notes_keys", "address", "caller", "page_bytes", "request_id", "runtime", "stopping")

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        runtime: Opened,
        caller: Caller = PROGRAM,
        *,
        request_id: str = "",
        address: str = "",
        act_wait: float | None = None,
        stopping: asyncio.Event | None = None,
        page_bytes: int | None = None,
        notes_keys: bool = True,
    ) -> None:
        self.runtime = runtime
        self.caller = caller
        self.request_id = request_id
        self.address = address  # from where the user acts: of a client, or else the name of this instance
        self.stopping = stopping  # what waits then answers without what it waits for
        self.page_bytes = page_bytes
        self._act_wait = act_wait
        self._notes_keys = notes_keys  # unless the caller has compared what is asked under the same key

    @property
    def by(self) -> str | None:
        """The user, if one is named."""
        return self.caller.user or None

    @property
    def person(self) -> Approver:
        """The user as approval rules know them."""
        return Approver(self.caller.user, tuple(self.caller.roles))

    @property
    def within(self) -> WaitLimit:
        """How long to wait until an execution has applied an operation."""
        seconds = self._act_wait
        if seconds is None:
            seconds = self.runtime.instance.settings.act_wait / 1000
        return WaitLimit(seconds, self.stopping)

    @property
    def may_debug(self) -> bool:
        """Whether the user may read tracebacks and what nodes log; who may not gets everything else."""
        return self.caller.may(DEBUG)

    def require(self, *needs: str) -> None:
        """Refuse a user who has none of some permissions."""
        if needs[0] in self.caller.permissions:  # by far the most frequent, and before every operation
            return
        if not self.caller.may(needs):
            raise NotAllowed(f"This needs the permission {' or '.join(needs)}.")

    def key(self, act: str, target: str, given: str | None) -> str | None:
        """Return the key by which the runtime knows an act: by another user, or on another target, it is another."""
        if given is None:
            return None
        known_by = [self.caller.user, act, [["id", target]], given]
        return hashlib.sha256(msgspec.json.encode(known_by)).hexdigest()

    async def check_key(self, act: str, target: str, given: str | None, *asked: object) -> None:
        """Refuse an idempotency key that was used for the same act with other input; note this one."""
        if given is None or not self._notes_keys:
            return
        now = self.runtime.instance.clock.now()
        noted = IdempotentReply(
            scope=hashlib.sha256(msgspec.json.encode(["act", self.caller.user, act, target])).hexdigest(),
            key=given,
            fingerprint=hashlib.sha256(msgspec.json.encode(plain([*asked]), order="sorted")).digest(),
            until=now + _NOTED_FOR,
            status=200,  # done, as far as this is concerned: what is in progress would not run out
        )
        before = await self.runtime.instance.store.idempotency.begin(noted, now)
        if before is not None and before.fingerprint != noted.fingerprint:
            raise AlreadyExists("This idempotency key was used for another request.", code="idempotency_mismatch")

    def entry(  # noqa: PLR0913 - each is named where it is given
        self,
        act: str,
        target: str = "",
        *,
        execution_id: str = "",
        key: str | None = None,
        before: object = None,
        after: object = None,
        document: bytes | None = None,
        **details: object,
    ) -> AuditRow | None:
        """Return what is written with an act; nothing if the program itself does what the log has anyway."""
        if self.caller is PROGRAM and act in _IN_THE_LOG:
            return None
        return self.entry_of_any(
            act,
            target,
            execution_id=execution_id,
            key=key,
            before=before,
            after=after,
            document=document,
            **details,
        )

    def entry_of_any(  # noqa: PLR0913 - each is named where it is given
        self,
        act: str,
        target: str = "",
        *,
        execution_id: str = "",
        key: str | None = None,
        before: object = None,
        after: object = None,
        document: bytes | None = None,
        **details: object,
    ) -> AuditRow:
        """Return what is written with an act.

        `details` hold the reason or the comment, `before` and `after` what the act has changed, and `document` is what
        the user saw.
        """
        instance = self.runtime.instance
        now = instance.clock.now()
        instance.sealer.hint()
        return audit_row(
            id=instance.machine.ids.new(now),
            at=now,
            user=self.known_as,
            act=act,
            salt=instance.machine.secret(SALT_BYTES),
            target=target or execution_id,
            execution_id=execution_id,
            credential="callback token" if self.caller is NOBODY else self.caller.credential,
            address=self.address or instance.id,
            request_id=self.request_id,
            details={name: value for name, value in {**details, "key": key}.items() if value is not None},
            before=before,
            after=after,
            document=document,
        )

    @property
    def known_as(self) -> str:
        """The user as the audit log names them; a program that names no user acts as the engine.

        Who has nothing but the token of a callback has no name.
        """
        return "" if self.caller is NOBODY else self.caller.user or ENGINE

    async def has_done(self, act: str, execution_id: str | None, key: str | None, *, target: str | None = None) -> bool:
        """Return whether the user has done something to an execution, or to another target, under a key before."""
        if key is None:
            return False
        wanted = AuditFilter(
            user=self.known_as,
            act=act,
            target=target,
            execution_id=execution_id,
            to_no_execution=execution_id is None,
        )
        entries = await self.runtime.instance.store.audit.list_entries(wanted)
        return any(msgspec.json.decode(entry.details).get("key") == key for entry in entries)
