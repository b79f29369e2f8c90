"""`layover run`: one workflow, from a file to its end or to its first rest, driven by this process."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter
from msgspec.structs import replace

from layover.api.presenting.executions import execution_of
from layover.api.presenting.graphs import graph_of
from layover.api.presenting.points import context_of, point_of
from layover.bootstrap import Engine, address_of
from layover.cli.definitions import File, checked_file, print_report
from layover.cli.exits import BAD_INPUT, DONE, FAILED, RESTING, WRONG_STATE, Stop
from layover.cli.following import Following, Person
from layover.cli.functions import functions_of, node_types
from layover.cli.given import STANDARD_INPUT, given_data
from layover.cli.options import DEFAULT_DB, By, Db, Json, Nodes, Roles, person
from layover.cli.screen import OUT, STYLES, brief, note, plural, print_json, say
from layover.cli.typing_in import Lines as TypedLines
from layover.cli.watching import Lines, Picture, Silent
from layover.core.definitions.durations import parse_duration
from layover.core.plan import compile_plan
from layover.runtime.errors import UnknownExecution
from layover.runtime.executions import Options
from layover.runtime.ids import id_from_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.api.resources.executions import Graph
    from layover.cli.watching import View
    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction
    from layover.ports.records import PointRow
    from layover.runtime.views import Execution

_OUTPUT = 10_000

Input = Annotated[
    str | None,
    Parameter(name="--input", help="JSON, @file, or - for standard input.", allow_leading_hyphen=True),
]
Id = Annotated[str | None, Parameter(name="--id", help="A UUID of your own; one that is in use is gone on with.")]
Key = Annotated[str | None, Parameter(name="--key", help="The same key again is the same execution.")]
Tags = Annotated[
    tuple[str, ...],
    Parameter(name="--tag", consume_multiple=False, negative="", show_default=False, help="A tag; may be repeated."),
]
Watch = Annotated[
    bool | None,
    Parameter(name="--watch", help="Stay until the end, also while it rests; as is done in a terminal."),
]
Timeout = Annotated[str | None, Parameter(name="--timeout", help="How long to stay at most, such as 30s.")]


class Wanted(NamedTuple):
    """What somebody wants of a run."""

    plan: Plan
    given: object
    modules: tuple[str, ...]
    functions: list[AnyFunction]
    db: str
    id: str | None
    key: str | None
    options: Options
    roles: tuple[str, ...]
    watch: bool | None
    timeout: float | None
    json: bool


class Ended(NamedTuple):
    """How a run was left."""

    execution: Execution
    points: Sequence[PointRow]
    summary: str
    left: str


def run_file(  # noqa: PLR0913 - each is an option
    file: File,
    /,
    *,
    input: Input = None,  # noqa: A002 - as everybody says
    nodes: Nodes = (),
    id: Id = None,  # noqa: A002 - as everybody says
    key: Key = None,
    tag: Tags = (),
    watch: Watch = None,
    timeout: Timeout = None,
    by: By = "",
    role: Roles = (),
    db: Db = DEFAULT_DB,
    json: Json = False,
) -> int:
    """Run a workflow to its end or to its first rest; what it did is kept, and can be gone on with at any time.

    In a terminal it shows how the nodes are, stays while the execution rests, and asks when a form or an approval
    opens; Ctrl-C leaves it resting. Exit code 0 if it completed, 1 if it failed, 10 if it rests.
    """
    if file == input == STANDARD_INPUT:
        raise Stop("The definition and the input cannot both come from standard input.")
    functions = functions_of(nodes)
    checked = checked_file(file, node_types(functions))
    if not checked.ok and json:
        print_json({"file": file, "ok": False, "problems": list(checked.problems)})
        return BAD_INPUT
    if not checked.ok:
        print_report(file, checked)
        if any(problem.code == "unknown_type" for problem in checked.problems):
            note("Give the functions of a workflow with --nodes MODULE, or --nodes FILE.py.")
        return BAD_INPUT
    wanted = Wanted(
        plan=compile_plan(checked),
        given=given_data(input, "--input"),
        modules=nodes,
        functions=functions,
        db=db,
        id=id,
        key=key,
        options=Options(user=person(by) or None, tags=tag),
        roles=role,
        watch=watch,
        timeout=_seconds(timeout),
        json=json,
    )
    return _report(wanted, file, asyncio.run(_run(wanted)))


async def _run(wanted: Wanted) -> Ended:
    async with Engine(address_of(wanted.db), nodes=wanted.functions) as engine:
        execution = await _begun(engine, wanted)
        view = _view_of(wanted, execution, graph_of(await engine.graph(execution.id)), engine)
        is_asked = _is_interactive(wanted)
        sitting = Person(wanted.options.user or "", wanted.roles, TypedLines()) if is_asked else None
        stay = wanted.watch is True or is_asked
        following = Following(engine, execution.id, view, stay=stay, person=sitting)
        try:
            left = await _until_left(engine, following, wanted.timeout)
        finally:
            view.end()
        out = engine.instance.caller.out
        if left and out:
            note(f"Waiting for {plural(out, 'call')} to end; Ctrl-C leaves them at once.")
        last = await engine.get(execution.id)
        return Ended(
            execution=last,
            points=[] if last.closed else await engine.points(last.id, children=True),
            summary="" if last.closed else (await engine.why(last.id)).summary,
            left=left,
        )


async def _begun(engine: Engine, wanted: Wanted) -> Execution:
    """Return the execution that is wanted: a new one, or the one that has its id or its key already."""
    workflow = wanted.plan.definition.name
    id_ = wanted.id or (id_from_key(workflow, wanted.key) if wanted.key is not None else None)
    if id_ is not None:
        with suppress(UnknownExecution):
            execution = await engine.get(id_)
            if execution.workflow == workflow:
                return execution
            raise Stop(f"{execution.id} is an execution of `{execution.workflow}`, not of `{workflow}`.", WRONG_STATE)
    await engine.register(wanted.plan)
    return await engine.start(workflow, wanted.given, id=id_, on_conflict="return", options=wanted.options)


async def _until_left(engine: Engine, following: Following, longest: float | None) -> str:
    """Follow until it is over, or somebody has enough; return why it was left, if not at its end."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    caller = engine.instance.caller

    def stop() -> None:
        if asked.is_set():
            caller.hurry()  # told again: what is still running is left at once
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
        asked.set()  # whoever interrupts from here on does not want to wait for calls
        followed.cancel()
        await asyncio.gather(followed, interrupted, return_exceptions=True)


def _report(wanted: Wanted, file: str, ended: Ended) -> int:
    """Print how a run ended, and return its exit code, whether or not anybody reads it."""
    with suppress(BrokenPipeError):
        _print_end(wanted, file, ended)
    return {"completed": DONE, "failed": FAILED, "cancelled": FAILED}.get(ended.execution.status, RESTING)


def _print_end(wanted: Wanted, file: str, ended: Ended) -> None:
    execution = ended.execution
    style = STYLES.get(execution.status, "")
    if wanted.json:
        found = execution_of(execution)
        points = [point_of(row) for row in ended.points]
        print_json(found if execution.closed else replace(found, pause_points=points))
    elif execution.status == "completed":
        reason = f" ({execution.outcome_reason})" if execution.outcome_reason else ""
        outcome = f": {execution.outcome}{reason}" if execution.outcome != "executed" else ""
        say(f"{execution.id} completed{outcome}", style)
        say(f"output: {brief(execution.output, _OUTPUT)}", most=_OUTPUT + 10)
    elif execution.error is not None:
        where = f" at {execution.error.context_id}" if execution.error.context_id else ""
        what = execution.error.type or execution.error.code
        say(f"{execution.id} failed{where}: {what}: {execution.error.message}", style)
        note(f"When the cause is mended: {_with_db(f'layover retry {execution.id}', wanted.db)}")
    elif execution.closed:
        say(f"{execution.id} {execution.status}: {execution.outcome_reason}", style)
    else:
        _report_rest(wanted, file, ended)


def _report_rest(wanted: Wanted, file: str, ended: Ended) -> None:
    execution = ended.execution
    say(f"{execution.id} {execution.status}: {ended.summary}", STYLES.get(execution.status, ""))
    if ended.left:
        why = "You left it" if ended.left == "interrupted" else "The time is up"
        note(f"{why}; nothing of it is lost.")
    for row in ended.points:
        command = _command_for(row)
        if command:
            note(f"  {_with_db(command, wanted.db)}")
    nodes = "".join(f" --nodes {name}" for name in wanted.modules)
    note(f"To go on with it: {_with_db(f'layover run {file}{nodes} --id {execution.id}', wanted.db)}")


def _command_for(row: PointRow) -> str:
    """Return the command that answers a point."""
    place, rules = f"{row.execution_id}:{context_of(row.point)}", row.point.rules
    role = f" --role {rules.roles[0]}" if rules is not None and rules.roles else ""
    match row.point.kind:
        case "approval":
            return f"layover approve {place}{role}"
        case "form":
            return f"layover answer {place} DATA{role}"
        case "signal":
            details = row.point.details
            return (
                f"layover signal {details['signal']} {details.get('key') or ''}".rstrip() if "signal" in details else ""
            )
        case _:
            return ""


def _with_db(command: str, db: str) -> str:
    return command if db == DEFAULT_DB else f"{command} --db {quote(db)}"


def _view_of(wanted: Wanted, execution: Execution, graph: Graph, engine: Engine) -> View:
    if wanted.json:
        return Silent()
    if OUT.is_terminal and wanted.watch is not False:
        return Picture(f"{execution.workflow} {execution.id}", graph, engine.instance.clock.now)
    with suppress(BrokenPipeError):
        say(f"{execution.workflow} {execution.id}")
    return Lines()


def _is_interactive(wanted: Wanted) -> bool:
    """Return whether somebody is there to be asked."""
    return wanted.watch is not False and not wanted.json and OUT.is_terminal and sys.stdin.isatty()


def _seconds(timeout: str | None) -> float | None:
    if timeout is None:
        return None
    try:
        return parse_duration(timeout) / 1000
    except ValueError as error:
        raise Stop(f"--timeout: {error}") from error
