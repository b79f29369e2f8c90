"""A cache of plans, compiled from the stored definitions; and which versions may be started."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from layover.core.plan import Plan, load
from layover.errors import NotFound, WrongState

if TYPE_CHECKING:
    from layover.ports.access import WorkflowStatus
    from layover.ports.store import Store

_MOST = 500
_STALE_AFTER = 1_000

GOES_ON: Final = "The workflow goes on."  # why what is held because its workflow was paused is resumed


class Startable(NamedTuple):
    """A version that may be started; if its workflow is paused (`held`), what starts is held from the beginning."""

    plan: Plan
    number: int
    held: WorkflowStatus | None = None


class _Known(NamedTuple):
    """The newest version of a workflow, and what was noted of the workflow, if anything was."""

    plan: Plan
    number: int
    status: WorkflowStatus | None
    since: int


class Plans:
    """The most recently used plans, by the hash of their definition."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.read = read_plan  # a simulation, in which many engines live shortly, reads each document once
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._latest: dict[str, _Known] = {}
        self._forgotten = 0

    async def startable(self, workflow: str, number: int | None, now: int) -> Startable:
        """Return the newest version of a workflow, or one by its number, if it may be started; else raise why not."""
        known = await self._known(workflow, now)
        if known is None or is_deleted(known.status):
            raise unknown_workflow(workflow)
        status = known.status
        if status is not None and status.state == "inactive":
            raise WrongState(
                f"The workflow `{workflow}` is not active{_because(status.reason)}",
                "inactive",
                code="workflow_inactive",
            )
        held = status if status is not None and status.state == "paused" else None
        if number is None or number == known.number:
            return Startable(known.plan, known.number, held)
        return Startable(await self.numbered(workflow, number), number, held)

    async def latest(self, workflow: str, now: int) -> Plan | None:
        """Return the plan of the newest version, unless the workflow is deleted.

        What another process has registered, or noted of the workflow, counts within a second.
        """
        known = await self._known(workflow, now)
        return None if known is None or is_deleted(known.status) else known.plan

    async def status(self, workflow: str, now: int) -> WorkflowStatus | None:
        """Return what was noted of a workflow, if anything was."""
        known = await self._known(workflow, now)
        return known.status if known is not None else None

    async def _known(self, workflow: str, now: int) -> _Known | None:
        found = self._latest.get(workflow)
        if found is not None and now - found.since < _STALE_AFTER:
            return found
        forgotten = self._forgotten
        version = await self._store.definitions.find_latest(workflow)
        if version is None:
            return None
        noted = await self._store.workflow_status.list_statuses([workflow])
        known = _Known(await self.of(version.hash), version.number, noted[0] if noted else None, now)
        if forgotten == self._forgotten:  # else what was read may be older than what has changed here
            self._latest[workflow] = known
        return known

    async def numbered(self, workflow: str, number: int) -> Plan:
        """Return the plan of a version by its number."""
        for version in await self._store.definitions.list_versions(workflow):
            if version.number == number:
                return await self.of(version.hash)
        raise NotFound(f"There is no version {number} of the workflow `{workflow}`.", code="unknown_version")

    def forget(self, workflow: str) -> None:
        """Read anew what is to be known of a workflow: something was just registered, or noted of it, here."""
        self._latest.pop(workflow, None)
        self._forgotten += 1

    def cache(self, plan: Plan) -> None:
        """Keep a plan that is known to be in the store."""
        self._plans[plan.hash] = plan
        self._plans.move_to_end(plan.hash)
        if len(self._plans) > _MOST:
            self._plans.popitem(last=False)

    async def of(self, hash_: str) -> Plan:
        """Return the plan of a version."""
        plan = self._plans.get(hash_)
        if plan is None:
            version = await self._store.definitions.find_by_hash(hash_)
            if version is None:
                raise NotFound(f"The store has no version {hash_} of any workflow.", code="unknown_version")
            plan = self.read(version.document)
            self.cache(plan)
        return plan


def read_plan(document: bytes) -> Plan:
    """Return the plan of a definition as the store keeps it."""
    return load(msgspec.json.decode(document), stored=True)


def is_deleted(status: WorkflowStatus | None) -> bool:
    """Return whether a workflow is deleted, by what was noted of it."""
    return status is not None and status.state == "deleted"


def unknown_workflow(workflow: str) -> NotFound:
    """Return the error for a workflow that does not exist."""
    return NotFound(f"There is no workflow `{workflow}`; register it first.", code="unknown_workflow")


def held_because(status: WorkflowStatus | None) -> str:
    """Return why an execution that begins is held: its workflow is paused. Nothing if it is not held."""
    return "" if status is None else f"{_held_by_a_pause_of(status.workflow)}{_because(status.reason)}"


def is_held_because(workflow: str, reason: str) -> bool:
    """Return whether that is why an execution is held: some pause of its workflow, however long ago."""
    return reason.startswith((f"{_held_by_a_pause_of(workflow)}:", f"{_held_by_a_pause_of(workflow)}."))


def _held_by_a_pause_of(workflow: str) -> str:
    return f"The workflow {workflow} is paused"


def _because(reason: str) -> str:
    return f": {reason}" if reason else "."
