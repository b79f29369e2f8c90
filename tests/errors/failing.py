"""Functions of a program that fail, each in its own way."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from layover import NodeContext, node
from tests.errors.planted import PLANTED

if TYPE_CHECKING:
    from layover.nodes.registry import AnyFunction


def price_of(key: str) -> int:
    """Look something up that is not there."""
    prices: dict[str, int] = {}
    return prices[key]


@node
async def plain_exception() -> int:
    return price_of(f"the key {PLANTED}")


@node
async def chained_exception() -> int:
    try:
        return price_of(PLANTED)
    except KeyError as error:
        raise ValueError("no price") from error


@node
async def exception_in_handler() -> int:
    try:
        return price_of(PLANTED)
    except KeyError:
        raise RuntimeError("no price either")  # noqa: B904 - what it is about


async def _fail(text: str) -> None:
    raise OSError(text)


@node
async def exception_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_fail(f"first {PLANTED}"))
        group.create_task(_fail("second"))


@node
async def groups_in_groups() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(exception_group())
        group.create_task(chained_exception())


@node
async def exception_with_notes() -> None:
    error = ValueError("no price")
    error.add_note(f"while importing row 7 {PLANTED}")
    raise error


@node
async def logs_and_fails(context: NodeContext) -> None:
    context.log.info("message %s", PLANTED)
    context.log.warning("field", extra={"row": 7, "said": PLANTED, "password": "planted-password"})
    try:
        price_of(PLANTED)
    except KeyError:
        context.log.exception("caught")
    raise ValueError("no price")


@node
async def system_exit() -> None:
    raise SystemExit(f"leaving {PLANTED}")


@node
def keyboard_interrupt() -> None:
    raise KeyboardInterrupt(PLANTED)


@node
async def takes_too_long() -> None:
    await asyncio.get_running_loop().create_future()


@node
async def cancels_itself() -> None:
    raise asyncio.CancelledError(f"given up {PLANTED}")


@node
async def not_json() -> object:
    return {"result": object()}


@node
async def too_large() -> str:
    return "x" * 2_000_000


@node
async def wrong_type() -> int:
    return "seven"  # type: ignore[return-value]  # what it is about


@node
async def takes_a_number(number: int) -> int:
    return number


@node
def assertion_in_a_thread() -> None:
    assert threading.current_thread() is threading.main_thread(), f"not the main thread {PLANTED}"


@node
async def no_heartbeat(context: NodeContext) -> None:
    context.heartbeat()
    await asyncio.get_running_loop().create_future()


def sink(depth: int) -> int:
    """Call itself until that is deep enough."""
    return sink(depth - 1) if depth else price_of("deep")


@node
async def deep_exception() -> int:
    return sink(500)


class UnreadableError(Exception):
    """An error whose text cannot be read, and whose attributes raise."""

    def __str__(self) -> str:
        raise ValueError(PLANTED)

    @property
    def status(self) -> int:
        raise ValueError(PLANTED)


@node
async def unreadable_error() -> None:
    raise UnreadableError


@node
async def slow_start(context: NodeContext) -> dict[str, str]:
    """Answer what a callback node has to know."""
    return {"id": context.execution_id}


class Stuck:
    """Never returns; `begun` says that it was called."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def stuck(self) -> None:
        """Wait for nothing."""
        self.begun.set()
        await asyncio.get_running_loop().create_future()


class Blocker:
    """Blocks the event loop until the log has said so."""

    def __init__(self) -> None:
        self.is_logged = threading.Event()

    async def block_the_loop(self) -> None:
        """Wait without letting anything else run."""
        self.is_logged.wait(60)


FUNCTIONS: list[AnyFunction] = [
    assertion_in_a_thread,
    cancels_itself,
    chained_exception,
    deep_exception,
    exception_group,
    exception_in_handler,
    exception_with_notes,
    groups_in_groups,
    keyboard_interrupt,
    logs_and_fails,
    no_heartbeat,
    not_json,
    plain_exception,
    slow_start,
    system_exit,
    takes_a_number,
    takes_too_long,
    too_large,
    unreadable_error,
    wrong_type,
]
