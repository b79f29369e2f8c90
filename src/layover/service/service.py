"""All families of operations as one user does them: the backend of an embedded engine, and of every route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.service.access import AccessService
from layover.service.deliveries import DeliveryService
from layover.service.destinations import DestinationService
from layover.service.executions import ExecutionService
from layover.service.people import PeopleService
from layover.service.points import PointService
from layover.service.signals import SignalService
from layover.service.triggers import TriggerService
from layover.service.workflows import WorkflowService

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.service.actor import Actor


class UserService:
    """What one user can do on a runtime."""

    __slots__ = (
        "access",
        "actor",
        "deliveries",
        "destinations",
        "executions",
        "people",
        "points",
        "signals",
        "triggers",
        "workflows",
    )

    def __init__(self, actor: Actor, forget_key: Callable[[str, bool], None] | None = None) -> None:
        self.actor = actor
        self.executions = ExecutionService(actor)
        self.points = PointService(actor)
        self.workflows = WorkflowService(actor)
        self.signals = SignalService(actor)
        self.triggers = TriggerService(actor)
        self.destinations = DestinationService(actor)
        self.deliveries = DeliveryService(actor)
        self.people = PeopleService(actor)
        self.access = AccessService(actor, forget_key)
