"""What a new version of a workflow would mean to its open executions: a plan, by which nothing changes.

Executions are read page by page and counted in groups, so the memory that it takes depends on how many kinds of cases
there are, and that is bounded, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from layover.core.engine.moving import outlook
from layover.errors import NotFound
from layover.model.deploy_plans import DeployGroup, DeployPlan
from layover.ports.view_records import ExecutionFilter
from layover.runtime.execution.replay import batches
from layover.runtime.operations.mover import check_names, ids_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.engine.moving import Outlook
    from layover.core.engine.state import ExecutionStatus
    from layover.core.plan import Plan
    from layover.runtime.instance import Instance

MOST_LOOKED_AT: Final = 100_000
_PAGE: Final = 200
_SAMPLE: Final = 5
_MOST_GROUPS: Final = 100
_MOST_NODES: Final = 20  # that a group names
_OPEN: Final[tuple[ExecutionStatus, ...]] = ("pending", "running", "pausing", "waiting", "paused")
_ROUND: Final = re.compile(r"\.\d+(?=:|$)")
_ORDER: Final = ("gone", "moved", "changed", "same")


async def plan_deployment(
    instance: Instance, plan: Plan, names: Mapping[str, str], number: int | None, most: int = MOST_LOOKED_AT
) -> DeployPlan:
    """Return what a version would mean to the open executions of its workflow, the newest first."""
    check_names(plan, names)
    await _check_old_names(instance, plan.definition.name, names)
    groups: dict[tuple[object, ...], DeployGroup] = {}
    total, after = 0, None
    while True:
        wanted = ExecutionFilter(
            workflow=plan.definition.name, status=_OPEN, after=after, limit=min(_PAGE, most - total + 1)
        )
        rows = await instance.store.queries.list_executions(wanted)
        for some in batches(rows[: most - total]):
            for loaded in await instance.store.queries.load([row.head.execution_id for row in some]):
                if loaded is not None:  # else it was purged meanwhile
                    state = (await instance.driver.state_of(loaded)).state
                    if not state.facts.closed:
                        total += 1
                        _count(groups, loaded.head.execution_id, outlook(state, plan, names))
        if total >= most or len(rows) < wanted.limit:
            break
        after = (rows[-1].info.created_at, rows[-1].head.execution_id)
    found = sorted(groups.values(), key=lambda group: (group.can_move, _ORDER.index(group.kind), -group.count))
    return DeployPlan(
        workflow=plan.definition.name,
        version=number,
        hash=plan.hash,
        map=dict(names),
        total=total,
        more=total >= most and len(rows) > 0 and len(rows) >= wanted.limit,
        can_move=sum(group.count for group in found if group.can_move),
        groups=tuple(found),
    )


async def _check_old_names(instance: Instance, workflow: str, names: Mapping[str, str]) -> None:
    """Refuse names of nodes that no version of a workflow has, the newest first: they are typos.

    Open executions may be of any version, and those of which a name tells may have been moved already.
    """
    left = set(names)
    for version in reversed(await instance.store.definitions.list_versions(workflow) if left else []):
        left -= ids_in((await instance.plans.of(version.hash)).graph)
        if not left:
            return
    if left:
        text = f"No version of the workflow `{workflow}` has a node `{min(left):.100}` that could be mapped."
        raise NotFound(text, code="unknown_node")


def _count(groups: dict[tuple[object, ...], DeployGroup], id_: str, found: Outlook) -> None:
    made = DeployGroup(
        kind=found.kind,
        can_move=not found.code,
        code=found.code or None,
        reason=_anywhere(found.reason),
        nodes=_names(found.nodes),
        asked_again=_names(found.asked_again),
        runs=_names(found.ready),
        passed=_names(found.passed),
        count=1,
        sample=(id_,),
    )
    key: tuple[object, ...] = (made.kind, made.code, made.reason, made.nodes, made.asked_again, made.runs, made.passed)
    if key not in groups and len(groups) >= _MOST_GROUPS:
        made = DeployGroup(kind=found.kind, can_move=not found.code, code=found.code or None, count=1, sample=(id_,))
        key = (made.kind, made.code)
    known = groups.get(key)
    if known is not None:
        sample = (*known.sample, id_) if len(known.sample) < _SAMPLE else known.sample
        made = DeployGroup(
            **{name: getattr(known, name) for name in DeployGroup.__struct_fields__ if name not in ("count", "sample")},
            count=known.count + 1,
            sample=sample,
        )
    groups[key] = made


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return nodes by name, those of all rounds as one."""
    return tuple(sorted({_anywhere(name) for name in names}))[:_MOST_NODES]


def _anywhere(text: str) -> str:
    return _ROUND.sub(".*", text)
