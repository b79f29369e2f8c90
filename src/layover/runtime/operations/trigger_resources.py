"""Triggers that belong to no definition: made, replaced and deleted by themselves; and the tokens in addresses.

Such a trigger starts the newest version of its workflow. A token is made when its webhook is, and shown that once; a
webhook without one, because its instance died before it was made, gets one when it is registered again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from layover.core.definitions.canonical import part_document
from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.core.ids import trigger_id
from layover.core.webhooks import new_hook_token, token_hash
from layover.errors import AlreadyExists, NotFound, WrongState
from layover.ports.trigger_records import REMOVED, NewToken, TriggerSave, TriggerToken
from layover.runtime.plans import unknown_workflow
from layover.runtime.triggers.planned import checked_trigger, needs_token, planned_of
from layover.runtime.triggers.registration import new_trigger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.core.definitions.model import TriggerDefinition
    from layover.core.plan import Plan
    from layover.ports.records import AuditRow
    from layover.ports.trigger_records import TriggerRow, TriggerSaved
    from layover.runtime.instance import Instance
    from layover.runtime.operations.workflows import Workflows

_MOST = 1_000  # rows of a workflow that are looked at, removed ones among them


class MadeTrigger(NamedTuple):
    """A trigger, and the address of its webhook if a token was made for it."""

    row: TriggerRow
    address: str | None = None


class TriggerResources:
    """Saves triggers by themselves, and makes tokens."""

    def __init__(self, instance: Instance, workflows: Workflows) -> None:
        self._instance = instance
        self._workflows = workflows
        self._store = instance.store

    async def create(
        self, workflow: str, given: Mapping[str, object], audit: AuditRow | None, *, allow_unknown: bool = False
    ) -> MadeTrigger:
        """Make a trigger; AlreadyExists if the workflow has one of this name."""
        trigger = await self._checked(workflow, given, allow_unknown=allow_unknown)
        return await self._saved(workflow, trigger, audit, create=True)

    async def replace(
        self, row: TriggerRow, given: Mapping[str, object], audit: AuditRow | None, *, allow_unknown: bool = False
    ) -> MadeTrigger:
        """Replace a trigger by another one of its name; it goes on where it was."""
        _check_owner(row)
        named = {"name": row.name, **given}
        if named["name"] != row.name:
            message = f"The trigger is called `{row.name}`: make another one, and delete this."
            raise InvalidDefinition([Problem(code="other_name", path="$.name", message=message)])
        trigger = await self._checked(row.workflow, named, allow_unknown=allow_unknown)
        return await self._saved(row.workflow, trigger, audit, create=False)

    async def delete(self, row: TriggerRow, audit: AuditRow | None) -> None:
        """Stop a trigger, and forget its tokens; one that is deleted stays so."""
        _check_owner(row)
        save = TriggerSave(
            workflow=row.workflow, trigger_id=row.id, create=False, at=self._instance.clock.now(), audit=audit
        )
        _check(await self._store.triggers.save(save), row.workflow, row.name)

    async def rotate_token(self, row: TriggerRow, grace: int, audit: AuditRow | None) -> MadeTrigger:
        """Make a token in the place of others, which end after some milliseconds."""
        plan = await self._plan(row.workflow)
        planned = planned_of(plan, row)
        if planned is None or not needs_token(planned.trigger):
            raise WrongState("The trigger is no webhook with `scheme: token`.", row.state, code="no_token")
        now = self._instance.clock.now()
        return MadeTrigger(row, await self._make_token(row.id, now, now + grace if grace else now - 1, audit))

    async def first_tokens(self, plan: Plan) -> dict[str, str]:
        """Make tokens for the webhooks of a definition that have none; return their addresses by name."""
        found: dict[str, str] = {}
        for trigger in plan.definition.triggers:
            if needs_token(trigger):
                id_ = trigger_id(plan.definition.name, trigger.name)
                address = await self._make_token(id_, self._instance.clock.now(), None, None)
                if address is not None:
                    found[trigger.name] = address
        return found

    # Taken along

    async def export(self, workflows: Sequence[str]) -> list[dict[str, object]]:
        """Return the triggers of workflows that belong to no definition."""
        found: list[dict[str, object]] = []
        for workflow in workflows:
            rows = await self._store.triggers.list_triggers(workflow, limit=_MOST)
            alone = [row for row in rows if not row.managed and row.reason != REMOVED]
            found += [{"workflow": workflow, **msgspec.json.decode(row.config)} for row in alone]
        return found

    async def check_import(
        self, plans: Sequence[Plan], triggers: Sequence[Mapping[str, object]], *, allow_unknown: bool
    ) -> None:
        """Refuse triggers that cannot be used beside definitions which are not stored yet."""
        new = {plan.definition.name: plan for plan in plans}
        known = None if allow_unknown else self._workflows.known_types()
        for index, given in enumerate(triggers):
            workflow, trigger = _parted(given)
            plan = new.get(workflow) or await self._plan(workflow)
            others = [part_document(one) for one in plan.definition.triggers]
            if trigger.get("name") in {one["name"] for one in others}:
                raise _taken(workflow, str(trigger["name"]))
            try:
                checked_trigger(plan, others, trigger, known)
            except InvalidDefinition as error:
                here = f"$.triggers[{index}]"
                raise InvalidDefinition(
                    [msgspec.structs.replace(one, path=f"{here}{one.path[1:]}") for one in error.problems]
                ) from error

    async def import_(
        self, triggers: Sequence[Mapping[str, object]], audits: Sequence[AuditRow | None]
    ) -> dict[str, dict[str, str]]:
        """Make or replace triggers; return the addresses that were made, by workflow and name."""
        found: dict[str, dict[str, str]] = {}
        for given, audit in zip(triggers, audits, strict=True):
            workflow, trigger = _parted(given)
            name = str(trigger["name"])
            row = await self._store.triggers.find(trigger_id(workflow, name))
            if row is None or row.reason == REMOVED:
                made = await self.create(workflow, trigger, audit, allow_unknown=True)
            else:
                made = await self.replace(row, trigger, audit, allow_unknown=True)
            if made.address is not None:
                found.setdefault(workflow, {})[name] = made.address
        return found

    async def _make_token(self, trigger: str, now: int, others_until: int | None, audit: AuditRow | None) -> str | None:
        token = new_hook_token(self._instance.machine.secret)
        stored = TriggerToken(hash=token_hash(token), trigger_id=trigger, made_at=now)
        is_kept = await self._store.triggers.add_token(NewToken(token=stored, others_until=others_until, audit=audit))
        return f"/hooks/t/{token}" if is_kept else None

    async def _saved(
        self, workflow: str, trigger: TriggerDefinition, audit: AuditRow | None, *, create: bool
    ) -> MadeTrigger:
        now = self._instance.clock.now()
        new = new_trigger(workflow, trigger, now)
        save = TriggerSave(workflow=workflow, trigger_id=new.id, create=create, new=new, at=now, audit=audit)
        row = _check(await self._store.triggers.save(save), workflow, trigger.name)
        address = await self._make_token(row.id, now, None, None) if needs_token(trigger) else None
        self._instance.trigger_runner.changed()
        return MadeTrigger(row, address)

    async def _checked(self, workflow: str, given: Mapping[str, object], *, allow_unknown: bool) -> TriggerDefinition:
        """Return a trigger, checked beside those that its workflow has."""
        plan, name = await self._plan(workflow), given.get("name")
        rows = await self._store.triggers.list_triggers(workflow, limit=_MOST)
        others = [row for row in rows if row.name != name and row.reason != REMOVED]
        known = None if allow_unknown else self._workflows.known_types()
        return checked_trigger(plan, [msgspec.json.decode(row.config) for row in others], given, known)

    async def _plan(self, workflow: str) -> Plan:
        plan = await self._instance.plans.latest(workflow, self._instance.clock.now())
        if plan is None:
            raise unknown_workflow(workflow)
        return plan


def _parted(given: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the workflow of a trigger in a bundle, and the trigger itself."""
    return str(given.get("workflow", "")), {name: value for name, value in given.items() if name != "workflow"}


def _check_owner(row: TriggerRow) -> None:
    if row.managed:
        raise _managed(row.workflow, row.name)


def _check(saved: TriggerSaved, workflow: str, name: str) -> TriggerRow:
    if saved.verdict == "taken":
        raise _taken(workflow, name)
    if saved.verdict == "managed":
        raise _managed(workflow, name)
    if saved.row is None:
        raise NotFound(f"The trigger `{workflow}/{name}` is deleted.", code="unknown_trigger")
    return saved.row


def _taken(workflow: str, name: str) -> AlreadyExists:
    return AlreadyExists(f"There is a trigger `{workflow}/{name}` already.", code="trigger_path_conflict")


def _managed(workflow: str, name: str) -> WrongState:
    message = f"`{name}` belongs to the definition of `{workflow}`: change it there, and register that."
    return WrongState(message, "active", code="managed_by_definition")
