"""Registering: functions become node types, definitions become versions of workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.authoring.workflow import Workflow
from layover.core.definitions.canonical import document
from layover.core.plan import Plan, load
from layover.runtime.errors import UnknownWorkflow
from layover.runtime.instance import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.ports.records import Version


class Workflows(Opened):
    """What an engine knows how to run."""

    async def register(self, definition: Workflow | Plan | Path | str | Mapping[str, object]) -> Version:
        """Keep a workflow: as built in Python, YAML or JSON text, the path of a file, a mapping, or a plan.

        Its version is returned.
        """
        plan = _plan_of(definition)
        instance = self.instance
        body = msgspec.json.encode(document(plan.definition))
        name = plan.definition.name
        version = await instance.store.save_version(name, plan.hash, body, instance.clock.now())
        instance.plans.renew(plan, instance.clock.now())
        return version

    async def plan_of(self, workflow: str) -> Plan:
        """Return the plan of the newest version of a workflow."""
        plan = await self.instance.plans.latest(workflow, self.instance.clock.now())
        if plan is None:
            raise UnknownWorkflow(f"There is no workflow `{workflow}`; register it first.")
        return plan


def _plan_of(definition: Workflow | Plan | Path | str | Mapping[str, object]) -> Plan:
    if isinstance(definition, Plan):
        return definition
    if isinstance(definition, Workflow):
        return definition.plan()
    if isinstance(definition, Path):
        return load(definition.read_text(encoding="utf-8"))
    return load(definition)
