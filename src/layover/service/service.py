"""All families of operations as one user does them: the backend of an embedded engine, and of every route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.service.access import AccessService
from layover.service.batches import BatchService
from layover.service.deliveries import DeliveryService
from layover.service.destinations import DestinationService
from layover.service.executions import ExecutionService
from layover.service.monitoring import MonitoringService
from layover.service.people import PeopleService
from layover.service.points import PointService
from layover.service.signals import SignalService
from layover.service.triggers import TriggerService
from layover.service.user_settings import UserSettingsService
from layover.service.views import ViewService
from layover.service.workflows import WorkflowService

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.service.actor import Actor


class UserService:
    """What one user can do on a runtime."""

    __slots__ = ("_forget_key", "_forget_session", "actor")

    def __init__(
        self,
        actor: Actor,
        forget_key: Callable[[str, bool], None] | None = None,
        forget_session: Callable[[str], None] | None = None,
    ) -> None:
        self.actor = actor
        self._forget_key = forget_key
        self._forget_session = forget_session

    # Each is made when it is asked for: a request needs one or two of them, and they keep nothing.

    @property
    def executions(self) -> ExecutionService:
        """Executions."""
        return ExecutionService(self.actor)

    @property
    def points(self) -> PointService:
        """Pause points."""
        return PointService(self.actor)

    @property
    def workflows(self) -> WorkflowService:
        """Workflows and their versions."""
        return WorkflowService(self.actor)

    @property
    def signals(self) -> SignalService:
        """Signals and callbacks."""
        return SignalService(self.actor)

    @property
    def triggers(self) -> TriggerService:
        """Triggers."""
        return TriggerService(self.actor)

    @property
    def destinations(self) -> DestinationService:
        """Destinations of notifications."""
        return DestinationService(self.actor)

    @property
    def deliveries(self) -> DeliveryService:
        """Deliveries of notifications."""
        return DeliveryService(self.actor)

    @property
    def batches(self) -> BatchService:
        """Batches of operations."""
        return BatchService(self.actor)

    @property
    def views(self) -> ViewService:
        """Saved views."""
        return ViewService(self.actor)

    @property
    def user_settings(self) -> UserSettingsService:
        """Settings of the user."""
        return UserSettingsService(self.actor)

    @property
    def people(self) -> PeopleService:
        """The directory of people."""
        return PeopleService(self.actor)

    @property
    def monitoring(self) -> MonitoringService:
        """The whole database."""
        return MonitoringService(self.actor)

    @property
    def access(self) -> AccessService:
        """Keys, sessions and the audit log."""
        return AccessService(self.actor, self._forget_key, self._forget_session)
