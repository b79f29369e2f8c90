"""`layover batch`: one act on many items, with a dry run, a rate and a canary."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from layover.admin import running_instances
from layover.cli import batches
from layover.cli.batch_line import follow
from layover.cli.batches import code_of, print_batch
from layover.cli.deploy_plan import NodeNames, node_names
from layover.cli.doors import door_to_act
from layover.cli.execution_filters import NodeType, On, Resumed, StartedBy  # noqa: TC001 - cyclopts reads them
from layover.cli.exits import DONE, Stop
from layover.cli.json_argument import given_data
from layover.cli.options import HERE, At, By, Json, Reason, Roles, Target, acting
from layover.cli.screen import note
from layover.cli.where import filters_of

if TYPE_CHECKING:
    from layover import BatchHandle

Status = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]
_Ids = Annotated[
    tuple[str, ...],
    Parameter(name="--id", consume_multiple=False, negative="", show_default=False, help="This one; repeatable."),
]

batch = App(name="batch", help="One act on many items, with a dry run, a rate and a canary.")


@dataclass(frozen=True)
class HowToAct:
    """How a batch is done."""

    dry_run: Annotated[
        bool, Parameter(name="--dry-run", negative="", show_default=False, help="Count the items, and change nothing.")
    ] = False
    rate: Annotated[
        str | None, Parameter(name="--rate", show_default=False, help="How fast at most, such as 100/s or 20/m.")
    ] = None
    canary: Annotated[
        str | None,
        Parameter(
            name="--canary", show_default=False, help="Do this share first, such as 5%; the rest if none of it fails."
        ),
    ] = None
    watch: Annotated[
        str | None, Parameter(name="--watch", show_default=False, help="How long the canary is watched, such as 10m.")
    ] = None
    no_wait: Annotated[
        bool,
        Parameter(name="--no-wait", negative="", show_default=False, help="Return at once; the batch goes on."),
    ] = False
    by: By = ""
    roles: Roles = ()
    at: At = HERE
    json: Json = False


@dataclass(frozen=True)
class WhichExecutions:
    """Which executions a batch is for."""

    workflow: Annotated[str | None, Parameter(name="--workflow", help="Only executions of this workflow.")] = None
    status: Annotated[
        tuple[Status, ...],
        Parameter(
            name="--status",
            consume_multiple=False,
            negative="",
            show_default=False,
            help="Only executions with this status; repeatable. Default: those that the act fits.",
        ),
    ] = ()
    tag: Annotated[str | None, Parameter(name="--tag", help="Only executions with this tag.")] = None
    correlation_id: Annotated[
        str | None, Parameter(name="--correlation-id", help="Only executions with this correlation id.")
    ] = None
    error_code: Annotated[
        str | None, Parameter(name="--error-code", help="Only executions that failed with this code.")
    ] = None
    since: Annotated[
        str | None, Parameter(name="--since", help="Only those created at this moment or later, or 2d for ago.")
    ] = None
    until: Annotated[
        str | None, Parameter(name="--until", help="Only those created before this moment, or 2d for ago.")
    ] = None
    min_duration: Annotated[
        str | None, Parameter(name="--min-duration", help="Only ended executions that took at least so long.")
    ] = None
    max_duration: Annotated[
        str | None, Parameter(name="--max-duration", help="Only ended executions that took at most so long.")
    ] = None
    min_resumes: Annotated[
        int | None, Parameter(name="--min-resumes", help="Only executions that were resumed at least so often.")
    ] = None
    resumed: Resumed = None
    user: StartedBy = None
    on: On = ()
    node_type: NodeType = None
    q: Annotated[
        str | None, Parameter(name="--q", help="Only executions whose id or correlation id begins with this.")
    ] = None
    where: Annotated[
        tuple[str, ...],
        Parameter(
            name="--where",
            consume_multiple=False,
            negative="",
            show_default=False,
            help="Only those whose input has this value at this path, such as customer.tier=gold, or that fulfil a "
            "condition such as output.total>=12; repeatable.",
        ),
    ] = ()
    ids: _Ids = ()

    def chosen(self) -> dict[str, object]:
        """Return them as the interface has it."""
        found = {
            "workflow": self.workflow,
            "status": self.status,
            "tag": self.tag,
            **filters_of(self.where),
            "ids": self.ids,
            "correlation_id": self.correlation_id,
            "error_code": self.error_code,
            "since": self.since,
            "until": self.until,
            "min_duration": self.min_duration,
            "max_duration": self.max_duration,
            "min_resumes": self.min_resumes,
            "resumed": self.resumed,
            "user": self.user,
            "on": self.on,
            "node_type": self.node_type,
            "q": self.q,
        }
        return _given(**found)


How = Annotated[HowToAct, Parameter(name="*")]
Which = Annotated[WhichExecutions, Parameter(name="*")]
Data = Annotated[str | None, Parameter(name="--data", help="JSON, @file, or - for standard input.")]
To = Annotated[str, Parameter(name="--to", help="The node to go back to; in a scope, its context id.")]
Approved = Annotated[
    bool | None, Parameter(name="--approve", negative="--reject", show_default=False, help="Decide approvals.")
]
_OPTIONS: Final = {"execution_id": "execution", "trigger_id": "trigger"}  # by what the interface calls them
_AS_THEY_ARE: Final = HowToAct()
_ALL: Final = WhichExecutions()


@batch.command
def pause(*, which: Which = _ALL, reason: Reason = "", how: How = _AS_THEY_ARE) -> int:
    """Hold executions: nothing of them starts until they are resumed."""
    return _run("pause", which.chosen(), how, reason=reason or None)


@batch.command
def resume(*, which: Which = _ALL, data: Data = None, reason: Reason = "", how: How = _AS_THEY_ARE) -> int:
    """Let executions go on that were paused."""
    return _run("resume", which.chosen(), how, reason=reason or None, **_data(data))


@batch.command
def cancel(*, which: Which = _ALL, reason: Reason = "", how: How = _AS_THEY_ARE) -> int:
    """End executions."""
    return _run("cancel", which.chosen(), how, reason=reason or None)


@batch.command
def retry(*, which: Which = _ALL, reason: Reason = "", how: How = _AS_THEY_ARE) -> int:
    """Go on with failed executions from what failed."""
    return _run("retry", which.chosen(), how, reason=reason or None)


@batch.command
def rewind(*, to: To, which: Which = _ALL, reason: Reason = "", how: How = _AS_THEY_ARE) -> int:
    """Drop the results of a node and all after it, and go on from there."""
    return _run("rewind", which.chosen(), how, to=to, reason=reason or None)


@batch.command
def move(
    *,
    version: Annotated[int, Parameter(name="--version", help="The number of the version by which they go on.")],
    map_: NodeNames = (),
    which: Which = _ALL,
    reason: Reason = "",
    how: How = _AS_THEY_ARE,
) -> int:
    """Have open executions go on by another version of their workflow; those that cannot are skipped."""
    return _run("move", which.chosen(), how, version=version, map=node_names(map_), reason=reason or None)


@batch.command
def purge(*, which: Which = _ALL, how: How = _AS_THEY_ARE) -> int:
    """Delete executions that have ended, with everything that belongs to them."""
    return _run("purge", which.chosen(), how)


@batch.command
def answer(  # noqa: PLR0913 - each is an option
    *,
    workflow: Annotated[str | None, Parameter(help="Only pause points of this workflow.")] = None,
    node: Annotated[str | None, Parameter(help="Only pause points of this node.")] = None,
    ids: _Ids = (),
    data: Data = None,
    approved: Approved = None,
    comment: Annotated[str | None, Parameter(help="What to say with it.")] = None,
    how: How = _AS_THEY_ARE,
) -> int:
    """Answer open pause points of one node: forms with --data, approvals with --approve or --reject.

    One that shows something else by then than when the batch was made is skipped.
    """
    where = _given(workflow=workflow, node=node, ids=ids)
    return _run("answer", where, how, approved=approved, comment=comment, **_data(data))


@batch.command
def redeliver(
    *,
    state: Annotated[
        Literal["dead", "sent", "moot", "discarded"], Parameter(help="Only those in this state.", show_default=True)
    ] = "dead",
    destination: Annotated[str | None, Parameter(help="Only those for this destination.")] = None,
    execution: Annotated[str | None, Parameter(help="Only those that tell of this execution.")] = None,
    ids: _Ids = (),
    how: How = _AS_THEY_ARE,
) -> int:
    """Send settled deliveries once more, each under its id."""
    others = _given(destination=destination, execution=execution)
    for name in others if ids else ():
        raise Stop(f"--id: it names each item, and takes no filters: leave out --{name}.")
    where = _given(ids=ids) if ids else _given(state=state, destination=destination, execution_id=execution)
    return _run("redeliver", where, how)


@batch.command
def replay(
    *,
    trigger: Annotated[str, Parameter(help="The id of a trigger.")],
    ids: _Ids = (),
    how: How = _AS_THEY_ARE,
) -> int:
    """Try rejected inputs of a trigger once more."""
    return _run("replay", _given(trigger_id=trigger, ids=ids), how)


batch.command(batches.show)
batch.command(batches.items)
batch.command(batches.stop)
batch.command(batches.continue_, name="continue")
batch.command(batches.delete)


def _run(act: str, where: dict[str, object], how: HowToAct, **arguments: Any) -> int:
    """Make a batch, and wait until it is done."""
    if (how.canary is None) != (how.watch is None):
        raise Stop("A canary is watched for some time: give --canary and --watch together.")
    canary = {"share": how.canary, "watch": how.watch} if how.canary is not None else None

    async def made() -> BatchHandle:
        waits = not how.dry_run and await _is_driven(how.at) and not how.no_wait
        async with door_to_act(how.at, acting(how.at, how.by, how.roles)) as door:
            found = await door.batch(act, where, dry_run=how.dry_run, rate=how.rate, canary=canary, **arguments)
            if waits:
                await follow(found, silent=how.json)
            return found

    info = asyncio.run(made()).info
    print_batch(info, json=how.json)
    return code_of(info) if not how.no_wait else DONE


async def _is_driven(at: Target) -> bool:
    """Return whether an instance will do a batch; without one, say what would."""
    if at.server is not None or await running_instances(at.database):
        return True
    note("No instance has this database open: `layover worker` or `layover serve` does the batch.")
    return False


def _data(text: str | None) -> dict[str, object]:
    return {} if text is None else {"data": given_data(text, "--data")}


def _given(**chosen: object) -> dict[str, object]:
    """Return what was chosen. An empty text is a variable of a shell that is not set: without it, there is more."""
    for name, value in chosen.items():
        if value == "":
            option = _OPTIONS.get(name, name.replace("_", "-"))
            raise Stop(f"--{option}: it is empty. Give it a value, or leave it out.")
    return {name: value for name, value in chosen.items() if value not in (None, (), {})}
