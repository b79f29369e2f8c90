"""`layover run`: one workflow, from its definition to its end or to its first rest, on a database or on a server.

On a database this process drives it, with the functions of the workflow; a server drives it with those that it has.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import asynccontextmanager, suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from layover.admin import OperatorEngine
from layover.cli.definitions import File, print_report
from layover.cli.exits import BAD_INPUT, WRONG_STATE, Stop
from layover.cli.follow import Following
from layover.cli.functions import functions_of, node_types
from layover.cli.hook_addresses import print_addresses
from layover.cli.json_argument import STANDARD_INPUT, given_data
from layover.cli.live_view import Lines, Picture, Silent
from layover.cli.log_options import AS_USUAL, SHOWING, Logging
from layover.cli.opened_points import details_of, opening_of
from layover.cli.options import By, Db, Json, Nodes, Roles, Target, Url, Who, acting
from layover.cli.run_report import RunReport, report
from layover.cli.screen import OUT, note, plural, print_json, say
from layover.cli.setting_flags import NO_RUN_FLAGS, RunFlags
from layover.cli.sources import distinct, source, text_of
from layover.cli.stdin import StdinLines
from layover.core.definitions import document
from layover.core.definitions.durations import parse_duration
from layover.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from typing import Any

    from layover import ExecutionHandle, PausePointHandle, Settings
    from layover.cli.live_view import View
    from layover.core.definitions import Checked
    from layover.interface.door import Door
    from layover.nodes.registry import AnyFunction

Input = Annotated[
    str | None,
    Parameter(name="--input", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
Id = Annotated[str | None, Parameter(name="--id", help="A UUID of your own; an execution that has it is continued.")]
Key = Annotated[str | None, Parameter(name="--key", help="The same key again is the same execution.")]
Tags = Annotated[
    tuple[str, ...],
    Parameter(name="--tag", consume_multiple=False, negative="", show_default=False, help="A tag; may be repeated."),
]
Watch = Annotated[
    bool | None,
    Parameter(name="--watch", help="Stay until the end, also while it rests; the default in a terminal."),
]
Trigger = Annotated[
    str | None,
    Parameter(name="--trigger", help="What started it, as JSON or @file; expressions read it as `trigger`."),
]
Timeout = Annotated[str | None, Parameter(name="--timeout", help="How long to stay at most, such as 30s.")]


class RunOptions(NamedTuple):
    """What to run, where, as whom, and how to show it."""

    file: str
    name: str  # of the workflow
    definition: str | dict[str, Any]
    input: object
    modules: tuple[str, ...]
    functions: Sequence[AnyFunction]
    at: Target
    id: str | None
    key: str | None
    tags: tuple[str, ...]
    trigger: object
    who: Who
    watch: bool | None
    timeout: float | None
    settings: Settings
    json: bool


def run_file(  # noqa: PLR0913 - each is an option
    file: File,
    /,
    *,
    input: Input = None,  # noqa: A002 - the word of the field
    nodes: Nodes = (),
    id: Id = None,  # noqa: A002 - the word of the field
    key: Key = None,
    tag: Tags = (),
    trigger: Trigger = None,
    watch: Watch = None,
    timeout: Timeout = None,
    by: By = "",
    role: Roles = (),
    db: Db = None,
    url: Url = None,
    flags: RunFlags = NO_RUN_FLAGS,
    json: Json = False,
    logging: Logging = AS_USUAL,
) -> int:
    """Run a workflow to its end or to its first rest; its execution is stored, and can be continued at any time.

    In a terminal it shows how the nodes are, stays while the execution rests, and asks when a form or an approval
    opens; Ctrl-C leaves it resting. Another attempt that is due within five minutes is waited for everywhere.

    Exit code 0 if it completed, 1 if it failed, 10 if it rests.

    With `--url`, a server is given the workflow and drives it with the functions that it has; its key is `LAYOVER_KEY`.

    Every setting of the engine is a flag here, too, as of `layover worker`.
    """
    if file == input == STANDARD_INPUT:
        raise Stop("The definition and the input cannot both come from standard input.")
    logging.configure(flags.configuration, SHOWING)
    at = Target(db, url, config=flags.config)
    who = acting(at, by, role)
    if at.server is not None and nodes:
        raise Stop("A server calls the functions that it was started with; --nodes is for databases.")
    named = source(file)
    functions = distinct(named.functions, functions_of(nodes))
    checked = named.check(node_types(functions) if at.server is None else None)
    if not checked.ok:
        return _refused(file, checked, json=json)
    wanted = RunOptions(
        file=file,
        name=checked.definition.name,
        definition=text_of(named) or document(checked.definition),
        input=given_data(input, "--input"),
        modules=nodes,
        functions=functions,
        at=at,
        id=id,
        key=key,
        tags=tag,
        trigger=given_data(trigger, "--trigger"),
        who=who,
        watch=watch,
        timeout=_seconds(timeout),
        settings=flags.configuration.engine,
        json=json,
    )
    if at.server is None and not wanted.settings.executions:
        note("It drives nothing here, because `executions` is 0: a worker has to.", "yellow")
    return report(asyncio.run(_run(wanted)), _there(at), json=json)


def _refused(file: str, checked: Checked, *, json: bool) -> int:
    """Tell what is wrong with a definition."""
    if json:
        print_json({"file": file, "ok": False, "problems": list(checked.problems)})
        return BAD_INPUT
    print_report(file, checked)
    if any(problem.code == "unknown_type" for problem in checked.problems):
        note("Give the functions of a workflow with --nodes MODULE, or --nodes FILE.py.")
    return BAD_INPUT


async def _run(wanted: RunOptions) -> RunReport:
    async with _door(wanted) as door:
        execution = await _started(door, wanted)
        view = await _view_of(wanted, execution)
        is_asked = _is_interactive(wanted)
        stay = wanted.watch is True or is_asked
        following = Following(door, execution, view, stay=stay, typed=StdinLines() if is_asked else None)
        try:
            left = await _until_left(door, following, wanted.timeout)
        finally:
            view.end()
        if left and isinstance(door, OperatorEngine) and door.running_calls:
            note(f"Waiting for {plural(door.running_calls, 'call')} to end; Ctrl-C leaves them at once.")
        return await _ended(door, await execution.refresh(), wanted, left)


@asynccontextmanager
async def _door(wanted: RunOptions) -> AsyncIterator[Door]:
    at, who = wanted.at, wanted.who
    if (server := at.server) is not None:
        from layover import Client  # noqa: PLC0415 - only commands on a server load it

        async with Client(server, api_key=at.secret) as client:
            yield client
        return
    engine = OperatorEngine(
        at.database, user=who.by, roles=who.roles, nodes=wanted.functions, settings=wanted.settings, drive=True
    )
    async with engine:
        yield engine


async def _started(door: Door, wanted: RunOptions) -> ExecutionHandle:
    """Return the execution that is wanted: a new one, or the one that has its id or its key already."""
    workflow = wanted.name
    if wanted.id is not None:
        with suppress(NotFound):
            found = await door.execution(wanted.id)
            if found.workflow == workflow:
                return found
            raise Stop(f"{found.id} is an execution of `{found.workflow}`, not of `{workflow}`.", WRONG_STATE)
    print_addresses(await door.register(wanted.definition))
    started = await door.start(
        workflow,
        wanted.input,
        id=wanted.id,
        idempotency_key=wanted.key,
        on_conflict="return",
        tags=wanted.tags,
        trigger=wanted.trigger,
    )
    return await started.refresh()  # one that another user started is answered without its data


async def _ended(door: Door, last: ExecutionHandle, wanted: RunOptions, left: str) -> RunReport:
    points = [] if last.closed else await last.points(children=True).all()
    nodes = "".join(f" --nodes {name}" for name in wanted.modules)
    return RunReport(
        execution=last.info,
        points=[point.info for point in points],
        answers=[command for point in points if (command := await _command_for(door, point))],
        again=f"layover run {wanted.file}{nodes} --id {last.id}",
        summary="" if last.closed else (await last.why()).summary,
        left=left,
    )


async def _until_left(door: Door, following: Following, longest: float | None) -> str:
    """Follow until it is over, or the user leaves; return why it was left, if not at its end."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        if asked.is_set() and isinstance(door, OperatorEngine):
            door.hurry()  # told again: running calls are left at once
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    followed, interrupted = loop.create_task(following.follow()), loop.create_task(asked.wait())
    try:
        await asyncio.wait([followed, interrupted], timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        if followed.done():
            followed.result()
            return ""
        return "interrupted" if interrupted.done() else "timeout"
    finally:
        asked.set()  # a signal from here on means not to wait for calls
        followed.cancel()
        await asyncio.gather(followed, interrupted, return_exceptions=True)


async def _command_for(door: Door, point: PausePointHandle) -> str:
    """Return the command that answers a point; who may is known to a server by the key."""
    place, asked = f"{point.execution_id}:{point.context_id}", point.approvers
    names_roles = asked is not None and asked.roles and isinstance(door, OperatorEngine)
    role = f" --role {asked.roles[0]}" if asked is not None and names_roles else ""
    match point.kind:
        case "approval":
            return f"layover approve {place}{role}"
        case "form":
            return f"layover answer {place} DATA{role}"
        case "signal":
            details = details_of(await opening_of(door, point.info))
            command = f"layover signal {details.get('signal')} {details.get('key') or ''}".rstrip()
            return command if "signal" in details else ""
        case _:
            return ""


def _there(at: Target) -> Callable[[str], str]:
    """Return a function that adds where the execution is to a command."""
    if (server := at.server) is not None:
        return lambda command: f"{command} --url {quote(server)}"
    db = at.database
    return lambda command: command if at.configuration.origin("db") != "flag" else f"{command} --db {quote(db)}"


async def _view_of(wanted: RunOptions, execution: ExecutionHandle) -> View:
    if wanted.json:
        return Silent()
    if OUT.is_terminal and wanted.watch is not False:
        return Picture(f"{execution.workflow} {execution.id}", await execution.graph())
    with suppress(BrokenPipeError):
        say(f"{execution.workflow} {execution.id}")
    return Lines()


def _is_interactive(wanted: RunOptions) -> bool:
    """Return whether a person is at the terminal to be asked."""
    return wanted.watch is not False and not wanted.json and OUT.is_terminal and sys.stdin.isatty()


def _seconds(timeout: str | None) -> float | None:
    if timeout is None:
        return None
    try:
        return parse_duration(timeout) / 1000
    except ValueError as error:
        raise Stop(f"--timeout: {error}") from error
