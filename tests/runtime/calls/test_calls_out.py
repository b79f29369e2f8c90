"""The calls of one execution: when the gate is shut, and which of them have time left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from layover.core.engine.effects import MakeCall
from layover.runtime.calls.call_out import CallOut
from layover.runtime.calls.calls_out import CallsOut

if TYPE_CHECKING:
    from layover.runtime.calls.call_out import CallOwner


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def calls_out(time: Time | None = None, *names: str, timeout_at: int | None = None) -> CallsOut:
    calls = CallsOut(asyncio.get_running_loop(), time or Time(), is_shut=False)
    for name in names:
        made = MakeCall(name, "f", 1, None, timeout_at)
        calls[name] = CallOut(cast("CallOwner", None), made, decided_at=0)
    return calls


async def test_the_gate_is_shut_at_once_if_no_call_is_about_to_be_entered() -> None:
    calls, shut = calls_out(None, "a"), asyncio.Event()
    calls["a"].begun_at = 1
    calls.shut(shut.set)
    assert (calls.is_shut, shut.is_set()) == (True, True)


async def test_the_gate_is_shut_as_soon_as_the_last_function_is_entered_on_its_thread() -> None:
    calls, shut = calls_out(None, "a", "b"), asyncio.Event()
    calls.shut(shut.set)
    assert not calls.is_shut

    def enter(name: str) -> None:
        calls[name].begun_at = 1
        calls.entered()

    await asyncio.to_thread(enter, "a")
    assert not calls.is_shut
    await asyncio.to_thread(enter, "b")
    await shut.wait()
    assert calls.is_shut


async def test_the_gate_waits_for_no_call_that_is_gone() -> None:
    calls, shut = calls_out(None, "a", "b"), asyncio.Event()
    calls.shut(shut.set)
    del calls["a"]
    calls.stop("b")
    assert (calls.is_shut, shut.is_set()) == (True, True)


async def test_a_function_that_is_not_entered_holds_up_the_gate_for_a_moment_only() -> None:
    calls, shut = calls_out(None, "a"), asyncio.Event()
    calls.shut(shut.set)
    await shut.wait()
    assert calls.is_shut


async def test_shutting_that_was_given_up_calls_nothing() -> None:
    calls, shut = calls_out(None, "a"), asyncio.Event()
    calls.shut(shut.set)
    calls.give_up_shutting()
    calls.stop_within("")
    assert not shut.is_set()


async def test_time_is_left_until_the_function_has_run_for_so_long() -> None:
    time = Time()
    calls = calls_out(time, "a", timeout_at=100)
    calls["a"].begun_at, time.now = 50, 149
    calls["a"].turns = 0
    assert calls.with_time_left() == ["a"]
    time.now = 150
    assert calls.with_time_left() == []


async def test_listing_calls_with_time_left_changes_nothing() -> None:
    time = Time()
    calls = calls_out(time, "a", timeout_at=100)
    calls["a"].begun_at, time.now = 0, 500
    assert {tuple(calls.with_time_left()) for _ in range(100)} == {("a",)}


async def test_a_call_that_is_out_of_time_gets_some_turns_of_the_loop_for_its_result() -> None:
    time = Time()
    calls = calls_out(time, "a", timeout_at=100)
    calls["a"].begun_at, time.now = 0, 500
    turns = 0
    while calls.with_time_left():
        calls.count_turn()
        turns += 1
    assert turns > 1


async def test_a_call_without_a_timeout_is_not_among_those_with_time_left() -> None:
    assert calls_out(None, "a").with_time_left() == []
