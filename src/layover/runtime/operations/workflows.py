"""Registers functions as node types, and definitions as versions of workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.authoring.workflow import Workflow
from layover.core.definitions.bounded import bounded
from layover.core.definitions.canonical import document
from layover.core.definitions.node_types import TYPES
from layover.core.plan import Plan, load
from layover.runtime.instance import Opened
from layover.runtime.plans import unknown_workflow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from layover.ports.records import AuditEntry, Version


class Workflows(Opened):
    """The operations of an engine that register functions and workflows."""

    async def register(
        self,
        definition: Workflow | Plan | Path | str | Mapping[str, object],
        *,
        functions: Collection[str] | None = None,
        audit: AuditEntry | None = None,
    ) -> Version:
        """Keep a workflow: as built in Python, YAML or JSON text, the path of a file, a mapping, or a plan.

        Its version is returned. With `functions`, a node type that is neither built in nor among them is refused.
        """
        plan = await self.accepted(as_plan(definition, functions))
        instance = self.instance
        body = msgspec.json.encode(document(plan.definition))
        name = plan.definition.name
        version = await instance.store.save_version(name, plan.hash, body, instance.clock.now(), audit)
        instance.plans.keep(plan)
        instance.plans.forget(name)
        return version

    async def accepted(self, plan: Plan) -> Plan:
        """Return a plan as it is registered: containers over data that give no `max_iterations` get the default.

        What is the newest version of its workflow already stays as it is, whenever it was registered.
        """
        most = self.instance.settings.max_iterations
        limited = bounded(plan.definition, most) if most is not None else plan.definition
        if limited is plan.definition:
            return plan
        newest = await self.instance.store.latest(plan.definition.name)
        if newest is not None and newest.hash == plan.hash:
            return plan
        return load(document(limited))

    async def plan_of(self, workflow: str) -> Plan:
        """Return the plan of the newest version of a workflow."""
        plan = await self.instance.plans.latest(workflow, self.instance.clock.now())
        if plan is None:
            raise unknown_workflow(workflow)
        return plan

    def known_types(self) -> frozenset[str]:
        """Return the node types that can be run here: those that are built in, and those that have a function."""
        return self.instance.registry.names() | TYPES.keys()


def as_plan(definition: Workflow | Plan | Path | str | Mapping[str, object], functions: Collection[str] | None) -> Plan:
    """Return a workflow as it can be run, however it is given."""
    if isinstance(definition, Path):
        return load(definition.read_text(encoding="utf-8"), functions=functions)
    if not isinstance(definition, Workflow | Plan):
        return load(definition, functions=functions)
    plan = definition.plan() if isinstance(definition, Workflow) else definition
    return plan if functions is None else load(document(plan.definition), functions=functions)
