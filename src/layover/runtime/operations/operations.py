"""The operations and queries of a running instance, each family a class of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.errors import Closed
from layover.runtime.examination.examiner import Examiner
from layover.runtime.operations.answers import Answers
from layover.runtime.operations.callbacks import Callbacks
from layover.runtime.operations.command_sender import CommandSender, CommandWaits
from layover.runtime.operations.control import Control
from layover.runtime.operations.deliveries import Deliveries
from layover.runtime.operations.executions import Executions
from layover.runtime.operations.forks import Forks
from layover.runtime.operations.mover import Mover
from layover.runtime.operations.people import PeopleTable
from layover.runtime.operations.reopener import Reopener
from layover.runtime.operations.trigger_resources import TriggerResources
from layover.runtime.operations.triggers import Triggers
from layover.runtime.operations.workflows import Workflows
from layover.runtime.queries.lists import ExecutionLists
from layover.runtime.queries.points import PointQueries
from layover.runtime.queries.queries import Queries

if TYPE_CHECKING:
    from layover.runtime.instance import Instance
    from layover.runtime.operations.command_sender import AppliedWait
    from layover.runtime.operations.signals import Signals
    from layover.runtime.operations.workflow_status import WorkflowStatuses
    from layover.tracing.tracer import Tracer


class Operations:
    """The families of operations and queries of one instance, put together."""

    def __init__(self, instance: Instance, applied: AppliedWait | None = None) -> None:
        store, driver = instance.store, instance.driver
        self.instance = instance
        self.queries = Queries(instance)
        self.lists = ExecutionLists(instance)
        self.points = PointQueries(store, driver, self.queries)
        waits = CommandWaits(instance.listeners, instance.settings.act_wait / 1000)
        sender = CommandSender(store, driver, self.queries, applied if applied is not None else waits)
        self.executions = Executions(instance, self.queries, self.points)
        self.mover = Mover(instance, self.queries, sender, waits)
        self.control = Control(instance, self.queries, sender, Reopener(instance, self.queries, sender, waits))
        self.forks = Forks(instance, self.queries, self.executions)
        self.answers = Answers(instance, self.queries, sender)
        self.signals = instance.signals
        self.callbacks = Callbacks(store, driver)
        self.workflows = Workflows(instance)
        self.workflow_status = instance.workflow_status
        self.triggers = Triggers(instance)
        self.trigger_resources = TriggerResources(instance, self.workflows)
        self.deliveries = Deliveries(instance, instance.delivery_sender)
        self.people = PeopleTable(instance, instance.directory)
        self.examiner = Examiner(self)


class Opened:
    """Something that has an instance and its operations while it is open."""

    _open: Operations | None = None

    @property
    def operations(self) -> Operations:
        """The operations of the running instance."""
        if self._open is None:
            raise Closed("The engine is not open: use `async with Engine(...) as engine`.")
        return self._open

    @property
    def instance(self) -> Instance:
        """The running instance."""
        return self.operations.instance

    @property
    def tracer(self) -> Tracer | None:
        """What makes spans, if it is open and traced."""
        return self._open.instance.tracer if self._open is not None else None

    @property
    def executions(self) -> Executions:
        """Starts executions, and waits for them."""
        return self.operations.executions

    @property
    def mover(self) -> Mover:
        """Moves executions to other versions of their workflows."""
        return self.operations.mover

    @property
    def control(self) -> Control:
        """Pauses, resumes, cancels, retries and rewinds executions."""
        return self.operations.control

    @property
    def answers(self) -> Answers:
        """Takes answers to pause points."""
        return self.operations.answers

    @property
    def signals(self) -> Signals:
        """Takes signals from other systems."""
        return self.operations.signals

    @property
    def callbacks(self) -> Callbacks:
        """Takes replies to callback nodes."""
        return self.operations.callbacks

    @property
    def forks(self) -> Forks:
        """Forks executions."""
        return self.operations.forks

    @property
    def workflows(self) -> Workflows:
        """Registers workflows."""
        return self.operations.workflows

    @property
    def workflow_status(self) -> WorkflowStatuses:
        """Reads and changes the status of whole workflows."""
        return self.operations.workflow_status

    @property
    def triggers(self) -> Triggers:
        """Operates triggers."""
        return self.operations.triggers

    @property
    def trigger_resources(self) -> TriggerResources:
        """Saves triggers that belong to no definition."""
        return self.operations.trigger_resources

    @property
    def deliveries(self) -> Deliveries:
        """Operates deliveries and destinations."""
        return self.operations.deliveries

    @property
    def people(self) -> PeopleTable:
        """Keeps the table of the directory."""
        return self.operations.people

    @property
    def queries(self) -> Queries:
        """Queries about single executions."""
        return self.operations.queries

    @property
    def lists(self) -> ExecutionLists:
        """Lists of executions."""
        return self.operations.lists

    @property
    def points(self) -> PointQueries:
        """Queries about pause points."""
        return self.operations.points
