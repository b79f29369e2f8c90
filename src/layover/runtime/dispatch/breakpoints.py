"""The breakpoints of workflows, as every execution that is driven here obeys them.

They are few and change seldom, so an instance reads all of them once in a while: what was set elsewhere counts within
a second.
"""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.service import Service

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Breakpoints:
    """Nodes before which executions pause, and why, by workflow."""

    def __init__(self, store: Store, clock: Clock, poll: int) -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._never = asyncio.Event()
        self._by_workflow: Mapping[str, Mapping[str, str]] = {}

    def of(self, workflow: str) -> Mapping[str, str]:
        """Return the breakpoints of a workflow as they were last read."""
        return self._by_workflow.get(workflow, _NONE)

    async def read(self) -> None:
        """Read them anew."""
        self._by_workflow = await self._store.workflow_status.read_breakpoints()

    async def run(self, service: Service) -> None:
        """Read them again and again; the service that runs this is cancelled when the instance stops."""
        while True:
            await self.read()
            service.succeeded()
            await self._clock.wait(self._clock.now() + self._poll, self._never)
