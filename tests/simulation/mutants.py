"""The runtime, broken on purpose in one place: the simulation has to notice."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from msgspec.structs import replace

from layover.ports.records import Claims, Outcome
from layover.runtime import caller, courier, driven, keeper
from layover.stores.memory import appends as appending
from layover.stores.memory import claims as claiming
from layover.stores.memory import commands as commanding
from layover.stores.memory import limits as limiting
from layover.stores.memory import outbox as messaging

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from layover.ports.records import Append, Claim, Head, Lease
    from layover.stores.memory.database import MemoryDatabase

Change = tuple[Any, str, Any]
_judge, _found, _write = appending._judge, claiming._found, appending._write  # noqa: SLF001 - to be broken


def _without_fencing(db: MemoryDatabase, append: Append) -> Outcome:
    head = db.heads.get(append.execution_id)
    if head is not None and append.new is None and head.commands_seq == append.commands_seen:
        return Outcome(verdict="passed", commands_seq=head.commands_seq)
    return _judge(db, append)


def _also_what_is_leased(db: MemoryDatabase, wish: Claim) -> list[Head]:
    return [*_found(db, wish), *(head for head in db.heads.values() if head.owner is not None and not _is_closed(head))]


def _is_closed(head: Head) -> bool:
    return head.status in ("completed", "failed", "cancelled")


def _renewals_shorten(db: MemoryDatabase, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
    ours = [one for one in leases if claiming._is_driven(db, instance, one)]  # noqa: SLF001 - to be broken
    for one in ours:
        db.heads[one.execution_id] = replace(db.heads[one.execution_id], wake_at=until)
    return [one.execution_id for one in leases if one not in ours]


def _messages_lost(db: MemoryDatabase, append: Append) -> None:
    _write(db, replace(append, messages=()))


def _commands_wake_nobody(db: MemoryDatabase, head: Head, command: Any, now: int) -> int:
    n = _take_command(db, head, command, now)
    db.heads[head.execution_id] = replace(db.heads[head.execution_id], wake_at=head.wake_at)
    return n


_take_command = commanding._take  # noqa: SLF001 - to be broken


async def _looks_never(self: courier.Courier, now: int) -> None:
    self._look_at = now + 36_000_000


async def _only_the_time(self: keeper.Keeper) -> None:
    await self._driver.clock.ask(self._store)


MUTANTS: dict[str, list[Change]] = {
    "appends are not fenced": [(appending, "_judge", _without_fencing)],
    "leases never end for those who have them": [(driven.Driven, "has_lease", lambda self: not self.dropped)],
    "leases are not renewed": [(keeper.Keeper, "renew_once", _only_the_time)],
    "a renewal that was overtaken shortens a lease": [(claiming, "renew", _renewals_shorten)],
    "what is leased is claimed": [(claiming, "_found", _also_what_is_leased)],
    "messages are not written": [(appending, "_write", _messages_lost)],
    "the outbox is not looked at": [(courier.Courier, "_look", _looks_never)],
    "messages that were delivered stay": [(messaging, "sent", lambda *_: None)],
    "commands wake nobody": [(commanding, "_take", _commands_wake_nobody)],
    "a place under a limit is never given back": [(limiting, "free", lambda *_: [])],
    "nothing is claimed": [(claiming, "claim", lambda *_: Claims())],
    "calls begin without a look at the lease": [(caller.Caller, "_may_make", lambda *_: True)],
}


@contextmanager
def broken(changes: Sequence[Change]) -> Iterator[None]:
    """Break the runtime in one way, for a while."""
    undo: list[Callable[[], object]] = []
    try:
        for owner, name, value in changes:
            patch = mock.patch.object(owner, name, value)
            patch.start()
            undo.append(patch.stop)
        yield
    finally:
        for one in undo:
            one()
