"""Retention of the audit log: the entries of whole seals are deleted, the seals stay, and an entry says so.

A person who can write to the database could have that entry sealed as well, and delete what they like. So where the
chain is signed, retention signs what it says with the same key, and an instance without the key deletes nothing.
"""

from __future__ import annotations

import base64
import binascii
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.audit_proofs import leaf_of, signed_by_purge
from layover.core.moments import moment
from layover.errors import LayoverError
from layover.ports.audit_entries import ENGINE, PURGED, SALT_BYTES, audit_row
from layover.runtime.audit.seal_maker import refusal_to_sign
from layover.runtime.audit.signing import find_signing_key, is_signed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from layover.ports.records import AuditRow
    from layover.ports.seal_records import SealKey
    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.runtime.audit.signing import AuditSigningKey
    from layover.runtime.machine import Machine

CREDENTIAL: Final = "retention"

_log = logging.getLogger("layover.purger")


class AuditRetention:
    """Deletes audit entries that are old enough."""

    def __init__(self, store: Store, secrets: Secrets, machine: Machine, instance: str) -> None:
        self._store = store
        self._secrets = secrets
        self._machine = machine
        self._instance = instance

    async def purge(self, before: int, now: int, at_once: int) -> AsyncIterator[int]:
        """Delete the entries of the seals from before a moment, in batches.

        What is deleted is said first: an instance that dies in between has said more than it did, and the next one goes
        on.
        """
        seals = self._store.seals
        through = await seals.last_before(before)
        if not through:
            return
        key, refused = await self._key()
        if refused:
            _log.warning("audit_not_purged reason=%s", refused)
            return
        said: dict[str, object] = {"through": through, "before": moment(before)}
        id_ = self._machine.ids.new(now)
        if key is not None:
            signature = key.sign(signed_by_purge(id_, through))
            said |= {"key_id": key.id, "signature": base64.b64encode(signature).decode()}
        entry: AuditRow | None = audit_row(
            id=id_,
            at=now,
            user=ENGINE,
            act=PURGED,
            salt=self._machine.secret(SALT_BYTES),
            credential=CREDENTIAL,
            address=self._instance,
            details=said,
        )
        while deleted := await seals.delete_entries(through, at_once, entry):
            entry = None
            yield deleted

    async def _key(self) -> tuple[AuditSigningKey | None, str]:
        """Return the key to sign with, if there is one, and why nothing may be deleted with it."""
        try:
            key = await find_signing_key(self._secrets)
        except LayoverError as error:
            return None, error.code
        return key, refusal_to_sign(key, await self._store.seals.list_keys())


def purged_through(row: AuditRow, keys: Sequence[SealKey], given: Mapping[str, bytes]) -> int:
    """Return up to which seal entries were deleted by what a sealed entry says; 0 if it proves nothing.

    One that was erased says nothing: its columns can be changed without changing its leaf. `given` are public keys by
    their ids, which are believed more than those of the database.
    """
    if row.seal is None or not row.entry or row.leaf != leaf_of(row.salt, row.entry):
        return 0
    said: Any = msgspec.json.decode(row.entry)
    details = said.get("details") if isinstance(said, dict) and said.get("act") == PURGED else None
    if not isinstance(details, dict) or not isinstance(through := details.get("through"), int):
        return 0
    valid = [key for key in keys if key.first_seal <= row.seal]
    if not valid:
        return through  # the chain was not signed then
    # Instances get another key one by one: one that still had the key before may have said it.
    then = [key for key in keys if key.since <= row.at]
    for key in {one.id: one for one in (*valid[-1:], *then[-1:])}.values():
        public = given.get(key.id, key.public)
        if details.get("key_id") == key.id and is_signed(public, _data(details), signed_by_purge(row.id, through)):
            return through
    return 0


def _data(details: Mapping[str, object]) -> bytes:
    try:
        return base64.b64decode(str(details.get("signature", "")), validate=True)
    except (binascii.Error, ValueError):
        return b""
