"""The engine: one instance, open for the length of an `async with`, with all operations and queries.

Every operation is durable before it returns. To stop, the engine claims no more, lets running calls end within a grace
period, and releases the rest for other instances.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from layover.errors import BadUse
from layover.logs.capture import start_capturing, stop_capturing
from layover.nodes.http_addresses import anywhere, is_public
from layover.nodes.http_node import HttpNode
from layover.nodes.registry import Registry
from layover.ports.errors import StoreError
from layover.redaction import add_hook, remove_hook
from layover.runtime.clock import Clock
from layover.runtime.deliveries.notifier_rules import with_notifiers
from layover.runtime.dispatch.lease_renewer import AFTER_FAILURE
from layover.runtime.dispatch.service import Service
from layover.runtime.instance import Instance
from layover.runtime.machine import Machine
from layover.runtime.operations.operations import Opened, Operations
from layover.runtime.settings import RuntimeSettings
from layover.tracing.current import outside_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from layover.metrics.distribution import Distribution
    from layover.nodes.notifier import NotifierFunction
    from layover.nodes.registry import AnyFunction
    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.runtime.batches.batch_acts import BatchActs
    from layover.runtime.dispatch.standby import StandbyRenewer
    from layover.runtime.dispatch.watchdog import Watchdog

_log = logging.getLogger("layover.engine")

_PURGER, _PROGRESS, _NODE_LOGS, _SENDER = "purger", "progress", "node_logs", "delivery_sender"
_BATCHES, _SEALER, _INDEXER = "batch_runner", "sealer", "indexer"
_NOT_NEEDED = frozenset({_PURGER, _PROGRESS, _NODE_LOGS, _SENDER, _SEALER, _BATCHES, _INDEXER})
_STOPPING = (signal.SIGINT, signal.SIGTERM)


class Runtime(Opened):
    """A durable workflow engine on a store."""

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        store: Store,
        *,
        nodes: Iterable[AnyFunction] = (),
        probes: Mapping[str, AnyFunction] | None = None,
        undos: Mapping[str, AnyFunction] | None = None,
        settings: RuntimeSettings | None = None,
        secrets: Iterable[Secrets] = (),
        clock: Clock | None = None,
        machine: Machine | None = None,
        batch_acts: Callable[[Opened], BatchActs] | None = None,
    ) -> None:
        self._store = store
        self._machine = machine if machine is not None else Machine()
        self._clock = clock if clock is not None else Clock(self._machine.running)
        self._settings = settings or RuntimeSettings()
        self._providers = tuple(secrets)
        self._registry = Registry()
        may_reach = anywhere if self._settings.http_private else is_public
        self._http = HttpNode(self._settings.http_timeout, may_reach, self._machine.connect)
        self._registry.add_object(self._http, "http")
        for function in nodes:
            self._registry.add(function)
        for name, probe in (probes or {}).items():
            self._registry.add_probe(name, probe)
        for name, undo in (undos or {}).items():
            self._registry.add_undo(name, undo)
        self._batch_acts = batch_acts
        self._services: list[Service] = []
        self._watchdog: Watchdog | None = None
        self._standby: StandbyRenewer | None = None

    def add_notifier(self, function: NotifierFunction[..., Any]) -> None:
        """Register a function as a destination, before the engine is opened."""
        if self._open is not None:
            raise BadUse(f"The notifier `{function.name}` comes too late: decorate it before the engine is opened.")
        self._registry.add_notifier(function)

    async def __aenter__(self) -> Self:
        with outside_spans():
            await self._begin()
        return self

    async def _begin(self) -> None:
        clock = self._clock
        settings = with_notifiers(self._settings, self._registry)
        instance = Instance(self._store, self._registry, settings, clock, self._machine, self._providers)
        await self._store.open(instance.id)
        await clock.ask(self._store)
        instance.opened_at = clock.now()
        await instance.breakpoints.read()
        self._open = Operations(instance)
        if self._settings.redact is not None:
            add_hook(self._settings.redact)
        instance.listen()
        self._watchdog = self._machine.watchdog(self._settings.blocked_after / 1000)
        self._standby = self._machine.standby(self._store, instance.leases)
        retry, service = self._settings.lease_ttl / 1000 / AFTER_FAILURE, partial(Service, chance=self._machine.chance)
        self._services = [
            service("claimer", instance.claimer.run),
            service("outbox_relay", instance.outbox_relay.run),
            service("lease_renewer", instance.lease_renewer.renew, first_pause=retry, longest_pause=retry),
            service("listener", instance.lease_renewer.listen),
            service("trigger_runner", instance.trigger_runner.run),
            service("breakpoints", instance.breakpoints.run),
            service(_SENDER, instance.delivery_sender.run),
            service(_PURGER, instance.purger.run),
            service(_SEALER, instance.sealer.run),
            service(_PROGRESS, instance.progress.run),
        ]
        if self._settings.search_index:
            self._services.append(service(_INDEXER, instance.indexer.run))
        if self._batch_acts is not None:
            instance.batch_runner.acts = self._batch_acts(self)
            self._services.append(service(_BATCHES, instance.batch_runner.run))
        if instance.node_logs is not None:
            start_capturing()
            self._services.append(service(_NODE_LOGS, instance.node_logs.run))
        _log.info(
            "engine_opened instance=%s poll=%d executions=%d calls=%d",
            *(instance.id, self._settings.poll, self._settings.executions, self._settings.calls),
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self, grace: float | None = None) -> None:
        """Stop claiming, let calls come to an end for a while (in seconds), and give back the rest.

        A store that does not answer holds this up for `store_grace` at most; then leases are left to run out.
        """
        if self._open is None:
            return
        instance, self._open = self._open.instance, None
        try:
            await self._stop(instance, grace)
        finally:
            instance.secrets.close()
            if self._settings.redact is not None:
                remove_hook(self._settings.redact)

    async def _stop(self, instance: Instance, grace: float | None) -> None:
        seconds = self._settings.grace / 1000 if grace is None else grace
        of_store = self._settings.store_grace / 1000
        instance.driver.stop()
        instance.claimer.stop()
        instance.trigger_runner.stop()
        instance.delivery_sender.halt()
        instance.batch_runner.stop()
        try:
            async with asyncio.timeout(seconds + of_store):
                await self._wind_down(instance, seconds)
        except TimeoutError:
            _log.warning("stop_cut_short instance=%s", instance.id)
            instance.node_runner.hurry()
            instance.node_runner.dismiss()
            instance.poller.dismiss()
            instance.delivery_sender.dismiss()
        finally:
            if instance.node_logs is not None:
                stop_capturing()
            for service in self._services:
                service.task.cancel()
            await asyncio.gather(*(service.task for service in self._services), return_exceptions=True)
            self._services.clear()
            await instance.store_gauges.stop()
            if self._watchdog is not None:
                self._watchdog.stop()
            if self._standby is not None:
                self._standby.stop()
            try:
                async with asyncio.timeout(of_store):
                    await self._store.close()
            except (TimeoutError, StoreError) as error:  # a stop does not wait for a store that is out of reach
                _log.warning("store_not_closed instance=%s", instance.id, exc_info=error)
            await self._http.close()
            instance.notifier_calls.stop()
            await instance.wires.close()
            _log.info("engine_closed instance=%s", instance.id)

    async def _wind_down(self, instance: Instance, grace: float) -> None:
        """Finish what is under way, in order, and give back everything."""
        for service in self._services:
            service.stop()
        claimer, outbox_relay, *_ = self._services
        await asyncio.wait([claimer.task])
        await instance.critical.drain()  # what was just claimed is driven, or given back, with the rest
        await asyncio.gather(instance.node_runner.stop(grace), instance.delivery_sender.stop(grace))
        await instance.poller.stop()
        instance.driver.flush()
        await instance.committer.stop()
        instance.outbox_relay.stop()
        await asyncio.wait([outbox_relay.task])
        await instance.committer.stop()  # what was delivered here may have led to more
        await instance.driver.release_all()
        instance.change_teller.flush()
        if instance.node_logs is not None:
            await instance.node_logs.flush()
        await instance.sealer.finish()

    @property
    def is_working(self) -> bool:
        """Whether it looks for work, and finds it if there is any."""
        if self._standby is not None and self._standby.has_let_go:
            return False
        if self._open is None or any(service.dead for service in self._services):
            return False
        # Those that only clean up or show something may fail for a while: the others can work without them.
        return not any(service.failures for service in self._services if service.name not in _NOT_NEEDED)

    @property
    def is_healthy(self) -> bool:
        """Whether another process in the place of this one could do no better; a store that is away is no reason."""
        if self._standby is not None and self._standby.has_let_go:
            return False
        longest = self._settings.unhealthy_after / 1000
        return not any(service.dead or service.faulty_for() > longest for service in self._services)

    @property
    def failing_services(self) -> dict[str, int]:
        """The services of this instance, each with how often it has failed in a row."""
        return {service.name: service.failures for service in self._services}

    @property
    def loop_lag(self) -> Distribution | None:
        """How long the event loop took to answer; None if nothing watches it."""
        return self._watchdog.lag if self._watchdog is not None else None

    async def serve(self) -> None:
        """Work until the process is told to stop (SIGINT, SIGTERM); told again, leave at once what is still running."""
        loop, asked = asyncio.get_running_loop(), asyncio.Event()
        node_runner = self.instance.node_runner

        def stop() -> None:
            if asked.is_set():
                node_runner.hurry()
            asked.set()

        for number in _STOPPING:
            loop.add_signal_handler(number, stop)
        try:
            await asked.wait()
            await self.stop()
        finally:
            for number in _STOPPING:
                loop.remove_signal_handler(number)
