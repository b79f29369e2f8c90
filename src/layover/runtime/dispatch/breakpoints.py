"""The breakpoints of workflows, as every execution that is driven here obeys them.

They are few and change seldom. An instance that changes them tells the others, which read them anew, at most once in a
poll. What is not heard is found out after twenty polls.
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

_POLLS_AT_REST: Final = 20
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Breakpoints:
    """Nodes before which executions pause, and why, by workflow."""

    def __init__(self, store: Store, clock: Clock, poll: int) -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._hinted = asyncio.Event()
        self._by_workflow: Mapping[str, Mapping[str, str]] = {}

    def of(self, workflow: str) -> Mapping[str, str]:
        """Return the breakpoints of a workflow as they were last read."""
        return self._by_workflow.get(workflow, _NONE)

    async def read(self) -> None:
        """Read them anew."""
        self._by_workflow = await self._store.workflow_status.read_breakpoints()

    def hint(self) -> None:
        """Look whether they have changed."""
        self._hinted.set()

    async def run(self, service: Service) -> None:
        """Read them again and again; the service that runs this is cancelled when the instance stops."""
        while True:
            self._hinted.clear()
            await self.read()
            service.succeeded()
            read_at = self._clock.now()
            await self._clock.wait(read_at + _POLLS_AT_REST * self._poll, self._hinted)
            if self._clock.now() < read_at + self._poll:
                await self._clock.wait(read_at + self._poll, asyncio.Event())  # hints that come meanwhile are one
