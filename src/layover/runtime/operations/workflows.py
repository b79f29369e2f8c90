"""Registers definitions as versions of workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.authoring.workflow import Workflow
from layover.core.definitions.bounded import bounded
from layover.core.definitions.canonical import document
from layover.core.definitions.node_types import TYPES
from layover.core.plan import Plan, load
from layover.interface.sources import text_of
from layover.runtime.plans import unknown_workflow
from layover.runtime.triggers.registration import triggers_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from layover.ports.records import AuditRow, Version, WrittenText
    from layover.runtime.instance import Instance


class Workflows:
    """Registers workflows."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def register(
        self,
        definition: Workflow | Plan | Path | str | Mapping[str, object],
        *,
        functions: Collection[str] | None = None,
        audit: AuditRow | None = None,
        text: WrittenText | None = None,
    ) -> Version:
        """Keep a workflow: as built in Python, YAML or JSON text, the path of a file, a mapping, or a plan.

        Its version is returned; a `text` becomes that of the version. With `functions`, a node type that is
        neither built in nor among them is refused.
        """
        plan = await self.accepted(as_plan(definition, functions))
        instance = self._instance
        body = msgspec.json.encode(document(plan.definition))
        name = plan.definition.name
        now = instance.clock.now()
        triggers = triggers_of(plan, now)
        version = await instance.store.definitions.save(name, plan.hash, body, now, audit, triggers, text=text)
        instance.plans.cache(plan)
        instance.plans.forget(name)
        if triggers:
            instance.trigger_runner.changed()
        return version

    async def accepted(self, plan: Plan) -> Plan:
        """Return a plan as it is registered: containers over data that give no `max_iterations` get the default.

        What is the newest version of its workflow already stays as it is, whenever it was registered. A plan that
        declares secrets which its workflow may not have is refused.
        """
        self.check_secrets(plan)
        most = self._instance.settings.max_iterations
        limited = bounded(plan.definition, most) if most is not None else plan.definition
        if limited is plan.definition:
            return plan
        newest = await self._instance.store.definitions.find_latest(plan.definition.name)
        if newest is not None and newest.hash == plan.hash:
            return plan
        return load(document(limited))

    def check_secrets(self, plan: Plan) -> None:
        """Refuse a plan that declares secrets which its workflow may not have."""
        self._instance.secret_grants.require(plan.definition.name, plan.definition.secrets)

    async def plan_of(self, workflow: str) -> Plan:
        """Return the plan of the newest version of a workflow."""
        plan = await self._instance.plans.latest(workflow, self._instance.clock.now())
        if plan is None:
            raise unknown_workflow(workflow)
        return plan

    def known_types(self) -> frozenset[str]:
        """Return the node types that can be run here, built in or with a function, and the sources that are here."""
        registry = self._instance.registry
        return registry.names() | TYPES.keys() | registry.source_parameters().keys()


def as_plan(definition: Workflow | Plan | Path | str | Mapping[str, object], functions: Collection[str] | None) -> Plan:
    """Return a workflow as it can be run, however it is given."""
    if isinstance(definition, Path):
        return load(text_of(definition), functions=functions)
    if not isinstance(definition, Workflow | Plan):
        return load(definition, functions=functions)
    plan = definition.plan() if isinstance(definition, Workflow) else definition
    return plan if functions is None else load(document(plan.definition), functions=functions)
