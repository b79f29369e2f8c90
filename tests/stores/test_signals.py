"""Signals are kept until they are old, and whoever waits for one is found by its name and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.records import ChangedPoint, ClosedPoint, OpenedPoint, ResumeWaitChange, Wait
from tests.stores.conformance import approval, commit, create, go_on, point, signal, step, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

LATE = 10**9


def waiting(name: str, *waits: tuple[str, str]) -> OpenedPoint:
    return OpenedPoint(point=point(name, kind="signal"), waits=waits)


async def points_of(store: Store, name: str = "paid", key: str = "k1") -> list[str]:
    return [wait.point for wait in await store.signals.list_waits(name, key)]


async def ids_of(store: Store, name: str = "paid", key: str = "k1", since: int = 0) -> list[str]:
    return [one.id for one in await store.signals.list_since(name, key, since)]


async def undispatched(store: Store, before: int = LATE, most: int = 100) -> list[str]:
    return [one.id for one in await store.signals.list_undispatched(before, most)]


# Signals


async def test_a_signal_is_read_as_it_was_given(store: Store) -> None:
    assert await store.signals.add(signal())
    assert await store.signals.list_since("paid", "k1", 0) == [signal()]
    assert await store.signals.list_undispatched(LATE, 10) == [signal()]


async def test_the_same_id_is_the_same_signal_whatever_its_name(store: Store) -> None:
    assert await store.signals.add(signal())
    assert not await store.signals.add(signal())
    assert not await store.signals.add(replace(signal(name="sent", key="k2", at=1), data=b"[]"))
    assert await store.signals.list_since("paid", "k1", 0) == [signal()]
    assert await store.signals.list_since("sent", "k2", 0) == []


async def test_signals_are_found_by_name_and_key_the_oldest_first(store: Store) -> None:
    for id_, at in (("d", 3), ("b", 5), ("a", 5), ("c", 4)):
        await store.signals.add(signal(id_, at=at))
    await store.signals.add(signal("e", key="k2"))
    await store.signals.add(signal("f", name="sent"))
    assert await ids_of(store) == ["d", "c", "a", "b"]
    assert await ids_of(store, key="k2") == ["e"]
    assert await ids_of(store, name="sent", key="k2") == []


async def test_signals_are_read_from_a_moment_on(store: Store) -> None:
    for at in (3, 4, 5):
        await store.signals.add(signal(f"s{at}", at=at))
    assert await ids_of(store, since=4) == ["s4", "s5"]
    assert await ids_of(store, since=6) == []


async def test_signals_are_undispatched_until_it_is_noted(store: Store) -> None:
    for id_, at in (("a", 5), ("b", 3), ("c", 4)):
        await store.signals.add(signal(id_, at=at, key=id_))
    assert await undispatched(store) == ["b", "c", "a"]
    await store.signals.mark_dispatched(["c", "unknown"])
    await store.signals.mark_dispatched(["c"])
    await store.signals.mark_dispatched([])
    assert await undispatched(store) == ["b", "a"]
    assert await ids_of(store, key="c") == ["c"]


async def test_a_signal_that_comes_again_is_not_dispatched_again(store: Store) -> None:
    await store.signals.add(signal())
    await store.signals.mark_dispatched(["s1"])
    assert not await store.signals.add(signal())
    assert await undispatched(store) == []


async def test_undispatched_signals_are_read_up_to_a_moment_and_a_number(store: Store) -> None:
    for at in (3, 4, 5):
        await store.signals.add(signal(f"s{at}", at=at))
    assert await undispatched(store, before=5) == ["s3", "s4"]
    assert await undispatched(store, most=1) == ["s3"]
    assert await undispatched(store, most=0) == []
    assert await undispatched(store, most=-1) == []


async def test_only_old_signals_that_were_dispatched_are_forgotten(store: Store) -> None:
    for at in (1, 2, 3, 4, 5):
        await store.signals.add(signal(f"s{at}", at=at))
    await store.signals.mark_dispatched(["s1", "s3", "s4", "s5"])
    assert await store.signals.delete_old(5, 2) == 2
    assert await ids_of(store) == ["s2", "s4", "s5"]
    assert await store.signals.delete_old(5, 100) == 1
    assert await store.signals.delete_old(5, 100) == 0
    assert await ids_of(store) == ["s2", "s5"]


@pytest.mark.parametrize("most", [0, -1])
async def test_no_more_is_forgotten_than_was_asked_for(store: Store, most: int) -> None:
    await store.signals.add(signal())
    await store.signals.mark_dispatched(["s1"])
    assert await store.signals.delete_old(LATE, most) == 0
    assert await ids_of(store) == ["s1"]


async def test_a_signal_that_was_forgotten_can_come_again(store: Store) -> None:
    await store.signals.add(signal())
    await store.signals.mark_dispatched(["s1"])
    await store.signals.delete_old(LATE, 1)
    assert await store.signals.add(signal())
    assert await undispatched(store) == ["s1"]


# Waits


async def test_waits_are_found_by_name_and_key(store: Store) -> None:
    for n in (2, 1):
        await create(store, n)
        await go_on(store, n, points=(waiting(f"p{n}", ("paid", "k1"), ("sent", "k1")),))
    await go_on(store, 1, points=(waiting("q", ("paid", "k2")),))
    assert await store.signals.list_waits("paid", "k1") == [Wait(execution_id=uid(n), point=f"p{n}") for n in (1, 2)]
    assert await points_of(store, "sent") == ["p1", "p2"]
    assert await points_of(store, "paid", "k2") == ["q"]
    assert await points_of(store, "sent", "k2") == []


async def test_a_wait_that_is_named_twice_is_one(store: Store) -> None:
    await create(store)
    await go_on(store, points=(waiting("p", ("paid", "k1"), ("paid", "k1")),))
    assert await points_of(store) == ["p"]


async def test_an_append_that_does_not_pass_waits_for_nothing(store: Store) -> None:
    await create(store)
    assert (await commit(store, replace(step(), epoch=9, points=(waiting("p", ("paid", "k1")),)))).verdict == "fenced"
    assert await points_of(store) == []


async def test_a_closed_point_has_no_waiter(store: Store) -> None:
    await create(store)
    await go_on(store, points=(waiting("p", ("paid", "k1"), ("paid", "k2")), waiting("q", ("paid", "k1"))))
    await go_on(store, points=(ClosedPoint(id="p", how="applied"),))
    assert await points_of(store) == ["q"]
    assert await points_of(store, key="k2") == []


async def test_a_point_that_is_opened_and_closed_at_once_waits_for_nothing(store: Store) -> None:
    await create(store)
    await go_on(store, points=(waiting("p", ("paid", "k1")), ClosedPoint(id="p", how="applied")))
    assert await points_of(store) == []


async def test_a_point_that_has_an_answer_still_waits(store: Store) -> None:
    await create(store)
    opened = OpenedPoint(point=point("p"), waits=(("paid", "k1"),))
    await go_on(store, points=(opened,))
    await store.answers.reserve(approval("p"), "a", 500)
    assert await points_of(store) == ["p"]
    await go_on(store, points=(ChangedPoint(point=replace(opened.point, reminded=4)),))
    assert await points_of(store) == ["p"]


# Waits of operators


async def test_the_wait_of_an_operator_has_the_id_of_the_execution(store: Store) -> None:
    paid, sent = ("paid", "k1"), ("sent", "k1")
    for n in (1, 2):
        await create(store, n)
        await go_on(store, n, points=(ResumeWaitChange(awaited=paid, was=None),))
    assert await store.signals.list_waits(*paid) == [Wait(execution_id=uid(n), point=uid(n)) for n in (1, 2)]
    await go_on(store, 1, points=(ResumeWaitChange(awaited=sent, was=paid), waiting("p", paid)))
    assert await points_of(store) == sorted((uid(2), "p"))
    assert await points_of(store, *sent) == [uid(1)]
    await go_on(store, 1, points=(ResumeWaitChange(awaited=None, was=sent),))
    await go_on(store, 2, points=(ResumeWaitChange(awaited=None, was=paid),))
    assert await points_of(store) == ["p"]
    assert await points_of(store, *sent) == []
