"""Plans of workflow versions, made once from the definitions that the store keeps."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

from layover.core.errors import LayoverError
from layover.core.plan import Plan, load

if TYPE_CHECKING:
    from layover.ports.store import Store

_MOST = 500
_STALE_AFTER = 1_000


class UnknownVersion(LayoverError):  # noqa: N818 - it says what the version is
    """A version of a workflow that the store does not have."""

    code = "unknown_version"


class Plans:
    """The plans that were used last, by the hash of their definition."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._latest: dict[str, tuple[Plan, int]] = {}

    async def latest(self, workflow: str, now: int) -> Plan | None:
        """Return the plan of the newest version; one that another process has registered counts within a second."""
        found = self._latest.get(workflow)
        if found is not None and now - found[1] < _STALE_AFTER:
            return found[0]
        version = await self._store.latest(workflow)
        if version is None:
            return None
        plan = await self.of(version.hash)
        self._latest[workflow] = (plan, now)
        return plan

    async def numbered(self, workflow: str, number: int) -> Plan | None:
        """Return the plan of a version by its number."""
        for version in await self._store.versions(workflow):
            if version.number == number:
                return await self.of(version.hash)
        return None

    def renew(self, plan: Plan, now: int) -> None:
        """Keep a plan that was just registered as the newest of its workflow."""
        self.keep(plan)
        self._latest[plan.definition.name] = (plan, now)

    def keep(self, plan: Plan) -> None:
        """Keep a plan that is known to be in the store."""
        self._plans[plan.hash] = plan
        self._plans.move_to_end(plan.hash)
        if len(self._plans) > _MOST:
            self._plans.popitem(last=False)

    async def of(self, hash_: str) -> Plan:
        """Return the plan of a version."""
        plan = self._plans.get(hash_)
        if plan is None:
            version = await self._store.version(hash_)
            if version is None:
                raise UnknownVersion(f"The store has no version {hash_} of any workflow.")
            plan = load(msgspec.json.decode(version.document))
            self.keep(plan)
        return plan
