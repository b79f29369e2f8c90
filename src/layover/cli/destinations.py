"""`layover destinations`: where deliveries go."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, Json, Reason, acting
from layover.cli.screen import moment, print_json, print_table, say
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from layover import DestinationHandle
    from layover.cli.options import Target

T = TypeVar("T")

destinations = App(name="destinations", help="Where deliveries go: list, make, test, enable and disable destinations.")

Name = Annotated[str, Parameter(help="The name of a destination.")]
Definition = Annotated[
    str,
    Parameter(
        help="The destination, with its name and kind: JSON, @file, or - for standard input.",
        allow_leading_hyphen=True,
    ),
]
To = Annotated[str | None, Parameter(name="--to", help="Where the test goes; mail needs an address.")]


@destinations.command(name="ls")
def list_destinations(*, at: At = HERE, json: Json = False) -> int:
    """List destinations by name: those of the settings, and those made by themselves."""

    async def found() -> list[DestinationHandle]:
        async with door_to_read(at) as door:
            return [one async for one in door.destinations()]

    listed = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(one.info for one in listed)))
    elif not listed:
        say("No destinations.")
    else:
        rows = [[one.name, one.kind or "-", one.state, moment(one.open_until), one.reason] for one in listed]
        print_table([["DESTINATION", "KIND", "STATE", "HELD UNTIL", "REASON"], *rows])
    return DONE


@destinations.command
def show(name: Name, /, *, at: At = HERE, json: Json = False) -> int:
    """Show a destination; never values of secrets, and never the address of a chat."""

    async def found() -> DestinationHandle:
        async with door_to_read(at) as door:
            return await door.destination(name)

    one = asyncio.run(found())
    if json:
        print_json(one.info)
        return DONE
    said = f": {one.reason}" if one.reason else ""
    say(f"{one.name} is {_kind(one)}, {one.state}{said}")
    if one.failures:
        held = f"; nothing is sent until {moment(one.open_until)}" if one.open_until is not None else ""
        say(f"It has failed {one.failures} times in a row{held}.")
    for field, value in one.definition.items():
        if field not in ("name", "kind"):
            say(f"  {field}: {value}")
    return DONE


@destinations.command
def create(definition: Definition, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Make a destination: mail, webhook or chat. Secrets in it are named, not given."""
    given = _given(definition)

    async def made() -> DestinationHandle:
        async with door_to_act(at, acting(at, by)) as door:
            return await door.create_destination(given)

    return _print_state(asyncio.run(made()), json=json)


@destinations.command
def update(name: Name, definition: Definition, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Replace a destination by another one of its name."""
    given = _given(definition)
    return _print_state(_act(name, at, by, lambda one: one.update(given)), json=json)


@destinations.command
def delete(name: Name, /, *, by: By = "", at: At = HERE) -> int:
    """Delete a destination; what is pending for it stays pending."""
    _act(name, at, by, lambda one: one.delete())
    say(f"{name} is deleted.")
    return DONE


@destinations.command(name="test")
def send_test(name: Name, /, *, to: To = None, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Send a test once, and tell what became of it; exit code 1 if it was not sent."""
    tried = _act(name, at, by, lambda one: one.test(to=to))
    code = DONE if tried.state == "sent" else FAILED
    if json:
        print_json(tried.info)
        return code
    if code == DONE:
        say(f"{name} has taken the test.")
        return code
    errors = [one.error for one in tried.attempts if one.error]
    say(f"{name} has not taken the test: {errors[-1] if errors else tried.reason}", "red")
    return code


@destinations.command
def enable(name: Name, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Send to a destination again, at once."""
    return _print_state(_act(name, at, by, lambda one: one.enable()), json=json)


@destinations.command
def disable(name: Name, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """Send nothing to a destination; what is for it stays pending."""
    return _print_state(_act(name, at, by, lambda one: one.disable(reason)), json=json)


def _act(name: str, at: Target, by: str, act: Callable[[DestinationHandle], Awaitable[T]]) -> T:
    async def acted() -> T:
        async with door_to_act(at, acting(at, by)) as door:
            return await act(await door.destination(name))

    return asyncio.run(acted())


def _given(definition: str) -> Mapping[str, object]:
    found = given_data(definition, "DEFINITION")
    if not isinstance(found, dict):
        raise Stop("DEFINITION: a destination is a JSON object.")
    return found


def _kind(one: DestinationHandle) -> str:
    return f"a {one.kind} destination" if one.kind is not None else "a destination of another instance"


def _print_state(one: DestinationHandle, *, json: bool) -> int:
    if json:
        print_json(one.info)
        return DONE
    say(f"{one.name} is {_kind(one)}, {one.state}.")
    return DONE
