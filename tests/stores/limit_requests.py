"""Requests for slots and rates, and the admissions that answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from layover.core.engine.command_codec import decode_command
from layover.core.engine.commands import Admit
from layover.ports.limit_records import Admission, AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import Rest
from tests.stores.conformance import create, uid

if TYPE_CHECKING:
    from layover.ports.store import Store


def slots(
    n: int, limit: int = 1, *, name: str = "s", priority: int = 0, on_conflict: Literal["queue", "reject"] = "queue"
) -> AdmissionRequest:
    return AdmissionRequest(
        execution_id=uid(n), slots=ConcurrencyLimit(name=name, limit=limit, on_conflict=on_conflict), priority=priority
    )


def rate(n: int, limit: int = 2, per_ms: int = 1_000, *, name: str = "r") -> AdmissionRequest:
    return AdmissionRequest(execution_id=uid(n), rate=RateLimit(name=name, limit=limit, per_ms=per_ms))


def waiting(position: int, *holders: int, name: str = "s") -> Admission:
    return Admission(state="waiting", name=name, position=position, holders=tuple(uid(n) for n in holders))


def holding(*holders: int, name: str = "s") -> Admission:
    return Admission(state="admitted", name=name, holders=tuple(uid(n) for n in holders))


async def resting(store: Store, *ns: int) -> None:
    for n in ns:
        await create(store, n, rest=Rest())


async def commands(store: Store, n: int) -> list[object]:
    return [decode_command(one.kind, one.body) for one in await store.commands.list_after(uid(n), 0)]


async def admitted(store: Store, *ns: int) -> list[int]:
    return [n for n in ns if Admit() in await commands(store, n)]
