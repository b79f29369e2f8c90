"""Who takes an answer may drive the execution at once: the claim is part of the same transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.answers import Refused
from layover.core.engine.commands import Answer
from layover.ports.records import Claim, Reserved, Rest
from tests.stores.conformance import ME, OTHER, claim, create, go_on, head, opened, truth

if TYPE_CHECKING:
    from layover.ports.store import Store

WISH = Claim(instance=ME, now=700, lease_until=9_000)
FIT = Answer(point="p", by="ann", approved=True)


async def _asked(store: Store) -> None:
    """Have an execution rest at an open point."""
    await create(store)
    await go_on(store, points=(opened("p"),), status="paused", rest=Rest())


async def test_an_execution_without_an_owner_is_claimed_with_the_answer(store: Store) -> None:
    await _asked(store)
    before = await head(store)
    taken = await store.answers.reserve(FIT, "s", 700, WISH)
    assert isinstance(taken, Reserved)
    assert taken.claimed is not None
    assert taken.claimed.head == replace(await head(store), commands_seq=1)
    assert (taken.claimed.head.owner, taken.claimed.head.epoch) == (ME, before.epoch + 1)
    assert [command.kind for command in taken.claimed.commands] == ["Answer"]
    assert not taken.claimed.taken_over
    assert (await claim(store, 700)).claimed == ()


async def test_an_execution_with_an_owner_is_not_claimed(store: Store) -> None:
    await _asked(store)
    await claim(store, 700, instance=OTHER, n=1)
    taken = await store.answers.reserve(FIT, "s", 700, WISH)
    assert isinstance(taken, Reserved)
    assert (taken.owner, taken.claimed) == (OTHER, None)


async def test_a_refused_or_repeated_answer_claims_nothing(store: Store) -> None:
    await _asked(store)
    before = await truth(store)
    assert isinstance(await store.answers.reserve(replace(FIT, approved=None), "s", 700, WISH), Refused)
    assert await truth(store) == before
    await store.answers.reserve(FIT, "s", 700)
    again = await store.answers.reserve(FIT, "s", 700, WISH)
    assert isinstance(again, Reserved)
    assert (again.repeated, again.claimed) == (True, None)
