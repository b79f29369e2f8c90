"""`layover copy`: everything in one database into another, and the proof that both hold the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from layover.admin import copy, without_password
from layover.cli.error_messages import stop_for
from layover.cli.exits import DONE, FAILED, Stop
from layover.cli.options import Json  # noqa: TC001 - cyclopts reads the annotations
from layover.cli.progress_line import ProgressLine
from layover.cli.screen import note, plural, print_json, say
from layover.errors import LayoverError

if TYPE_CHECKING:
    from layover.admin import CopyReport

Source = Annotated[
    str, Parameter(help="The database to copy: an address such as sqlite:///app.db or postgresql://…, or a path.")
]
Target = Annotated[
    str, Parameter(help="Where to: another address or path, of a database that is empty or not there yet.")
]
Resume = Annotated[
    bool,
    Parameter(name="--resume", negative="", show_default=False, help="Continue a copy that was interrupted."),
]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", negative="", show_default=False, help="Only count what would be copied.")
]

_BEFORE = ("in_use", "copy_running", "not_empty", "not_a_copy")  # nothing was written yet


def copy_database(
    source: Source, target: Target, *, resume: Resume = False, dry_run: DryRun = False, json: Json = False
) -> int:
    """Copy everything in a database into an empty one of any kind: workflows, executions, open ones too, and signals.

    Then both are compared and verified; the exit code is 1 if something is wrong. No instance may use either of them
    meanwhile, or the exit code is 4. The source is only read. A copy that was interrupted is continued with `--resume`.
    """
    with ProgressLine(json=json) as line:
        try:
            report = asyncio.run(copy(source, target, resume=resume, dry_run=dry_run, on_progress=line.tell))
        except LayoverError as error:
            if line.last is None or line.last.part == "looking" or error.code in _BEFORE:
                raise
            stop = stop_for(error)
            advice = (stop.hint,) if stop.hint else ()
            raise Stop(stop.message, stop.code, hint=_continue(source, target), details=advice) from error
        except KeyboardInterrupt:
            note(f"The copy is not complete. {_continue(source, target)}", "yellow")
            raise
    _tell(report, json=json)
    return DONE if report.ok else FAILED


def _continue(source: str, target: str) -> str:
    words = without_password(f"layover copy {source} {target} --resume")
    return f"Nothing was changed in the source; `{words}` continues the copy."


def _tell(report: CopyReport, *, json: bool) -> None:
    contents, found = report.contents, report.violations
    if json:
        counts = msgspec.structs.asdict(contents)
        told = {"dry_run": report.dry_run, "ok": report.ok, **counts, "written": report.written, "violations": found}
        print_json(told)
        return
    for one in found:
        whose = one.execution_id or "database"
        say(f"{one.where}: {whose}: {one.message} [{one.code}]", "red")
    executions = f"{plural(contents.executions, 'execution')} ({contents.open:,} open)"
    parts = [executions, plural(contents.events, "event"), plural(contents.versions, "version")]
    parts.append(plural(contents.signals, "signal"))
    parts += [plural(contents.keys, "key")] * bool(contents.keys)
    parts += [f"{contents.audit:,} audit {'entry' if contents.audit == 1 else 'entries'}"] * bool(contents.audit)
    if report.dry_run:
        say(f"{', '.join(parts)} would be copied")
        return
    if report.written != contents.executions:
        say(f"{plural(report.written, 'execution')} copied, the others were there")
    sum_ = "both sides hold the same, no violations" if report.ok else plural(len(found), "violation")
    say(f"{', '.join(parts)}: {sum_}", "green" if report.ok else "red")
