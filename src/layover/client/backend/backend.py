"""All families of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.backend.access import HttpAccess
from layover.client.backend.batches import HttpBatches
from layover.client.backend.deliveries import HttpDeliveries, HttpDestinations, HttpPeople
from layover.client.backend.executions import HttpExecutions
from layover.client.backend.monitoring import HttpMonitoring
from layover.client.backend.points import HttpPoints
from layover.client.backend.signals import HttpSignals
from layover.client.backend.triggers import HttpTriggers
from layover.client.backend.user_settings import HttpUserSettings
from layover.client.backend.views import HttpViews
from layover.client.backend.workflows import HttpWorkflows

if TYPE_CHECKING:
    from layover.client.transport import Transport


class HttpBackend:
    """A server as the backend of the door."""

    __slots__ = (
        "access",
        "batches",
        "deliveries",
        "destinations",
        "executions",
        "monitoring",
        "people",
        "points",
        "signals",
        "triggers",
        "user_settings",
        "views",
        "workflows",
    )

    def __init__(self, transport: Transport) -> None:
        self.executions = HttpExecutions(transport)
        self.points = HttpPoints(transport)
        self.workflows = HttpWorkflows(transport)
        self.signals = HttpSignals(transport)
        self.triggers = HttpTriggers(transport)
        self.destinations = HttpDestinations(transport)
        self.deliveries = HttpDeliveries(transport)
        self.batches = HttpBatches(transport)
        self.people = HttpPeople(transport)
        self.monitoring = HttpMonitoring(transport)
        self.views = HttpViews(transport)
        self.user_settings = HttpUserSettings(transport)
        self.access = HttpAccess(transport)
