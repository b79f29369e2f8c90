"""What operators do to executions."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Control", "What operators do to executions.", prefix="/api/v1")
