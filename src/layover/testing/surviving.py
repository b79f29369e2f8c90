"""One line that proves a workflow: its test is run once undisturbed, and then once for every moment of that run at
which a process can die, with a crash right there."""

from __future__ import annotations

import functools
import inspect
import random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

from layover.ports.commit_points import CommitPoint
from layover.testing.errors import TestKitError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from layover.testing.kit import Layover

_ENOUGH = 10  # crashes that change something

Test: TypeAlias = "Callable[..., Awaitable[None]]"


class DidNotSurvive(TestKitError):  # noqa: N818 - it says what the workflow did not
    """A crash changed what a test sees."""

    code = "did_not_survive"


class Crash(NamedTuple):
    """A crash at the nth time that a commit point is reached."""

    point: CommitPoint
    nth: int

    def __str__(self) -> str:
        return f"{self.point.value}:{self.nth}"


@overload
def survives_crashes(test: Test) -> Test: ...


@overload
def survives_crashes(*, most: int = ..., seed: int = ...) -> Callable[[Test], Test]: ...


def survives_crashes(test: Test | None = None, *, most: int = 200, seed: int = 0) -> Test | Callable[[Test], Test]:
    """Run an async test that takes `layover` with a crash at every commit point that it reaches.

    The test must pass each time, and its executions must come to the same. If there are more than `most` such moments,
    that many are chosen, by the seed, among them the first of every kind.
    """
    if test is None:
        return lambda decorated: _decorated(decorated, most, seed)
    return _decorated(test, most, seed)


def _decorated(test: Test, most: int, seed: int) -> Test:
    if not inspect.iscoroutinefunction(test) or "layover" not in inspect.signature(test).parameters:
        raise TypeError("`survives_crashes` is for an async test that takes the fixture `layover`.")

    @functools.wraps(test)
    async def proved(*args: Any, layover: Layover, **fixtures: Any) -> None:
        run = functools.partial(test, *args, **fixtures)
        expected, reached = await _undisturbed(run, layover)
        chosen = layover.only_crash
        crashes = crashes_of(reached, most, seed) if chosen is None else [chosen]
        found: list[tuple[Crash, Exception]] = []
        for crash in crashes:
            try:
                await _disturbed(run, layover, crash, expected)
            except Exception as error:  # noqa: BLE001 - whatever the test raises is told
                found.append((crash, error))
                if len(found) == _ENOUGH:
                    break
        if found:
            raise DidNotSurvive(_crash_report(found)) from found[0][1]

    return proved


async def _undisturbed(run: Test, layover: Layover) -> tuple[list[object], Mapping[CommitPoint, int]]:
    world = layover.another()
    try:
        await run(layover=world)
    finally:
        await world.close(strict=False)
    if not world.reached:
        raise DidNotSurvive("The test has not used `layover`: there is nothing that a crash could disturb.")
    return _fates(world), world.reached


async def _disturbed(run: Test, layover: Layover, crash: Crash, expected: list[object]) -> None:
    world = layover.another()
    world.crash_at(crash.point, crash.nth)
    try:
        await run(layover=world)
    finally:
        await world.close(strict=False)
    fates = _fates(world)
    if fates != expected:
        raise DidNotSurvive(f"It comes to something else: {fates} instead of {expected}.")


def _crash_report(found: list[tuple[Crash, Exception]]) -> str:
    crash, error = found[0]
    others = ", ".join(f"`{one}`" for one, _ in found[1:])
    also = f" So it is with a crash at {others}{' and more' if len(found) == _ENOUGH else ''}." if others else ""
    kind = "" if isinstance(error, DidNotSurvive) else f"{type(error).__name__}: "
    alone = f"to try that one alone: `--layover-crash={crash}`"
    return f"With a crash at `{crash}` the test fails ({alone}).{also} {kind}{error}"


def _fates(world: Layover) -> list[object]:
    return [
        (one.workflow, one.status, one.outcome, one.output, one.error.code if one.error is not None else "")
        for one in world.handles
    ]


def crashes_of(reached: Mapping[CommitPoint, int], most: int, seed: int) -> list[Crash]:
    """Return a crash for every time that a commit point was reached; if that is too many, some of them."""
    every = [Crash(point, nth) for point in CommitPoint for nth in range(1, reached.get(point, 0) + 1)]
    if len(every) <= most:
        return every
    first = [crash for crash in every if crash.nth == 1][:most]
    others = [crash for crash in every if crash.nth > 1]
    chosen = {*first, *random.Random(seed).sample(others, most - len(first))}  # noqa: S311 - no secret
    return [crash for crash in every if crash in chosen]


def crash_from(text: str) -> Crash:
    """Read a crash as it is written: `append_told:2`."""
    name, _, nth = text.partition(":")
    known = {point.value: point for point in CommitPoint}
    if name not in known or not (nth or "1").isdecimal() or int(nth or "1") < 1:
        raise ValueError(f"`{text}` is not a crash; write one like `append_told:2`, with one of {', '.join(known)}")
    return Crash(known[name], int(nth or "1"))
