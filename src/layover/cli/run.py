"""`layover run`: one workflow, from its definition to its end or to its first rest, driven by this process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from layover.api.serializers.executions import execution_of
from layover.api.serializers.graphs import graph_of
from layover.api.serializers.points import context_of, point_of
from layover.bootstrap import Engine, address_of
from layover.cli import run_remote
from layover.cli.definitions import File, print_report
from layover.cli.exits import BAD_INPUT, WRONG_STATE, Stop
from layover.cli.follow import Following, Person
from layover.cli.functions import functions_of, node_types
from layover.cli.json_argument import STANDARD_INPUT, given_data
from layover.cli.live_view import Lines, Picture, Silent
from layover.cli.options import DEFAULT_DB, By, DbOrNone, Json, Nodes, Roles, Target, Url, acting, person
from layover.cli.run_report import Ended, report
from layover.cli.screen import OUT, note, plural, print_json, say
from layover.cli.sources import distinct, source
from layover.cli.stdin import StdinLines
from layover.core.definitions import document
from layover.core.definitions.durations import parse_duration
from layover.core.payloads import plain
from layover.core.plan import compile_plan
from layover.runtime.errors import UnknownExecution
from layover.runtime.ids import id_from_key
from layover.runtime.operations.executions import Options, check_same_input

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.api.resources.executions import Graph
    from layover.cli.live_view import View
    from layover.core.definitions import Checked
    from layover.core.plan import Plan
    from layover.nodes.registry import AnyFunction
    from layover.ports.records import PointRow
    from layover.runtime.queries.views import Execution

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
Trigger = Annotated[
    str | None,
    Parameter(name="--trigger", help="What started it, as JSON or @file; expressions read it as `trigger`."),
]
Timeout = Annotated[str | None, Parameter(name="--timeout", help="How long to stay at most, such as 30s.")]


class Wanted(NamedTuple):
    """What somebody wants of a run."""

    file: str
    plan: Plan
    given: object
    modules: tuple[str, ...]
    functions: Sequence[AnyFunction]
    db: str
    id: str | None
    key: str | None
    options: Options
    roles: tuple[str, ...]
    watch: bool | None
    timeout: float | None
    json: bool


def run_file(  # noqa: PLR0913 - each is an option
    file: File,
    /,
    *,
    input: Input = None,  # noqa: A002 - as everybody says
    nodes: Nodes = (),
    id: Id = None,  # noqa: A002 - as everybody says
    key: Key = None,
    tag: Tags = (),
    trigger: Trigger = None,
    watch: Watch = None,
    timeout: Timeout = None,
    by: By = "",
    role: Roles = (),
    db: DbOrNone = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Run a workflow to its end or to its first rest; what it did is kept, and can be gone on with at any time.

    In a terminal it shows how the nodes are, stays while the execution rests, and asks when a form or an approval
    opens; Ctrl-C leaves it resting. Exit code 0 if it completed, 1 if it failed, 10 if it rests.

    With `--url`, a server is given the workflow and drives it with the functions that it has; its key is `LAYOVER_KEY`.
    """
    if file == input == STANDARD_INPUT:
        raise Stop("The definition and the input cannot both come from standard input.")
    at = Target(db, url, os.environ.get("LAYOVER_KEY"))
    if (server := at.server) is not None:
        _check_remote(at, nodes, by, role)
        checked = source(file).check()
        if not checked.ok:
            return _refused(file, checked, json=json)
        asked = run_remote.Asked(
            file=file,
            definition=document(checked.definition),
            given=given_data(input, "--input"),
            id=id,
            key=key,
            tags=tag,
            trigger=given_data(trigger, "--trigger"),
            watch=watch is True,
            timeout=_seconds(timeout),
            silent=json,
        )
        return report(asyncio.run(run_remote.run(server, at.secret, asked)), _there(at), json=json)
    named = source(file)
    functions = distinct(named.functions, functions_of(nodes))
    checked = named.check(node_types(functions))
    if not checked.ok:
        return _refused(file, checked, json=json)
    wanted = Wanted(
        file=file,
        plan=compile_plan(checked),
        given=given_data(input, "--input"),
        modules=nodes,
        functions=functions,
        db=at.database,
        id=id,
        key=key,
        options=Options(user=person(by) or None, tags=tag, trigger=given_data(trigger, "--trigger")),
        roles=role,
        watch=watch,
        timeout=_seconds(timeout),
        json=json,
    )
    return report(asyncio.run(_run(wanted)), _there(at), json=json)


def _check_remote(at: Target, nodes: tuple[str, ...], by: str, role: tuple[str, ...]) -> None:
    """Refuse what a server would not hear of."""
    acting(at, by, role)
    if nodes:
        raise Stop("A server calls the functions that it was started with; --nodes is for databases.")


def _refused(file: str, checked: Checked, *, json: bool) -> int:
    """Tell what is wrong with a definition."""
    if json:
        print_json({"file": file, "ok": False, "problems": list(checked.problems)})
        return BAD_INPUT
    print_report(file, checked)
    if any(problem.code == "unknown_type" for problem in checked.problems):
        note("Give the functions of a workflow with --nodes MODULE, or --nodes FILE.py.")
    return BAD_INPUT


async def _run(wanted: Wanted) -> Ended:
    async with Engine(address_of(wanted.db), nodes=wanted.functions) as engine:
        execution = await _begun(engine, wanted)
        view = _view_of(wanted, execution, graph_of(await engine.graph(execution.id)), engine)
        is_asked = _is_interactive(wanted)
        sitting = Person(wanted.options.user or "", wanted.roles, StdinLines()) if is_asked else None
        stay = wanted.watch is True or is_asked
        following = Following(engine, execution.id, view, stay=stay, person=sitting)
        try:
            left = await _until_left(engine, following, wanted.timeout)
        finally:
            view.end()
        out = engine.instance.node_runner.out
        if left and out:
            note(f"Waiting for {plural(out, 'call')} to end; Ctrl-C leaves them at once.")
        last = await engine.get(execution.id)
        rows = [] if last.closed else await engine.points(last.id, children=True)
        nodes = "".join(f" --nodes {name}" for name in wanted.modules)
        return Ended(
            execution=execution_of(last),
            points=[point_of(row) for row in rows],
            answers=[command for row in rows if (command := _command_for(row))],
            again=f"layover run {wanted.file}{nodes} --id {last.id}",
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
                if wanted.key is not None:
                    check_same_input(execution, plain(wanted.given))
                return execution
            raise Stop(f"{execution.id} is an execution of `{execution.workflow}`, not of `{workflow}`.", WRONG_STATE)
    await engine.register(wanted.plan)
    return await engine.start(workflow, wanted.given, id=id_, on_conflict="return", options=wanted.options)


async def _until_left(engine: Engine, following: Following, longest: float | None) -> str:
    """Follow until it is over, or somebody has enough; return why it was left, if not at its end."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()
    caller = engine.instance.node_runner

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


def _there(at: Target) -> Callable[[str], str]:
    """Return what makes a command one for a place."""
    if (server := at.server) is not None:
        return lambda command: f"{command} --url {quote(server)}"
    db = at.database
    return lambda command: command if db == DEFAULT_DB else f"{command} --db {quote(db)}"


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
