"""`layover`: the commands, each loaded when it is used."""

from __future__ import annotations

import errno
import inspect
import os
import sys
import traceback
from importlib.metadata import version
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from layover.cli.exits import BAD_INPUT, DONE, FAILED, INTERRUPTED, Stop
from layover.errors import LayoverError

if TYPE_CHECKING:
    from typing import TextIO

_UNWRITTEN = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC})  # what a file says that takes no more
STANDARD_INPUT = "<stdin>"  # a bare dash would be taken for an option

_WRITING = Group("Writing workflows", sort_key=1)
_RUNNING = Group("Running workflows", sort_key=2)
_LOOKING = Group("Looking at executions", sort_key=3)
_ANSWERING = Group("Answering", sort_key=4)
_OPERATING = Group("Operating", sort_key=5)
_DATABASE = Group("Maintaining a database", sort_key=6)
_ACCESS = Group("Keys, secrets and audit", sort_key=7)
_REST = Group("Other", sort_key=8)

# The help stands here, so that the list of commands is printed without loading any of them.
_COMMANDS: dict[Group, dict[str, tuple[str, str]]] = {
    _WRITING: {
        "init": ("init:init_project", "Write a small project that runs: a workflow, its functions, a test."),
        "check": ("definitions:check_files", "Find everything that is wrong with definitions."),
        "graph": ("drawing:graph", "Draw the graph of a definition, as text, Mermaid, SVG or JSON."),
        "plan": ("deploy_plan:plan_version", "Say what a new version would mean to open executions."),
        "schema": ("definitions:schema", "Print the JSON Schema of the definition format, for editors."),
    },
    _RUNNING: {
        "run": ("run:run_file", "Run a workflow to its end or to its first rest."),
        "worker": ("worker:work", "Drive executions until told to stop."),
        "serve": ("serve:serve", "Answer requests over HTTP, and drive executions, until told to stop."),
    },
    _LOOKING: {
        "ls": ("lists:list_executions", "List executions, newest first."),
        "nodes": ("nodes:list_nodes", "List nodes of all executions, by type, state, error and more."),
        "show": ("show:show", "Show an execution: its nodes with their states, its pause points, its legs."),
        "watch": ("watch:watch", "Follow an execution, or all of them, as they go on."),
        "history": ("show:history", "Print the log of an execution."),
        "resume-queue": (
            "resume_queue:print_resume_queue",
            "List what people answered, in its order, and what became of it.",
        ),
        "replay": ("replay:replay", "Go through a past execution event by event: its state after each of them."),
        "logs": ("node_logs:print_logs", "Print what the nodes of an execution have logged."),
        "why": ("show:why", "Tell what an execution waits for, and what that waits for."),
        "top": ("top:top", "Show live what runs, what waits and for what, and how fast."),
        "inbox": ("lists:inbox", "List the pause points that wait for people."),
    },
    _ANSWERING: {
        "answer": ("answer:answer", "Answer a form."),
        "approve": ("answer:approve", "Approve an approval that is open."),
        "reject": ("answer:reject", "Reject an approval that is open."),
        "take-back": ("answer:take_back", "Take back your answer, as long as it is not final."),
        "delegate": ("answer:delegate", "Let another user decide at an approval in your place."),
        "links": ("links:links", "Links to the page of a pause point: make and revoke them."),
        "claim": ("conversations:claim", "Claim a pause point, so that nobody else answers it meanwhile."),
        "release": ("conversations:release", "Give back your claim of a pause point."),
        "ask": ("conversations:ask", "Ask back before you answer a pause point."),
        "reply": ("conversations:reply", "Reply to a question that was asked back."),
        "signal": ("operate:signal", "Send a signal to the executions that wait for it."),
    },
    _OPERATING: {
        "pause": ("operate:pause", "Hold an execution: nothing of it starts until it is resumed."),
        "clear-breakpoint": ("operate:clear_breakpoint", "Do not pause an execution before a node."),
        "resume": ("operate:resume", "Let an execution go on that was paused."),
        "cancel": ("operate:cancel", "End an execution."),
        "retry": ("operate:retry", "Go on with an execution from what failed."),
        "fork": ("forks:fork", "Begin another execution with results of one."),
        "run-now": ("waits:run_now", "Let a node go on that waits for time."),
        "retries": ("waits:list_retries", "List the attempts that are to be made later."),
        "cancel-retry": ("waits:cancel_retry", "Make no further attempt of a node."),
        "batch": ("batch:batch", "One act on many items, with a dry run, a rate and a canary."),
        "batches": ("batches:list_batches", "List batches, the newest first."),
        "triggers": ("triggers:triggers", "What starts executions by itself: list, pause, resume and fire triggers."),
        "destinations": (
            "destinations:destinations",
            "Where deliveries go: list, make, test, enable and disable them.",
        ),
        "deliveries": ("deliveries:deliveries", "What was sent to people and systems: list, send once more, discard."),
        "workflows": ("workflows:workflows", "Whole workflows: list them, hold one, and let it go on."),
        "rewind": ("operate:rewind", "Drop the results of a node and all after it, and go on from there."),
    },
    _DATABASE: {
        "migrate": ("migrate:migrate_database", "Make a database, or bring it up to date with this release."),
        "verify": ("verify:verify_database", "Check everything that must hold of a database."),
        "purge": ("purge:purge_database", "Delete executions some time after their end."),
        "copy": ("copy_database:copy_database", "Copy everything in a database into another, and verify both."),
        "doctor": ("doctor:examine", "Look for what keeps a database or its executions from working."),
    },
    _ACCESS: {
        "keys": ("keys:keys", "API keys of servers: make, list, replace and end them."),
        "sign-in-link": ("sign_in_link:create_link", "Make a link that signs one browser in, once."),
        "sessions": ("sessions:sessions", "Browsers that have signed in: list their sessions, and end them."),
        "secrets": ("secrets:list_secrets", "List the secrets that workflows declare, and whether they are there."),
        "views": ("views:views", "Saved views: filters of `layover ls` under a name."),
        "people": ("people:people", "How people can be reached: the table of the directory."),
        "audit": ("audit:audit", "What people did, and the proof of it."),
        "receipt": ("receipt:receipt", "The proof of a decision: get it, and check one."),
    },
    _REST: {
        "monitoring": ("monitoring:write_monitoring", "Write a Grafana dashboard and Prometheus alert rules."),
        "settings": ("settings:show_settings", "Print every setting, its value and where it came from."),
        "completion": ("completion:completion", "Print a script that completes commands in a shell."),
    },
}


def _version() -> str:
    return f"layover {version('layover')}"


app = App(
    name="layover",
    help="Durable workflows whose first-class act is the pause.",
    version=_version,
    help_epilogue="Exit codes: 0 done, 1 failed, 2 bad input, 3 unknown id, 4 wrong state, 10 resting.",
)
app["--help"].group = app["--version"].group = _REST
for _group, _members in _COMMANDS.items():
    for _name, (_place, _help) in _members.items():
        app.command(f"layover.cli.{_place}", name=_name, group=_group, help=_help)


def main() -> None:
    """Run the command line and exit with its code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that a stream cannot encode must not fail a command
            stream.reconfigure(errors="backslashreplace")
    code = run_command(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
    except OSError as error:
        code = _unwritten(error)
    sys.exit(code)


def run_command(words: list[str]) -> int:
    """Run one command and return its exit code; what goes wrong is told in a sentence."""
    words = [STANDARD_INPUT if word == "-" else word for word in words]
    try:
        if words[1:] and words[0] in app:
            tell_more(words[0])
        code = app(words, result_action="return_value", exit_on_error=False, print_error=False)
        return code if isinstance(code, int) else DONE
    except Stop as stop:
        return _ended(stop, stop)
    except CycloptsError as error:
        return _ended(error, Stop(_misuse(error), BAD_INPUT, hint=_help_of(words)))
    except LayoverError as error:
        from layover.cli.error_messages import stop_for  # noqa: PLC0415 - only what goes wrong needs it

        return _ended(error, stop_for(error))
    except BrokenPipeError:  # the reader has seen enough
        _forget(sys.stdout)
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge of the program: a fault of ours is told like one
        if isinstance(error, OSError) and error.errno in _UNWRITTEN and error.filename is None:
            return _unwritten(error)
        hint = "This is a fault of Layover. LAYOVER_DEBUG=1 shows where; please report it."
        return _ended(error, Stop(f"{type(error).__name__}: {error}", FAILED, hint=hint))


def tell_more(command: str) -> None:
    """Have the help of one command say all there is to say, which is written where it is."""
    loaded = app[command]
    if loaded.default_command is not None:  # one that only has commands of its own has said it
        loaded.help = inspect.getdoc(loaded.default_command) or loaded.help


def _ended(error: BaseException, stop: Stop) -> int:
    """Say why a command did not go well, and what to do about it."""
    from layover.cli.screen import note  # noqa: PLC0415 - only what goes wrong needs it

    try:
        if os.environ.get("LAYOVER_DEBUG", "") not in ("", "0"):
            sys.stderr.write("".join(traceback.format_exception(error)))
        note(f"layover: {stop.message}", "red")
        for detail in stop.details:
            note(f"  {detail}")
        if stop.hint:
            note(stop.hint)
        sys.stderr.flush()
    except OSError:  # where errors go may be full, too
        _forget(sys.stderr)
    return stop.code


def _misuse(error: CycloptsError) -> str:
    """Return what is wrong with the words of a command."""
    if isinstance(error, UnusedCliTokensError):
        given = [f"`{word}`" for word in error.unused_tokens or ()]
        return f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} more than the command takes."
    return " ".join(str(error).split())


def _help_of(words: list[str]) -> str:
    known = f"{words[0]} " if words and words[0] in app else ""
    return f"`layover {known}--help` tells what it takes."


def _open_closed_streams() -> None:
    """Open standard streams that were closed: else a file that is opened later takes their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - open until the end


def _unwritten(error: OSError) -> int:
    """Say that what was printed could not be written."""
    _forget(sys.stdout)
    return _ended(error, Stop(f"The output could not be written: {error.strerror or error}.", FAILED))


def _forget(stream: TextIO) -> None:
    """Write what is left of an output to nowhere, so that the interpreter does not complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
