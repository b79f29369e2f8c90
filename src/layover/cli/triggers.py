"""`layover triggers`: what starts executions by itself, named WORKFLOW/NAME."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from cyclopts import App, Parameter

from layover.cli.doors import door_to_act, door_to_read, page_of
from layover.cli.exits import DONE, Stop
from layover.cli.hook_addresses import print_address
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, Json, Reason, acting
from layover.cli.screen import moment, note, plural, print_json, print_table, say
from layover.interface.trigger_handle import MOST_REPLAYED
from layover.model.shared import Page
from layover.model.triggers import Replayed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from layover import Backfilled, Fired, Trigger, TriggerHandle, TriggerInput, TriggerOccurrence, Why
    from layover.cli.options import Target

T = TypeVar("T")

_MOST = 10_000
_ANY_SOURCE = True  # a command has no functions, so it cannot say which sources there are; `why` does

triggers = App(name="triggers", help="What starts executions by itself: list, pause, resume and fire triggers.")

Name = Annotated[str, Parameter(help="The trigger: WORKFLOW/NAME, or its id.")]
Workflow = Annotated[str | None, Parameter(help="Only triggers of this workflow.")]
Count = Annotated[int, Parameter(help="How many.")]
Limit = Annotated[int, Parameter(help="How many at most.")]
CatchUp = Annotated[
    bool, Parameter(negative="", show_default=False, help="Make up for occurrences of the pause, as the schedule says.")
]
Cursor = Annotated[
    str | None, Parameter(help="A cursor of its source, as `layover triggers show` prints it.", show_default=False)
]
ToBeginning = Annotated[bool, Parameter(negative="", show_default=False, help="Poll everything again.")]
Data = Annotated[
    str | None,
    Parameter(name="--data", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
InputName = Annotated[str | None, Parameter(name="--id", help="The same id again is the same input.")]
DryRun = Annotated[bool, Parameter(negative="", show_default=False, help="Only tell what would happen.")]
From = Annotated[str, Parameter(name="--from", help="The first moment, such as 2027-01-31T08:00, in the zone of it.")]
To = Annotated[str, Parameter(name="--to", help="The moment behind the last one.")]
Again = Annotated[bool, Parameter(negative="", show_default=False, help="Also start what was started before.")]
State = Annotated[
    Literal["pending", "started", "delivered", "skipped", "rejected", "discarded"] | None,
    Parameter(help="Only inputs in this state."),
]
ForWorkflow = Annotated[str, Parameter(help="The workflow that it starts.")]
Definition = Annotated[
    str,
    Parameter(
        help="The trigger as a definition has it: JSON, @file, or - for standard input.", allow_leading_hyphen=True
    ),
]
Grace = Annotated[str | None, Parameter(help="How long the address before is still taken, such as 1h.")]
All = Annotated[bool, Parameter(negative="", show_default=False, help="All that are rejected.")]
InputId = Annotated[str, Parameter(help="The id of an input, as `layover triggers inputs` prints it.")]


@triggers.command(name="ls")
def list_triggers(*, workflow: Workflow = None, at: At = HERE, json: Json = False) -> int:
    """List triggers by workflow and name."""

    async def found() -> list[Trigger]:
        async with door_to_read(at) as door:
            return [one.info async for one in door.triggers(workflow=workflow)]

    listed = asyncio.run(found())
    if json:
        print_json(Page(items=tuple(listed)))
    elif not listed:
        say("No triggers.")
    else:
        rows = [[f"{one.workflow}/{one.name}", one.type, one.state, moment(one.next_at), one.reason] for one in listed]
        print_table([["TRIGGER", "TYPE", "STATE", "NEXT", "REASON"], *rows])
    return DONE


@triggers.command
def show(name: Name, /, *, at: At = HERE, json: Json = False) -> int:
    """Show a trigger: its state, its definition and its last inputs."""

    async def read(one: TriggerHandle) -> tuple[Trigger, Page[TriggerInput]]:
        return one.info, await one.inputs().page(10)

    info, inputs = _read(name, at, read)
    if json:
        print_json(info)
        return DONE
    said = f": {info.reason}" if info.reason else ""
    say(f"{info.workflow}/{info.name} is a {info.type} trigger, {info.state}{said}")
    say(f"Id    {info.id}")
    if info.next_at is not None:
        say(f"Next  {moment(info.next_at)}")
    if info.cursor is not None:
        say(f"At    {info.cursor}")
    for field, value in info.definition.items():
        if field not in ("name", "type"):
            say(f"  {field}: {value}")
    _print_inputs(inputs.items)
    return DONE


@triggers.command(name="next")
def next_occurrences(name: Name, /, *, count: Count = 5, at: At = HERE, json: Json = False) -> int:
    """Print the next occurrences of a schedule."""
    if not 0 < count <= 100:
        raise Stop(f"--count: from 1 to 100, not {count}.")
    found = _read(name, at, lambda one: one.next(count))
    if json:
        print_json({"items": found})
    elif not found:
        say("There are no more.")
    else:
        _print_occurrences(found)
    return DONE


@triggers.command
def why(name: Name, /, *, at: At = HERE, json: Json = False) -> int:
    """Tell why a trigger does not fire, or when it will."""
    found: Why = _read(name, at, lambda one: one.why())
    if json:
        print_json(found)
        return DONE
    for reason in found.reasons:
        say(reason.text)
    return DONE


@triggers.command
def pause(name: Name, /, *, reason: Reason = "", by: By = "", at: At = HERE, json: Json = False) -> int:
    """Let a trigger start nothing: occurrences are skipped, and signals wait."""
    return _print_state(_act(name, at, by, lambda one: one.pause(reason)), json=json)


@triggers.command
def resume(name: Name, /, *, catch_up: CatchUp = False, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Let a trigger go on, from now or with what it has missed."""
    return _print_state(_act(name, at, by, lambda one: one.resume(catch_up=catch_up)), json=json)


@triggers.command
def rewind(
    name: Name,
    cursor: Cursor = None,
    /,
    *,
    to_beginning: ToBeginning = False,
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Set the cursor of a poll; items that are still known by their ids start nothing again."""
    if to_beginning == (cursor is not None):
        raise Stop("Give a cursor, or --to-beginning.")
    return _print_state(_act(name, at, by, lambda one: one.rewind(cursor)), json=json)


@triggers.command
def fire(  # noqa: PLR0913 - each is an option
    name: Name,
    /,
    *,
    data: Data = None,
    id: InputName = None,  # noqa: A002 - as everybody says
    dry_run: DryRun = False,
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Give a trigger an input by hand."""
    given = given_data(data, "--data")
    fired: Fired = _act(name, at, by, lambda one: one.fire(given, id=id, dry_run=dry_run))
    if json:
        print_json(fired)
        return DONE
    said = f": {fired.reason}" if fired.reason else "."
    say(f"The input {fired.input_id} is {fired.status.replace('_', ' ')}{said}")
    if fired.execution_id is not None:
        say(f"Its execution is {fired.execution_id}.")
    return DONE


@triggers.command
def backfill(  # noqa: PLR0913 - each is an option
    name: Name,
    /,
    *,
    begin: From,
    to: To,
    again: Again = False,
    dry_run: DryRun = False,
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Start the occurrences of a schedule in a range of the past; those that are known are passed over."""
    found: Backfilled = _act(name, at, by, lambda one: one.backfill(begin, to, again=again, dry_run=dry_run))
    if json:
        print_json(found)
        return DONE
    _print_occurrences(found.items)
    over = f", {found.passed_over} passed over" if found.passed_over else ""
    say(f"{plural(len(found.items), 'occurrence')} {'would start' if found.dry_run else 'start'}{over}.")
    return DONE


@triggers.command
def inputs(name: Name, /, *, state: State = None, limit: Limit = 50, at: At = HERE, json: Json = False) -> int:
    """List the inputs of a trigger, the newest first."""
    if not 0 < limit <= _MOST:
        raise Stop(f"--limit: from 1 to {_MOST:,}, not {limit}.")
    found: Page[TriggerInput] = _read(name, at, lambda one: page_of(one.inputs(state=state), limit))
    if json:
        print_json(found)
    elif not found.items:
        say("No inputs.")
    else:
        _print_inputs(found.items)
    return DONE


@triggers.command
def replay(
    name: Name,
    input_id: InputId | None = None,
    /,
    *,
    all: All = False,  # noqa: A002 - as everybody says
    by: By = "",
    at: At = HERE,
    json: Json = False,
) -> int:
    """Try a rejected input once more, or `--all` of them, with the newest version of the workflow."""
    if (input_id is None) == (not all):
        raise Stop("Name one input, or give --all.")
    if input_id is not None:
        return _print_input(_act(name, at, by, lambda one: one.replay(input_id)), json=json)
    done = Replayed(replayed=_act(name, at, by, _replay_all))
    if json:
        print_json(done)
    else:
        say(f"{plural(done.replayed, 'rejected input')} tried once more.")
    return DONE


async def _replay_all(one: TriggerHandle) -> int:
    """Replay page by page, and say how far it is: there may be many."""
    replayed, cursor = 0, None
    while True:
        page = await one.replay_all(limit=MOST_REPLAYED, cursor=cursor)
        replayed, cursor = replayed + page.replayed, page.next
        if cursor is None:
            return replayed
        note(f"{replayed} so far…")


@triggers.command
def create(workflow: ForWorkflow, definition: Definition, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Make a trigger that belongs to no definition: it starts the newest version of a workflow.

    The address of a webhook with `scheme: token` is printed this once.
    """
    given = _given(definition)

    async def made() -> TriggerHandle:
        async with door_to_act(at, acting(at, by)) as door:
            return await door.create_trigger(workflow, given, allow_unknown=_ANY_SOURCE)

    return _print_made(asyncio.run(made()), json=json)


@triggers.command
def update(name: Name, definition: Definition, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Replace a trigger that belongs to no definition; it goes on where it was."""
    given = _given(definition)
    return _print_made(_act(name, at, by, lambda one: one.update(given, allow_unknown=_ANY_SOURCE)), json=json)


@triggers.command
def delete(name: Name, /, *, by: By = "", at: At = HERE) -> int:
    """Stop a trigger that belongs to no definition; its address ends, and its name is free."""
    _act(name, at, by, lambda one: one.delete())
    say(f"{name} is deleted.")
    return DONE


@triggers.command
def rotate_token(name: Name, /, *, grace: Grace = None, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Make a new address for a webhook with `scheme: token`, and print it this once."""
    return _print_made(_act(name, at, by, lambda one: one.rotate_token(grace=grace)), json=json)


@triggers.command
def discard(name: Name, input_id: InputId, /, *, by: By = "", at: At = HERE, json: Json = False) -> int:
    """Have a rejected or pending input never start."""
    return _print_input(_act(name, at, by, lambda one: one.discard(input_id)), json=json)


def _read(name: str, at: Target, read: Callable[[TriggerHandle], Awaitable[T]]) -> T:
    async def found() -> T:
        async with door_to_read(at) as door:
            return await read(await door.trigger(name))

    return asyncio.run(found())


def _act(name: str, at: Target, by: str, act: Callable[[TriggerHandle], Awaitable[T]]) -> T:
    async def acted() -> T:
        async with door_to_act(at, acting(at, by)) as door:
            return await act(await door.trigger(name))

    return asyncio.run(acted())


def _given(definition: str) -> Mapping[str, object]:
    found = given_data(definition, "DEFINITION")
    if not isinstance(found, dict):
        raise Stop("DEFINITION: a trigger is a JSON object.")
    return found


def _print_made(one: TriggerHandle, *, json: bool) -> int:
    _print_state(one, json=json)
    if one.address is not None and not json:
        print_address(f"{one.workflow}/{one.name}", one.address)
    return DONE


def _print_state(one: TriggerHandle, *, json: bool) -> int:
    if json:
        print_json(one.info)
        return DONE
    following = f"; it is due at {moment(one.next_at)}" if one.next_at is not None else ""
    say(f"{one.workflow}/{one.name} is {one.state}{following}.")
    return DONE


def _print_input(one: TriggerInput, *, json: bool) -> int:
    if json:
        print_json(one)
    else:
        say(f"The input {one.input_id} is {one.state}.")
    return DONE


def _print_inputs(found: tuple[TriggerInput, ...]) -> None:
    if not found:
        return
    rows = [[one.input_id, one.state, moment(one.received_at), one.execution_id or "", one.reason] for one in found]
    print_table([["INPUT", "STATE", "RECEIVED", "EXECUTION", "REASON"], *rows])


def _print_occurrences(found: tuple[TriggerOccurrence, ...]) -> None:
    for one in found:
        later = f" (starts at {moment(one.starts_at)})" if one.starts_at is not None else ""
        say(f"{moment(one.at)}{later}")
