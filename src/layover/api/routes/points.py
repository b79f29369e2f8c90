"""What executions wait for."""

from __future__ import annotations

from layover.api.routing import Routes

routes = Routes("Pause points", "What executions wait for.", prefix="/api/v1")
