"""The pause points that wait for a decision."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Approvals", "The pause points that wait for a decision.", prefix="/api/v1")
