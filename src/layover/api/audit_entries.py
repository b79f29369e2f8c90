"""What somebody does: how it is written down, and how it is known again if the same is asked for twice.

What was answered to a request with an idempotency key is kept beside the act, not with it. Should the server die
between the two, the same request comes again as if it were the first; the engine knows the act by its key then. An act
that looks first what there is to do finds something else the second time: it asks the audit log, written with it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from layover.ports.access import AuditFilter

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.ports.records import AuditEntry


def key_of(call: Request[Any, Any], act: str) -> str | None:
    """Return the key by which the engine knows an act: by another caller, or on another path, it is another act."""
    if call.key is None:
        return None
    known_by = [call.caller.user, act, sorted(call.path.items()), call.key]
    return hashlib.sha256(msgspec.json.encode(known_by)).hexdigest()


def entry_of(
    call: Request[Any, Any], act: str, target: str = "", *, execution_id: str = "", **details: object
) -> AuditEntry:
    """Return what is written of an act, with what it is known again by."""
    return call.audit(act, target, execution_id=execution_id, **details, key=key_of(call, act))


async def is_done(call: Request[Any, Any], act: str, execution_id: str) -> bool:
    """Return whether this request, sent before, has done something to an execution."""
    key = key_of(call, act)
    if key is None:
        return False
    wanted = AuditFilter(user=call.caller.user, act=act, execution_id=execution_id)
    entries = await call.services.store.audit(wanted)
    return any(msgspec.json.decode(entry.details).get("key") == key for entry in entries)
