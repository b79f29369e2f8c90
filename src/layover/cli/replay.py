"""`layover replay`: a past execution event by event, forward and back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from layover.cli.doors import door_to_read, page_of
from layover.cli.event_lines import event_line
from layover.cli.exits import DONE
from layover.cli.id_prefix import execution_named
from layover.cli.options import HERE, At, ExecutionName, Json
from layover.cli.screen import STYLES, brief, print_json, say, say_pieces
from layover.errors import InvalidInput
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover import ReplayStep
    from layover.interface.execution_handle import ExecutionHandle

_NEXT: Final = frozenset({"", "n", "next"})
_BACK: Final = frozenset({"b", "back", "p"})
_END: Final = frozenset({"q", "quit"})
_HELP: Final = "Enter: next, b: back, a number: go to that event, q: end"

Since = Annotated[int, Parameter(help="The number of the first event.")]
Only = Annotated[int | None, Parameter(name="--event", help="Show the whole state after the event of this number.")]
Step = Annotated[bool, Parameter(negative="", help="Go forward and back by keys, one event at a time.")]


def replay(
    execution: ExecutionName,
    /,
    *,
    since: Since = 0,
    event: Only = None,
    step: Step = False,
    at: At = HERE,
    json: Json = False,
) -> int:
    """Go through a past execution event by event: what changed with each, or the whole state after one of them."""

    async def run() -> int:
        async with door_to_read(at) as door:
            found = await execution_named(door, execution)
            if step:
                return await _by_keys(found, event if event is not None else max(since, 0))
            if event is not None:
                one = await _step(found, event)
                _print_json_or(one, json=json)
                return DONE
            return await _print_all(found, max(since, 0), json=json)

    return asyncio.run(run())


async def _print_all(found: ExecutionHandle, since: int, *, json: bool) -> int:
    if json:
        print_json(Page(items=tuple(await found.replay(since=since).all())))
        return DONE
    before = await _before(found, since)
    async for one in found.replay(since=since):
        say(f"{one.event.seq:>4}  {one.event.at}  {event_line(one.event)}")
        _print_changes(before, one)
        before = one
    return DONE


async def _by_keys(found: ExecutionHandle, number: int) -> int:
    """Show one event after the other as the user wants it; the end of the input is the end."""
    say(_HELP)
    known: dict[int, ReplayStep] = {}
    while True:
        if number not in known:  # some are read ahead, for the next keys
            page = await page_of(found.replay(since=number), 20)
            known.update({one.event.seq: one for one in page.items})
        one = known.get(number)
        if one is None:
            number = max(known, default=0)
            say("That is behind the last event.")
            if not known:
                return DONE
            continue
        _print_step(one)
        number = await _chosen(number)
        if number < 0:
            return DONE


async def _chosen(number: int) -> int:
    """Return the number of the event that the user wants next, -1 for none."""
    while True:
        try:
            key = (await asyncio.to_thread(input, "> ")).strip().lower()
        except EOFError:
            return -1
        if key in _NEXT:
            return number + 1
        if key in _BACK:
            return max(number - 1, 0)
        if key in _END:
            return -1
        if key.isascii() and key.isdigit():
            return int(key[:9])
        say(_HELP)


async def _step(found: ExecutionHandle, number: int) -> ReplayStep:
    steps = (await page_of(found.replay(since=max(number, 0)), 1)).items
    if not steps or number < 0:
        raise InvalidInput(f"`--event`: the last event has the number {found.info.last_seq}, the first has 0.")
    return steps[0]


async def _before(found: ExecutionHandle, since: int) -> ReplayStep | None:
    """Return the step before the first one, for what changes with that."""
    if since == 0:
        return None
    steps = (await page_of(found.replay(since=since - 1), 1)).items
    return steps[0] if steps else None


def _print_json_or(one: ReplayStep, *, json: bool) -> None:
    if json:
        print_json(one)
    else:
        _print_step(one)


def _print_step(one: ReplayStep) -> None:
    say(f"{one.event.seq:>4}  {one.event.at}  {event_line(one.event)}", "bold")
    say_pieces([("      status: ", ""), (one.status, STYLES.get(one.status, ""))])
    for name, status in one.nodes.items():
        say_pieces([(f"      {name}: ", ""), (status, STYLES.get(status, ""))])
    for name, value in one.variables.items():
        say(f"      variables.{name} = {brief(value)}")
    for waiting in one.waiting_on:
        say(f"      waits: {waiting.context_id} ({waiting.kind})")
    if one.next_nodes:
        say(f"      next: {', '.join(one.next_nodes)}")


def _print_changes(before: ReplayStep | None, one: ReplayStep) -> None:
    """Print what is otherwise than it was before an event."""
    pieces: list[tuple[str, str]] = []
    if before is None or before.status != one.status:
        pieces += [("status: ", ""), (one.status, STYLES.get(one.status, ""))]
    for name, status in _changed(before.nodes if before is not None else {}, one.nodes).items():
        pieces += [("  " if pieces else "", ""), (f"{name}: ", ""), (str(status), STYLES.get(str(status), ""))]
    for name, value in _changed(before.variables if before is not None else {}, one.variables).items():
        pieces += [("  " if pieces else "", ""), (f"variables.{name} = {brief(value)}", "")]
    if pieces:
        say_pieces([("      ", ""), *pieces])


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in after.items() if name not in before or before[name] != value}
