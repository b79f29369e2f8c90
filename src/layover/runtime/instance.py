"""One running instance, assembled from its parts, and the base of everything that needs one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.ports.hints import Hints
from layover.runtime.calls.node_runner import NodeRunner
from layover.runtime.dispatch.claimer import Claimer
from layover.runtime.dispatch.committer import Committer
from layover.runtime.dispatch.critical_sections import CriticalSections
from layover.runtime.dispatch.driver import Driver
from layover.runtime.dispatch.lease_renewer import LeaseRenewer
from layover.runtime.dispatch.listeners import Listeners
from layover.runtime.dispatch.outbox_relay import OutboxRelay
from layover.runtime.dispatch.purger import Purger
from layover.runtime.dispatch.signal_router import SignalRouter
from layover.runtime.errors import EngineClosed
from layover.runtime.metrics import Metrics
from layover.runtime.operations.starter import Starter
from layover.runtime.plans import Plans
from layover.runtime.queries.log_views import LogViews

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.ports.hints import Hint
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.machine import Machine
    from layover.runtime.settings import Settings


class Instance:
    """The parts of one running instance, put together."""

    def __init__(self, store: Store, registry: Registry, settings: Settings, clock: Clock, machine: Machine) -> None:
        self.id = machine.name()
        self.machine = machine
        self.store = store
        self.settings = settings
        self.clock = clock
        self.registry = registry
        self.plans = Plans(store)
        self.listeners = Listeners(store, longest_pause=settings.wait_poll)
        self.log_views = LogViews(store, settings.log_view_bytes)
        self.metrics = Metrics()
        self.critical = CriticalSections()
        self.committer = Committer(store, self.metrics, settings.commit_bytes)
        self.node_runner = NodeRunner(registry, settings, clock, machine)
        self.driver = Driver(
            instance=self.id,
            store=store,
            machine=machine,
            clock=clock,
            settings=settings,
            committer=self.committer,
            node_runner=self.node_runner,
            listeners=self.listeners,
            plans=self.plans,
            metrics=self.metrics,
        )
        self.listeners.own_head = self.driver.own_head
        self.starter = Starter(store, self.driver, self.plans)
        self.signal_router = SignalRouter(store, self.driver)
        self.outbox_relay = OutboxRelay(store, self.driver, self.starter, self.signal_router)
        self.claimer = Claimer(store, self.driver, registry, self.metrics)
        self.lease_renewer = LeaseRenewer(store, self.driver)
        self.purger = Purger(store, self.driver, self.plans)
        self._looks: set[asyncio.Task[None]] = set()
        if isinstance(store, Hints):
            self.driver.on_hint = store.tell

    def listen(self) -> None:
        """Hear what other instances tell, if there is a way to them."""
        if isinstance(self.store, Hints):
            self.store.listen(self._hear)

    def _hear(self, hint: Hint) -> None:
        match hint.kind:
            case "due":
                self.driver.hint(0)
            case "rest":
                self.listeners.changed(hint.execution_id)
            case "command" if hint.execution_id in self.driver.active:
                look = asyncio.get_running_loop().create_task(self.lease_renewer.look([hint.execution_id]))
                self._looks.add(look)
                look.add_done_callback(self._looks.discard)
            case _:
                pass  # it is for somebody else


class Opened:
    """Something that has an instance while it is open."""

    _running: Instance | None = None

    @property
    def instance(self) -> Instance:
        """The running instance."""
        if self._running is None:
            raise EngineClosed("The engine is not open: use `async with Engine(...) as engine`.")
        return self._running
