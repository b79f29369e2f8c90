"""`layover plan`: what a new version would mean to the open executions of its workflow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from layover.cli.definitions import File  # noqa: TC001 - the annotations of commands are read
from layover.cli.doors import door_to_read
from layover.cli.exits import DONE, Stop
from layover.cli.options import HERE, At, Json
from layover.cli.screen import note, plural, print_json, print_table, say
from layover.cli.sources import sources
from layover.errors import NotFound

if TYPE_CHECKING:
    from layover import DeployGroup, DeployPlan

NodeNames = Annotated[
    tuple[str, ...],
    Parameter(
        name="--map",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="A node that has another id there, as old=new; repeatable.",
    ),
]


def plan_version(file: File, *, map_: NodeNames = (), at: At = HERE, json: Json = False) -> int:
    """Say what a new version would mean to the open executions of its workflow. Nothing is stored or changed.

    To move them, register the version and use `layover batch move`.
    """
    found = sources(file)
    if len(found) > 1:
        raise Stop(f"{file}: there are several workflows in it: name one as {file}:WORKFLOW.")
    source, names = found[0], node_names(map_)

    async def planned() -> DeployPlan:
        async with door_to_read(at) as door:
            given = source.workflow if source.workflow is not None else source.text.decode()
            plan = await door.plan(given, map=names, allow_unknown=True)
            if plan.version is None:
                try:
                    await door.workflow(plan.workflow)
                except NotFound:
                    note(
                        f"There is no workflow `{plan.workflow}` so far: executions of another name do not move to it."
                    )
            return plan

    plan = asyncio.run(planned())
    if json:
        print_json(plan)
    else:
        _print_plan(plan)
    return DONE


def node_names(given: tuple[str, ...]) -> dict[str, str]:
    """Return the new ids of nodes by their old ones."""
    names: dict[str, str] = {}
    for one in given:
        old, is_pair, new = one.partition("=")
        if not (is_pair and old and new):
            raise Stop(f"--map: {one!r} is not old=new.")
        if names.setdefault(old, new) != new:
            raise Stop(f"--map: `{old}` is given twice, and can become one node only.")
    return names


def _print_plan(plan: DeployPlan) -> None:
    which = f"version {plan.version}" if plan.version is not None else "this version, which is not registered yet"
    least = "at least " if plan.more else ""
    say(f"{plan.workflow}: {least}{plural(plan.total, 'open execution')}; {plan.can_move:,} could move to {which}.")
    if plan.groups:
        rows = [
            [
                one.kind,
                "yes" if one.can_move else "no",
                f"{one.count:,}",
                ", ".join(one.nodes),
                _told(one),
                one.sample[0],
            ]
            for one in plan.groups
        ]
        print_table([["KIND", "MOVES", "COUNT", "AT", "WHAT", "SUCH AS"], *rows])


def _told(group: DeployGroup) -> str:
    """Return what a move would do besides, or why there can be none."""
    told = [group.reason] if group.reason else []
    parts = (("asks again", group.asked_again), ("runs", group.runs), ("passes by", group.passed))
    told += [f"{what} {', '.join(nodes)}" for what, nodes in parts if nodes]
    return "; ".join(told)
