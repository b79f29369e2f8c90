"""Paused executions of a workflow, and resuming them by context id."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Resume queue", "Paused executions of a workflow, and resuming them by context id.", prefix="/api")
