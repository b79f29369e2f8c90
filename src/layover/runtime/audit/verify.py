"""Verifies the audit chain: heads, signatures, roots, and each entry against its leaf.

The head of the last seal stands for the whole chain. So whoever changes anything has to make all heads after it anew,
and cannot sign them without the newest key. What a database alone cannot show is said with each result (`LIMITS`).
It only reads, and may be used while engines are running: what is sealed meanwhile is left to the next time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.audit_proofs import HASH_BYTES, NO_HEAD, head_of, leaf_of, merkle_root, signed_by_seal
from layover.core.moments import moment
from layover.ports.access import AuditFilter
from layover.ports.audit_entries import ENGINE, PURGED
from layover.runtime.audit.findings import AuditVerification, finding
from layover.runtime.audit.retention import purged_through
from layover.runtime.audit.seal_maker import MOST_ENTRIES
from layover.runtime.audit.signing import is_signed, key_id_of
from layover.runtime.audit.verify_decisions import check_decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.ports.seal_records import Seal, SealKey
    from layover.ports.store import Store
    from layover.runtime.audit.findings import AuditFinding

_SEALS_AT_ONCE: Final = 20
_ENTRIES_AT_ONCE: Final = 1_000
_LATE: Final = 60_000  # milliseconds
_MOST_FINDINGS: Final = 1_000


async def verify_audit(
    store: Store, *, heads: Sequence[str] = (), keys: Sequence[bytes] = (), current: bytes | None = None
) -> AuditVerification:
    """Verify the audit chain of a database.

    `heads` are those of witnesses; `keys` are the public keys that count, or `current` is the one that has to be the
    newest.
    """
    checking = _Checking(store, keys, current)
    await checking.check()
    found = checking.findings
    found += [
        finding("head_missing", f"No seal has the head {head[:80]}: the chain was cut off.")
        for head in heads
        if head.lower() not in checking.heads_of(heads)
    ]
    decisions, missing = await check_decisions(store, since=checking.began, purged=checking.purged_before)
    found += missing
    return AuditVerification(
        seals=checking.seals,
        entries=checking.entries,
        waiting=checking.waiting,
        unsigned=checking.unsigned,
        erased=checking.erased,
        decisions=decisions,
        purged_through=checking.purged_through,
        head=checking.head.hex() if checking.seals else "",
        key=checking.key,
        findings=tuple(found[:_MOST_FINDINGS]),
    )


class _Checking:
    """One walk along the chain."""

    def __init__(self, store: Store, given: Sequence[bytes], current: bytes | None) -> None:
        self._store = store
        self._given = {key_id_of(one): one for one in given}
        self._current = current
        self._keys: list[SealKey] = []
        self._seen: set[str] = set()
        self._is_backlog = True  # the first seals hold what was there before there were any
        self.findings: list[AuditFinding] = []
        self.seals = self.entries = self.waiting = self.unsigned = self.erased = 0
        self.purged_through = self.purged_before = 0
        self.began: int | None = None
        self.head = NO_HEAD
        self.key = ""

    def heads_of(self, wanted: Sequence[str]) -> set[str]:
        """Return those of some heads that are in the chain."""
        return {head.lower() for head in wanted} & self._seen

    def _find(self, code: str, message: str, *, seal: int | None = None, entry: str = "") -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(finding(code, message, seal=seal, entry=entry))

    async def check(self) -> None:
        """Check everything."""
        self._keys = await self._store.seals.list_keys()
        await self._read_purges()
        self._check_keys()
        last: Seal | None = None
        while page := await self._store.seals.list_seals(0 if last is None else last.n, _SEALS_AT_ONCE):
            for seal in page:
                self._check_seal(seal, last)
                await self._check_entries(seal)
                last = seal
        self._check_newest_key(last)
        await self._read_purges()  # retention may have gone on meanwhile
        gone = self.purged_through
        self.findings = [one for one in self.findings if one.code != "entry_missing" or (one.seal or 0) > gone]
        await self._check_waiting()
        numbers = await self._store.seals.numbers_of_entries()
        newest = await self._store.seals.last_seal()  # there may be more by now
        if numbers is not None and (numbers[0] < 1 or numbers[1] > (newest.n if newest is not None else 0)):
            odd = numbers[0] if numbers[0] < 1 else numbers[1]
            self._find("seal_missing", f"Entries name seal {odd}, which does not exist.", seal=odd)

    async def _read_purges(self) -> None:
        """Read up to which seal retention has deleted entries; each of its entries says all of it.

        One without a seal may be anybody's: for the second until it has one, what is missing is found.
        """
        for row in await self._store.audit.list_entries(AuditFilter(user=ENGINE, act=PURGED, limit=100)):
            through = purged_through(row, self._keys, self._given)
            if through > self.purged_through:
                self.purged_through, self.purged_before = through, row.at

    # Seals

    def _check_keys(self) -> None:
        for key in self._keys:
            if key.id != key_id_of(key.public):
                self._find("key_changed", f"The key {key.id} is not the one of that id.", seal=key.first_seal)

    def _check_newest_key(self, last: Seal | None) -> None:
        """Check the end of the chain against a key from outside of the database: so the chain itself can be trusted."""
        if last is None or last.key_id is None:
            return
        if self._given:
            self.key = "given"
            wrong = last.key_id not in self._given
        elif self._current is not None:
            self.key = "current"
            wrong = last.key_id != key_id_of(self._current)
        else:
            self.key = "database"
            return
        if wrong:
            self._find(
                "key_unknown", f"Seal {last.n} is signed by {last.key_id}, which is not a key that counts.", seal=last.n
            )

    def _check_seal(self, seal: Seal, last: Seal | None) -> None:
        n, expected = seal.n, 1 if last is None else last.n + 1
        self.seals += 1
        self.began = seal.at if self.began is None else self.began
        prev, first = (NO_HEAD, 1) if last is None else (last.head, last.first + last.count)
        if n != expected:
            self._find("seal_missing", f"Seal {expected} is missing: after {expected - 1} comes {n}.", seal=n)
        if seal.prev != prev:
            self._find("chain_broken", f"Seal {n} does not continue the seal before it.", seal=n)
        if seal.first != first and n == expected:
            self._find("chain_broken", f"Seal {n} begins with entry {seal.first}, and not with {first}.", seal=n)
        if last is not None and seal.at < last.at:
            self._find("chain_broken", f"Seal {n} is older than the seal before it.", seal=n)
        leaves = _leaves(seal)
        if not leaves or len(leaves) != seal.count or len(seal.leaves) != seal.count * HASH_BYTES:
            self._find("leaves_changed", f"Seal {n} has not as many leaves as it counts.", seal=n)
        if seal.root != merkle_root(leaves):
            self._find("leaves_changed", f"The leaves of seal {n} do not have its root.", seal=n)
        if seal.head != head_of(seal.prev, n, seal.root, seal.first, seal.count, seal.at):
            self._find("head_changed", f"The head of seal {n} is not the hash of what it says.", seal=n)
        self._check_signature(seal)
        self.head = seal.head
        self._seen.add(seal.head.hex())

    def _check_signature(self, seal: Seal) -> None:
        n, valid = seal.n, None
        for key in self._keys:
            if key.first_seal <= n:
                valid = key
        if seal.key_id is None or seal.signature is None:
            self.unsigned += 1
            if valid is not None or seal.key_id is not None or seal.signature is not None:
                self._find("seal_unsigned", f"Seal {n} has no signature, though the chain is signed.", seal=n)
            return
        if valid is None or valid.id != seal.key_id:
            self._find("key_not_valid", f"Seal {n} is signed by {seal.key_id}, which was not valid then.", seal=n)
            return
        if self._given and seal.key_id not in self._given:
            self._find(
                "key_unknown", f"Seal {n} is signed by {seal.key_id}, which is not among the keys given.", seal=n
            )
        public = self._given.get(seal.key_id, valid.public)
        if not is_signed(public, seal.signature, signed_by_seal(seal.head)):
            self._find("signature_wrong", f"The signature of seal {n} is not that of its head.", seal=n)

    # Entries

    async def _check_entries(self, seal: Seal) -> None:
        leaves, place = _leaves(seal), 0
        is_purged, is_backlog = seal.n <= self.purged_through, self._is_backlog
        self._is_backlog = is_backlog and seal.count >= MOST_ENTRIES
        after: tuple[int, str] | None = None
        while page := await self._store.seals.list_entries(seal.n, after, _ENTRIES_AT_ONCE):
            after = page[-1].at, page[-1].id
            for row in page:
                self.entries += 1
                while is_purged and place < len(leaves) and leaves[place] != row.leaf:
                    place += 1  # retention has deleted it
                if place >= len(leaves) or leaves[place] != row.leaf:
                    text = f"The entry {row.id} is not what seal {seal.n} holds at its place."
                    self._find("entry_changed", text, seal=seal.n, entry=row.id)
                place += 1
                await self._check_entry(row, seal)
                if not is_backlog and seal.at - row.at > _LATE:
                    text = f"The entry {row.id} is of {moment(row.at)}, and was sealed only at {moment(seal.at)}."
                    self._find("sealed_late", text, seal=seal.n, entry=row.id)
        if place != len(leaves) and not is_purged:
            text = f"Seal {seal.n} holds {len(leaves)} entries, and {place} are there."
            self._find("entry_missing", text, seal=seal.n)

    async def _check_entry(self, row: AuditRow, seal: Seal) -> None:
        if not row.entry and not row.salt:
            self.erased += 1  # its leaf is compared all the same
            if row.user or _decoded(row.details):
                text = f"The entry {row.id} was erased, and yet its columns say who or what it was."
                self._find("entry_changed", text, seal=seal.n, entry=row.id)
            return
        if row.leaf != leaf_of(row.salt, row.entry):
            text = f"The text of the entry {row.id} is not what was sealed."
            self._find("entry_changed", text, seal=seal.n, entry=row.id)
            return
        if row.at > seal.at + _LATE:
            text = f"The entry {row.id} is of {moment(row.at)}, after its seal of {moment(seal.at)}."
            self._find("entry_changed", text, seal=seal.n, entry=row.id)
        if (field := _differing(row)) is not None:
            text = f"The column `{field}` of the entry {row.id} is not what its text says."
            self._find("entry_changed", text, seal=seal.n, entry=row.id)
        if row.document_hash:
            body = await self._store.audit.read_document(row.document_hash)
            if body is None or hashlib.sha256(body).digest() != row.document_hash:
                text = f"What the user saw, by the entry {row.id}, is missing or was changed."
                self._find("document_changed", text, seal=seal.n, entry=row.id)

    async def _check_waiting(self) -> None:
        now, after = await self._store.now(), None
        while page := await self._store.seals.list_entries(None, after, _ENTRIES_AT_ONCE):
            self.waiting += len(page)
            after = page[-1].at, page[-1].id
            if self.waiting == len(page) and now - page[0].at > _LATE:
                text = f"The entry {page[0].id} of {moment(page[0].at)} still has no seal: does an engine run?"
                self._find("sealed_late", text, entry=page[0].id)


def _leaves(seal: Seal) -> list[bytes]:
    return [seal.leaves[at : at + HASH_BYTES] for at in range(0, len(seal.leaves), HASH_BYTES)]


def _decoded(text: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _differing(row: AuditRow) -> str | None:
    """Return the column that does not say what the entry does.

    An answer of a program names no execution in its entry: the column is compared with the log of the execution.
    """
    said = _decoded(row.entry)
    columns = {
        "id": row.id,
        "at": moment(row.at),
        "user": row.user,
        "act": row.act,
        "target": row.target,
        "credential": row.credential,
        "request_id": row.request_id,
        "document": row.document_hash.hex(),
    }
    for name, value in columns.items():
        if said.get(name, "") != value:
            return name
    if said.get("execution_id", row.execution_id) != row.execution_id:
        return "execution_id"
    return "details" if said.get("details", {}) != _decoded(row.details) else None
