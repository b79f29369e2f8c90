"""Receipts of decisions, and the public keys that prove them.

A receipt is made when it is asked for, from the audit entry, the leaves of its seal, and the view that the user saw.
So it can be had after the execution is purged, for as long as its entry is kept.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.core.audit_proofs import HASH_BYTES, merkle_path, signed_by_receipt
from layover.core.moments import Moment
from layover.errors import LayoverError, NotFound, WrongState
from layover.model.proofs import AuditKey, AuditKeySet, PathHash, Receipt, SealHeader
from layover.model.shared import builtins
from layover.ports.access import AuditFilter
from layover.ports.audit_entries import ENGINE
from layover.runtime.audit.signing import find_signing_key, public_text
from layover.runtime.ids import is_point_id
from layover.runtime.results.points import point_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.core.engine.state import Point
    from layover.ports.records import AuditRow, PointRow
    from layover.ports.seal_records import Seal
    from layover.service.actor import Actor

OWN_RECEIPT: Final = ("approval:decide", "execution:read", "audit:read")
DECIDING: Final = frozenset({"approval.approve", "approval.reject", "point.answer"})
_TAKING_BACK: Final = frozenset({"point.take_back"})
_SOON: Final = 2.0  # seconds until an entry is sealed, as a rule


async def audit_keys(actor: Actor) -> AuditKeySet:
    """Return the public keys: those that have sealed, and the current one."""
    instance = actor.runtime.instance
    stored = await instance.store.seals.list_keys()
    ends = [*(key.since for key in stored), None][1:]
    keys = [
        AuditKey(kid=key.id, x=public_text(key.public), since=Moment.of(key.since), until=Moment.maybe(end))
        for key, end in zip(stored, ends, strict=True)
    ]
    try:
        current = await find_signing_key(instance.secrets)
    except LayoverError:  # what is wrong with it is in the log of the sealer, and for nobody else
        current = None
    if current is not None and current.id not in {key.id for key in stored}:
        keys.append(AuditKey(kid=current.id, x=public_text(current.public)))
    return AuditKeySet(keys=tuple(keys))


async def receipt(actor: Actor, point_id: str, user: str | None) -> Receipt:
    """Return the receipt of what a user has decided at a point; without a user, of one's own decision.

    Who may read the audit log and has not decided themselves gets that of the one who has, if there is only one.
    """
    if user is None or user == actor.known_as:
        actor.require(*OWN_RECEIPT)
    else:
        actor.require("audit:read")
    row = await actor.runtime.instance.store.queries.find_point(point_id) if is_point_id(point_id) else None
    entry = await _find(actor, point_id, user, row)
    seal = await actor.runtime.instance.store.seals.find_seal(entry.seal) if entry.seal is not None else None
    final_at = _final_at(row, entry)
    now = actor.runtime.instance.clock.now()
    if final_at is not None and final_at.milliseconds > now:
        wait = (final_at.milliseconds - now) / 1000 + _SOON
        raise _not_final(f"The decision can be taken back until {final_at}.", wait)
    if seal is None:
        raise _not_final("The decision is not sealed yet.", _SOON)
    if not entry.entry:
        raise NotFound("The entry of this decision was erased: it can no longer be proved.", code="unknown_receipt")
    return await _signed(actor, await _made(actor, entry, seal, final_at))


async def _find(actor: Actor, point_id: str, user: str | None, row: PointRow | None) -> AuditRow:
    """Return the entry of the last decision of a user at a point."""
    if row is None and not is_point_id(point_id):
        raise _nothing(point_id)
    mine = user or actor.known_as
    execution = row.execution_id if row is not None else None  # purged: the entries of the user are looked through
    async for one in _said(actor, AuditFilter(execution_id=execution, user=mine, target=point_id)):
        if one.act not in _TAKING_BACK:
            return one
        if row is None or not _stands(row.point, mine):
            break  # else it came too late
    if user is None and row is not None and actor.caller.may(("audit:read",)):
        only = await _only_decider(actor, row)
        if only is not None:
            return await _find(actor, point_id, only, row)
    raise _nothing(point_id)


async def _only_decider(actor: Actor, row: PointRow) -> str | None:
    """Return the one user who has decided at a point; None if there are none, or several."""
    users: set[str] = set()
    async for one in _said(actor, AuditFilter(execution_id=row.execution_id, target=row.point.id)):
        users.add(one.user)
        if len(users) > 1:
            return None
    return users.pop() if users else None


async def _said(actor: Actor, wanted: AuditFilter) -> AsyncIterator[AuditRow]:
    """Go through entries of decisions, and of taking them back, the newest first."""
    while page := await actor.runtime.instance.store.audit.list_entries(wanted):
        for one in page:
            if one.act in DECIDING or one.act in _TAKING_BACK:
                yield one
        wanted = replace(wanted, after=(page[-1].at, page[-1].id))


def _stands(point: Point, user: str) -> bool:
    """Return whether what a user has answered counts at a point."""
    by = "" if user == ENGINE else user
    if point.kind == "approval":
        return any(one.by == by for one in point.decisions)
    return point.status in ("answered", "applied") and (point.by or "") == by


def _final_at(row: PointRow | None, entry: AuditRow) -> Moment | None:
    """Return until when a decision could be taken back; of a point that was purged, that is over."""
    if row is None:
        return None
    shown = point_of(row)
    decided = [one for one in shown.decisions if one.by == entry.user]
    return decided[-1].final_at if decided else shown.final_at


async def _made(actor: Actor, entry: AuditRow, seal: Seal, final_at: Moment | None) -> Receipt:
    leaves = [seal.leaves[at : at + HASH_BYTES] for at in range(0, len(seal.leaves), HASH_BYTES)]
    if entry.leaf not in leaves:
        message = "The entry is not what its seal holds: run `layover audit verify`."
        raise LayoverError(message, code="audit_changed")
    body = await actor.runtime.instance.store.audit.read_document(entry.document_hash) if entry.document_hash else None
    return Receipt(
        entry=_text(entry.entry),
        salt=_text(entry.salt),
        path=tuple(
            PathHash(side=step.side, hash=step.hash.hex()) for step in merkle_path(leaves, leaves.index(entry.leaf))
        ),
        seal=SealHeader(
            n=seal.n,
            at=Moment.of(seal.at),
            first=seal.first,
            count=seal.count,
            root=seal.root.hex(),
            prev=seal.prev.hex(),
            head=seal.head.hex(),
            key_id=seal.key_id,
            signature=None if seal.signature is None else _text(seal.signature),
        ),
        view=None if body is None else msgspec.json.decode(body),
        final_at=final_at,
    )


async def _signed(actor: Actor, made: Receipt) -> Receipt:
    """Sign a receipt with the current key, if there is one."""
    key = await find_signing_key(actor.runtime.instance.secrets)
    if key is None:
        return made
    named = replace(made, key_id=key.id)
    return replace(named, signature=_text(key.sign(signed_by_receipt(builtins(named)))))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _not_final(message: str, wait: float) -> WrongState:
    return WrongState(message, "answered", code="not_final", retry_after=wait)


def _nothing(point_id: object) -> NotFound:
    message = f"Nothing was decided by this user at the pause point {str(point_id)[:100]}."
    return NotFound(message, code="unknown_receipt")
