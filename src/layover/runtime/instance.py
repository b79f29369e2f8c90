"""One running instance, assembled from its parts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.core.notify_rules import occasions_of
from layover.ports.hints import Hint, Hints
from layover.ports.read_times import ReadTimes
from layover.runtime.activity import Activity
from layover.runtime.audit.retention import AuditRetention
from layover.runtime.batches.batch_runner import BatchRunner
from layover.runtime.batches.collector import ItemCollector
from layover.runtime.calls.node_runner import NodeRunner
from layover.runtime.deliveries.delivery_sender import DeliverySender
from layover.runtime.deliveries.destinations import Destinations
from layover.runtime.deliveries.directory import PeopleFinder
from layover.runtime.deliveries.expander import DeliveryExpander
from layover.runtime.deliveries.function_wire import FunctionWire
from layover.runtime.deliveries.http_poster import HttpPoster
from layover.runtime.deliveries.mail_links import MailLinks
from layover.runtime.deliveries.wires import Wires
from layover.runtime.dispatch.active_executions import ActiveExecutions, Leases
from layover.runtime.dispatch.breakpoints import Breakpoints
from layover.runtime.dispatch.change_teller import ChangeTeller
from layover.runtime.dispatch.claim_schedule import ClaimSchedule
from layover.runtime.dispatch.claimer import Claimer
from layover.runtime.dispatch.committer import Committer
from layover.runtime.dispatch.critical_sections import CriticalSections
from layover.runtime.dispatch.driver import Driver
from layover.runtime.dispatch.indexer import Indexer
from layover.runtime.dispatch.lease_renewer import LeaseRenewer
from layover.runtime.dispatch.listeners import Listeners
from layover.runtime.dispatch.new_messages import NewMessages
from layover.runtime.dispatch.node_logs import NodeLogs
from layover.runtime.dispatch.outbox_relay import OutboxRelay
from layover.runtime.dispatch.progress_board import ProgressBoard
from layover.runtime.dispatch.purger import Purger
from layover.runtime.dispatch.quarantine import Quarantine
from layover.runtime.dispatch.releases import NoOthers, Releases
from layover.runtime.dispatch.resumer import Resumer
from layover.runtime.dispatch.sealer import Sealer
from layover.runtime.dispatch.signal_router import SignalRouter
from layover.runtime.execution.environment import Environment
from layover.runtime.metrics import Metrics
from layover.runtime.operations.signals import Signals
from layover.runtime.operations.starter import Starter
from layover.runtime.operations.workflow_status import WorkflowStatuses
from layover.runtime.plans import Plans
from layover.runtime.queries.lists import ExecutionLists
from layover.runtime.queries.log_views import LogViews
from layover.runtime.queries.node_index import NodeIndex
from layover.runtime.secrets.cached_secrets import CachedSecrets
from layover.runtime.secrets.call_secrets import SecretSource
from layover.runtime.secrets.grants import SecretGrants
from layover.runtime.store_gauges import StoreGauges
from layover.runtime.triggers.input_starter import InputStarter
from layover.runtime.triggers.notes import FilteredNotes
from layover.runtime.triggers.poll_arguments import PollArgumentMaker
from layover.runtime.triggers.poller import Poller
from layover.runtime.triggers.schedule_claimer import ScheduleClaimer
from layover.runtime.triggers.signal_inputs import SignalInputs
from layover.runtime.triggers.source_calls import MOST_AT_ONCE, SourceCalls
from layover.runtime.triggers.trigger_errors import TriggerErrors
from layover.runtime.triggers.trigger_runner import TriggerRunner
from layover.runtime.triggers.webhooks import Webhooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.nodes.registry import Registry
    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.releases import Others
    from layover.runtime.machine import Machine
    from layover.runtime.settings import RuntimeSettings


class Instance:
    """The parts of one running instance, put together."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        settings: RuntimeSettings,
        clock: Clock,
        machine: Machine,
        providers: Sequence[Secrets] = (),
    ) -> None:
        self.id = machine.name()
        self.machine = machine
        self.store = store
        self.settings = settings
        self.clock = clock
        self.registry = registry
        self.secrets = CachedSecrets(providers, clock.running)
        self.secret_grants = SecretGrants(settings.allow_secrets)
        self.plans = Plans(store)
        self.log_views = LogViews(store, settings.log_view_bytes)
        self.metrics = Metrics()
        self.tracer = machine.tracer()
        self.store_gauges, self.activity = StoreGauges(store, clock), Activity(store, clock)
        self.opened_at: int | None = None  # since when it drives executions; None if it only looks or acts
        if isinstance(store, ReadTimes):
            store.time_reads(self.metrics.read)
        self.critical = CriticalSections()
        self.committer = Committer(store, self.metrics, settings.commit_bytes)
        others: Others = store if isinstance(store, Hints) else NoOthers()
        schedule, messages, active = ClaimSchedule(registry), NewMessages(), ActiveExecutions()
        self.leases = Leases(self.id, active, clock, settings)
        self.lease_renewer = LeaseRenewer(store, self.leases, machine.pause)
        self.change_teller = ChangeTeller(others)
        self.listeners = Listeners(
            store, active.own_head, longest_pause=settings.wait_poll, change_teller=self.change_teller
        )
        self.node_runner = NodeRunner(registry, settings, clock, machine, schedule, self.metrics)
        self.node_runner.secrets = SecretSource(self.secrets, self.secret_grants)
        self.breakpoints = Breakpoints(store, clock, settings.poll)
        quarantine = Quarantine(active, clock, settings, schedule, machine.chance)
        releases = Releases(self.id, store, clock, self.listeners, quarantine, others)
        environment = Environment(
            instance=self.id,
            loop=asyncio.get_running_loop(),
            clock=clock,
            settings=settings,
            committer=self.committer,
            node_runner=self.node_runner,
            leases=self.lease_renewer,
            metrics=self.metrics,
            waited_for=self.listeners,
            secret=machine.secret,
            breakpoints=self.breakpoints,
            tracer=self.tracer,
            occasions=occasions_of(settings.notify),
        )
        self.driver = Driver(
            environment,
            store=store,
            plans=self.plans,
            active=active,
            quarantine=quarantine,
            releases=releases,
            listeners=self.listeners,
            schedule=schedule,
            messages=messages,
            others=others,
        )
        self.progress = ProgressBoard(store, clock, active.calls_of)
        self.node_runner.reports = self.progress
        self.node_logs: NodeLogs | None = None
        if settings.node_logs:
            self.node_logs = NodeLogs(store, clock, machine.ids, settings.node_log_bytes)
            self.node_runner.line_keeper = self.node_logs
        self.resumer = Resumer(store, self.driver, self.node_runner, quarantine, releases)
        self.starter = Starter(store, self.driver, self.plans)
        self.signal_router = SignalRouter(store, self.driver, self.tracer)
        self.signals = Signals(store, clock, machine.ids, self.signal_router)
        self._assemble_triggers(others)
        self.outbox_relay = OutboxRelay(store, self.driver, messages, self.starter, self.signal_router)
        self._assemble_deliveries(messages)
        self.claimer = Claimer(store, self.driver, self.resumer, schedule, registry, self.metrics)
        self._assemble_upkeep()
        self.item_collector = ItemCollector(store, ExecutionLists(self))
        self.batch_runner = BatchRunner(store, clock, settings, self.item_collector, self.metrics)
        self._looks: set[asyncio.Task[None]] = set()

    def _assemble_upkeep(self) -> None:
        """Put together what works behind the executions: it purges, seals and indexes; and what is known of nodes."""
        store, clock, settings, machine = self.store, self.clock, self.settings, self.machine
        audit_retention = AuditRetention(store, self.secrets, machine, self.id)
        self.purger = Purger(store, self.driver, self.plans, audit_retention)
        self.sealer = Sealer(store, clock, self.secrets, machine.secret, settings.audit_poll)
        self.indexer = Indexer(store, self.driver, self.plans, self.log_views, machine)
        self.driver.on_rest = self.indexer.hint
        self.node_index = NodeIndex(store, self.plans)

    def _assemble_triggers(self, others: Others) -> None:
        """Put together what serves triggers, and the pauses of workflows that end by themselves."""
        store, clock = self.store, self.clock
        claimer = ScheduleClaimer(store, self.plans)
        errors = TriggerErrors(store, self.plans, self.settings)
        input_starter = InputStarter(store, self.driver, self.plans, self.starter, self.signals)
        self.trigger_runner = TriggerRunner(
            store, clock, self.settings, claimer, input_starter, self.metrics, errors=errors
        )
        self.trigger_runner.others = others
        self.workflow_status = WorkflowStatuses(store, self.driver, self.plans, clock, self.trigger_runner.changed)
        self.trigger_runner.workflows = self.signal_router.workflows = self.workflow_status
        self.filtered_inputs = FilteredNotes()
        self.poller = Poller(
            name=self.id,
            store=store,
            clock=clock,
            settings=self.settings,
            registry=self.registry,
            claimer=claimer,
            errors=errors,
            arguments=PollArgumentMaker(self.plans, SecretSource(self.secrets, self.secret_grants)),
            threads=self.machine.threads(MOST_AT_ONCE, MOST_AT_ONCE, _nothing),
            metrics=self.metrics,
            runner=self.trigger_runner,
            notes=self.filtered_inputs,
        )
        self.trigger_runner.poller = self.poller
        self.signal_router.triggers = SignalInputs(
            store, clock, claimer, self.trigger_runner, self.metrics, self.filtered_inputs
        )
        self.webhooks = Webhooks(self, claimer)

    def _assemble_deliveries(self, messages: NewMessages) -> None:
        """Put together what makes deliveries of occasions, and what sends them."""
        store, settings, machine = self.store, self.settings, self.machine
        threads = machine.threads(MOST_AT_ONCE, MOST_AT_ONCE, _nothing)
        self.notifier_calls = SourceCalls(self.clock, threads, "notifier")
        poster = HttpPoster(private=settings.http_private, connect=machine.connect)
        self.wires = Wires(poster, FunctionWire(self.registry, self.notifier_calls))
        destinations = Destinations(store.deliveries, self.registry, settings.destinations)
        self.directory = PeopleFinder(store.people, settings.directory)
        links = MailLinks(store, self.clock, settings)
        self.delivery_sender = DeliverySender(
            store=store,
            clock=self.clock,
            settings=settings,
            destinations=destinations,
            wire=machine.wire if machine.wire is not None else self.wires,
            secrets=self.secrets,
            grants=self.secret_grants,
            chance=machine.chance,
            metrics=self.metrics,
            told=messages.look,
            links=links,
        )
        self.outbox_relay.expander = DeliveryExpander(
            store=store,
            plans=self.plans,
            clock=self.clock,
            settings=settings,
            destinations=destinations,
            directory=self.directory,
            sender=self.delivery_sender,
            links=links,
        )

    def listen(self) -> None:
        """Hear what other instances tell, if there is a way to them."""
        if isinstance(self.store, Hints):
            self.store.listen(self._hear)

    def follow_changes(self) -> None:
        """Ask to hear of each execution that changes, for a while."""
        if isinstance(self.store, Hints):
            self.store.tell(Hint(kind="follow"))

    def _hear(self, hint: Hint) -> None:
        match hint.kind:
            case "due":
                self.driver.hint(0)
            case "trigger":
                self.trigger_runner.hint()
                self.breakpoints.hint()
            case "follow":
                self.change_teller.follow()
            case "rest" | "change":
                self.listeners.changed(hint.execution_id)
            case "command" if hint.execution_id in self.driver.active:
                look = asyncio.get_running_loop().create_task(self.lease_renewer.look([hint.execution_id]))
                self._looks.add(look)
                look.add_done_callback(self._looks.discard)
            case _:
                pass  # it is for another instance


def _nothing() -> None:
    """A thread that a source held is free again: the next poll takes it."""
